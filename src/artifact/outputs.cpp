#include "artifact/outputs.hpp"

#include "artifact/log_archive.hpp"
#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/require_directory.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

namespace {

using Kind = OutputFile::Kind;
constexpr std::string_view k_profile = "therock-build-prof";
constexpr unsigned k_depth_max = 64; // of the build tree: deeper is a mistake, or a file system that lies
constexpr std::string_view k_ninja_log = ".ninja_log", k_ninja_archive = "ninja_logs.tar.gz";
constexpr std::string_view k_ccache = "ccache/", k_ccache_archive = "ccache_logs.tar.zst";

// Where today's builds leave the list of their sources: in the build tree, and in the artifact that carries it.
constexpr std::string_view k_manifest = "therock_manifest.json";
constexpr std::string_view k_manifest_places[] = {"", "base/aux-overlay/build",
                                                  "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock"};

/// Logs have whatever names tools give them, such as `link step.log`; what a key cannot hold becomes `_`.
std::string safe_name(std::string name) {
  bool starts = true;
  for (auto& c : name) {
    bool valid(run::check_component({std::string(starts ? "" : "x") + c, "file name"}));
    starts = c == '/';
    if (!starts && !valid) c = '_';
  }
  return name;
}

/// The first bytes of a log, to which a program may still be writing: what was listed is uploaded, and more is not an
/// error as it is for other files.
class LogSoFar final : public content::Source {
public:
  LogSoFar(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    TRY(auto file, sys::File::open_read(path_));
    TRY(auto bytes, file.read_at(offset, into), "while reading " + path_);
    if (bytes == into.size()) return {};
    return fail(ErrorKind::corrupt, "D008", fmt::format("{} became shorter while it was read", path_),
                "something else writes to it: run the command again when it is done");
  }

private:
  std::string path_;
  std::uint64_t size_;
};

content::Rope so_far(const std::string& path, std::uint64_t size) {
  return content::Rope::of(std::make_shared<LogSoFar>(path, size));
}

using NamedLogs = std::vector<std::pair<std::string, sys::TreeEntry>>;

/// The files below the logs that are not made by us, each with its name in the store. Summaries of the build's profile
/// are at the top as well, where links of today lead.
NamedLogs named(const std::vector<sys::TreeEntry>& entries, const OutputsRequest& request) {
  NamedLogs logs;
  for (const auto& entry : entries) {
    bool ours = entry.path == "index.html" || (request.ninja_logs && entry.path == k_ninja_archive) ||
                (request.ccache_logs && (entry.path == k_ccache_archive || entry.path.starts_with(k_ccache)));
    if (entry.type != sys::EntryType::file || ours) continue;
    logs.emplace_back(entry.path, entry);
    auto name = path::basename(entry.path);
    bool there = std::any_of(entries.begin(), entries.end(), [&](const auto& other) { return other.path == name; });
    if (path::dirname(entry.path) == k_profile && name.starts_with("comp-summary.") && !there)
      logs.emplace_back(name, entry);
  }
  return logs;
}

/// A place in the build tree.
std::string place_in(const OutputsRequest& request, std::string_view name) {
  return path::join(request.directory, name);
}

void warn(Outputs& out, std::string code, std::string place, std::string message, std::string fix = "") {
  out.findings.push_back({std::move(code), Severity::warning, std::move(place), std::move(message), std::move(fix)});
}

/// In a failed build, only archives with a checksum file were finished.
Result<void> add_archive(const OutputsRequest& request, Outputs& out, const SourceItem& item, Kind kind,
                         const std::string& directory) {
  auto place = path::join(directory, item.file);
  if (item.defect && !request.build_failed) return fail(*item.defect);
  if (item.defect || (request.build_failed && !item.checksum)) {
    warn(out, "A043", place, item.defect ? item.defect->message : "has no checksum file, so it may not be finished",
         "it is left out");
    return {};
  }
  OutputFile file{kind, item.file, "", {}, item.checksum};
  TRY(file.key, kind == Kind::archive ? request.layout.artifact(item.file) : request.layout.tarball(item.file));
  TRY(file.content, item.open());
  out.files.push_back(std::move(file));
  return {};
}

Result<void> add_tarballs(const OutputsRequest& request, Outputs& out) {
  if (!sys::is_directory(place_in(request, "tarballs"))) return {};
  TRY(auto source, source_of_path(place_in(request, "tarballs")));
  for (const auto& item : source.items)
    if (item.name.whole_sdk()) TRY_DO(add_archive(request, out, item, Kind::tarball, place_in(request, "tarballs")));
  return {};
}

/// Archives, then tarballs. A job that only makes tarballs of a run's artifacts has no archives.
Result<void> add_artifacts(const OutputsRequest& request, Outputs& out) {
  auto directory =
      sys::is_directory(place_in(request, "artifacts")) ? place_in(request, "artifacts") : request.directory;
  TRY(auto source, source_of_path(directory, Twins::archive_made));
  for (const auto& item : source.items)
    if (!item.exploded && !item.name.whole_sdk()) TRY_DO(add_archive(request, out, item, Kind::archive, directory));
  auto archives = out.files.size();
  TRY_DO(add_tarballs(request, out));
  if (archives != 0) return {};
  if (out.files.empty() && !request.build_failed)
    return fail(
        ErrorKind::not_found, "A040",
        fmt::format("{} holds no artifact archives, and {} no tarballs", directory, place_in(request, "tarballs")),
        "pack them with `quarry artifact pack`; after a failed build use `--build-failed`");
  warn(out, "A042", directory, "holds no artifact archives");
  return {};
}

Result<void> add_file(const OutputsRequest& request, Outputs& out, Kind kind, const std::string& name,
                      content::Rope content) {
  auto root = kind == Kind::log ? logs_directory(request.layout, {request.stage, request.group})
                                : request.layout.prefix() + "manifests/";
  if (kind != Kind::log && request.stage.empty() && !request.group.empty()) root += request.group + "/";
  auto safe = safe_name(name);
  auto taken = [&] {
    return std::any_of(out.files.begin(), out.files.end(), [&](const auto& f) { return f.key == root + safe; });
  };
  while (taken()) safe += "_"; // `a b.log` and `a_b.log`: both go up
  for (const auto& part : text::split(safe, '/'))
    if (auto valid = run::check_component({part, "file name"}); !valid) {
      warn(out, "A043", name, valid.error().message, "it is left out: rename it");
      return {};
    }
  if (safe != name) warn(out, "A043", name, fmt::format("is not a name in a store: it is uploaded as {}", safe));
  out.files.push_back({kind, safe, root + safe, std::move(content)});
  return {};
}

Result<void> add_manifests(const OutputsRequest& request, Outputs& out) {
  bool any = false;
  if (sys::is_directory(place_in(request, "manifests"))) {
    TRY(auto entries, sys::list_directory(place_in(request, "manifests")));
    for (const auto& entry : entries)
      if (entry.type == sys::EntryType::file && entry.path.ends_with(".json")) {
        any = true;
        TRY_DO(add_file(request, out, Kind::manifest, entry.path,
                        content::Rope::file(path::join(place_in(request, "manifests"), entry.path), entry.size)));
      }
  }
  for (auto place : k_manifest_places) {
    auto path = path::join(place.empty() ? request.directory : place_in(request, place), k_manifest);
    bool there = std::any_of(out.files.begin(), out.files.end(),
                             [](const auto& f) { return f.kind == Kind::manifest && f.name == k_manifest; });
    if (there || !sys::exists(path)) continue;
    any = true;
    TRY(auto content, content::Rope::file(path));
    TRY_DO(add_file(request, out, Kind::manifest, std::string(k_manifest), std::move(content)));
  }
  if (!any) warn(out, "A042", request.directory, fmt::format("holds no {}", k_manifest));
  return {};
}

Result<void> find_ninja_logs(const OutputsRequest& request, const std::string& below, unsigned depth,
                             std::vector<sys::TreeEntry>& found) {
  TRY_DO(sys::check_interrupted());
  TRY(auto entries, sys::list_directory(below.empty() ? request.directory : place_in(request, below)));
  for (auto& entry : entries) {
    auto name = below.empty() ? entry.path : below + "/" + entry.path;
    if (entry.type == sys::EntryType::directory && depth < k_depth_max)
      TRY_DO(find_ninja_logs(request, name, depth + 1, found));
    if (entry.type != sys::EntryType::file || entry.path != k_ninja_log) continue;
    entry.path = std::move(name);
    found.push_back(std::move(entry));
  }
  return {};
}

Result<void> add_ninja_logs(const OutputsRequest& request, Outputs& out) {
  std::vector<sys::TreeEntry> found;
  TRY_DO(find_ninja_logs(request, "", 0, found));
  if (found.empty()) return {};
  LogArchive archive{"the ninja logs", "--ninja-logs", codec::Compression::gzip};
  for (const auto& entry : found)
    archive.members.push_back({entry.path, so_far(place_in(request, entry.path), entry.size)});
  TRY(auto packed, pack_logs(archive));
  return add_file(request, out, Kind::log, std::string(k_ninja_archive), content::Rope::literal(std::move(packed)));
}

/// Hundreds of MB that shrink to a tenth.
Result<void> add_ccache_logs(const OutputsRequest& request, Outputs& out, const std::vector<sys::TreeEntry>& entries) {
  LogArchive archive{"the logs of ccache", "--ccache-logs", codec::Compression::zstd};
  for (const auto& entry : entries)
    if (entry.type == sys::EntryType::file && entry.path.starts_with(k_ccache))
      archive.members.push_back(
          {entry.path.substr(k_ccache.size()), so_far(path::join(place_in(request, "logs"), entry.path), entry.size)});
  if (archive.members.empty()) return {};
  TRY(auto packed, pack_logs(archive));
  return add_file(request, out, Kind::log, std::string(k_ccache_archive), content::Rope::literal(std::move(packed)));
}

Result<void> add_logs(const OutputsRequest& request, Outputs& out) {
  std::size_t before = out.files.size();
  if (sys::is_directory(place_in(request, "logs"))) {
    TRY(auto entries, sys::list_tree(place_in(request, "logs")));
    for (const auto& [name, entry] : named(entries, request))
      TRY_DO(add_file(request, out, Kind::log, name,
                      so_far(path::join(place_in(request, "logs"), entry.path), entry.size)));
    if (request.ccache_logs) TRY_DO(add_ccache_logs(request, out, entries));
  }
  if (request.ninja_logs) TRY_DO(add_ninja_logs(request, out));
  if (out.files.size() == before) warn(out, "A042", place_in(request, "logs"), "holds no logs");
  return {};
}

Result<void> add_digests(const OutputsRequest& request, Outputs& out) {
  return parallel_for(out.files.size(), request.jobs, [&](std::size_t i) -> Result<void> {
    auto& file = out.files[i];
    if (file.sha256 || (file.kind != Kind::archive && file.kind != Kind::tarball)) return {};
    TRY(file.sha256, content::sha256_of(file.content), "while reading " + file.name);
    return {};
  });
}

} // namespace

std::string logs_directory(const run::Layout& layout, const LogPlace& place) {
  auto directory = layout.prefix() + "logs/";
  for (const auto& part : {place.stage, place.group})
    if (!part.empty()) directory += part + "/";
  return directory;
}

Result<Outputs> collect_outputs(const OutputsRequest& request) {
  if (!request.group.empty()) TRY_DO(run::check_group(request.group));
  if (!request.stage.empty()) TRY_DO(run::check_component({request.stage, "stage"}));
  TRY_DO(sys::require_directory(request.directory,
                                "name the build's directory; a build that never began has left nothing to upload"));
  Outputs out;
  if (request.artifacts) TRY_DO(add_artifacts(request, out));
  if (request.manifests) TRY_DO(add_manifests(request, out));
  if (request.logs) TRY_DO(add_logs(request, out));
  TRY_DO(add_digests(request, out));
  return out;
}

} // namespace quarry::artifact
