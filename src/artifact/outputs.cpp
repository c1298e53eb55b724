#include "artifact/outputs.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/require_directory.hpp"
#include "tar/tar.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

namespace {

using Kind = OutputFile::Kind;
constexpr std::string_view k_profile = "therock-build-prof";
constexpr std::uint64_t k_ninja_bytes_max = 1u << 30; // some MB each; the archive is made in memory, 5 times smaller
constexpr unsigned k_depth_max = 64; // of the build tree: deeper is a mistake, or a file system that lies
constexpr std::string_view k_ninja_log = ".ninja_log", k_ninja_archive = "ninja_logs.tar.gz";

// Where today's builds leave the list of their sources: in the build tree, and in the artifact that carries it.
constexpr std::string_view k_manifest = "therock_manifest.json";
constexpr std::string_view k_manifest_places[] = {"", "base/aux-overlay/build",
                                                  "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock"};

/// Logs have whatever names tools give them, such as `link step.log`; what a key cannot hold becomes `_`.
std::string safe_name(std::string name) {
  bool starts = true;
  for (auto& c : name) {
    bool valid(run::check_component(std::string(starts ? "" : "x") + c, "file name"));
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
NamedLogs named(const std::vector<sys::TreeEntry>& entries, bool ninja_logs) {
  NamedLogs logs;
  for (const auto& entry : entries) {
    bool ours = entry.path == "index.html" || (ninja_logs && entry.path == k_ninja_archive);
    if (entry.type != sys::EntryType::file || ours) continue;
    logs.emplace_back(entry.path, entry);
    auto name = path::basename(entry.path);
    bool there = std::any_of(entries.begin(), entries.end(), [&](const auto& other) { return other.path == name; });
    if (path::dirname(entry.path) == k_profile && name.starts_with("comp-summary.") && !there)
      logs.emplace_back(name, entry);
  }
  return logs;
}

class Collection {
public:
  explicit Collection(const OutputsRequest& request) : request_(request) {}

  Result<Outputs> run() {
    TRY_DO(sys::require_directory(request_.directory,
                                  "name the build's directory; a build that never began has left nothing to upload"));
    if (request_.artifacts) TRY_DO(archives());
    if (request_.artifacts) TRY_DO(tarballs());
    TRY_DO(manifests());
    TRY_DO(logs());
    TRY_DO(digests());
    return std::move(out_);
  }

private:
  std::string at(std::string_view name) const { return path::join(request_.directory, name); }
  void warn(std::string code, std::string place, std::string message, std::string fix = "") {
    out_.findings.push_back({std::move(code), Severity::warning, std::move(place), std::move(message), std::move(fix)});
  }

  Result<void> archives() {
    auto directory = sys::is_directory(at("artifacts")) ? at("artifacts") : request_.directory;
    TRY(auto source, source_of_path(directory));
    std::size_t before = out_.files.size();
    for (const auto& item : source.items)
      if (!item.exploded && !item.name.whole_sdk()) TRY_DO(archive(item, Kind::archive, directory));
    if (out_.files.size() > before) return {};
    if (!request_.build_failed)
      return fail(ErrorKind::not_found, "A040", fmt::format("{} holds no artifact archives", directory),
                  "pack them with `quarry artifact pack`; after a failed build use `--build-failed`");
    warn("A042", directory, "holds no artifact archives");
    return {};
  }

  Result<void> tarballs() {
    if (!sys::is_directory(at("tarballs"))) return {};
    TRY(auto source, source_of_path(at("tarballs")));
    for (const auto& item : source.items)
      if (item.name.whole_sdk()) TRY_DO(archive(item, Kind::tarball, at("tarballs")));
    return {};
  }

  /// In a failed build, only archives with a checksum file were finished.
  Result<void> archive(const SourceItem& item, Kind kind, const std::string& directory) {
    auto place = path::join(directory, item.file);
    if (item.defect && !request_.build_failed) return fail(*item.defect);
    if (item.defect || (request_.build_failed && !item.checksum)) {
      warn("A043", place, item.defect ? item.defect->message : "has no checksum file, so it may not be finished",
           "it is left out");
      return {};
    }
    OutputFile file{kind, item.file, "", {}, item.checksum};
    TRY(file.key, kind == Kind::archive ? request_.layout.artifact(item.file) : request_.layout.tarball(item.file));
    TRY(file.content, item.open());
    out_.files.push_back(std::move(file));
    return {};
  }

  Result<void> add(Kind kind, const std::string& name, content::Rope content) {
    auto root = request_.layout.prefix() + (kind == Kind::log ? "logs/" : "manifests/");
    if (!request_.group.empty()) root += request_.group + "/";
    auto safe = safe_name(name);
    auto taken = [&] {
      return std::any_of(out_.files.begin(), out_.files.end(), [&](const auto& f) { return f.key == root + safe; });
    };
    while (taken()) safe += "_"; // `a b.log` and `a_b.log`: both go up
    for (const auto& part : text::split(safe, '/'))
      if (auto valid = run::check_component(part, "file name"); !valid) {
        warn("A043", name, valid.error().message, "it is left out: rename it");
        return {};
      }
    if (safe != name) warn("A043", name, fmt::format("is not a name in a store: it is uploaded as {}", safe));
    out_.files.push_back({kind, safe, root + safe, std::move(content)});
    return {};
  }

  Result<void> manifests() {
    bool any = false;
    if (sys::is_directory(at("manifests"))) {
      TRY(auto entries, sys::list_directory(at("manifests")));
      for (const auto& entry : entries)
        if (entry.type == sys::EntryType::file && entry.path.ends_with(".json")) {
          any = true;
          TRY_DO(add(Kind::manifest, entry.path,
                     content::Rope::file(path::join(at("manifests"), entry.path), entry.size)));
        }
    }
    for (auto place : k_manifest_places) {
      auto path = path::join(place.empty() ? request_.directory : at(place), k_manifest);
      bool there = std::any_of(out_.files.begin(), out_.files.end(),
                               [](const auto& f) { return f.kind == Kind::manifest && f.name == k_manifest; });
      if (there || !sys::exists(path)) continue;
      any = true;
      TRY(auto content, content::Rope::file(path));
      TRY_DO(add(Kind::manifest, std::string(k_manifest), std::move(content)));
    }
    if (!any) warn("A042", request_.directory, fmt::format("holds no {}", k_manifest));
    return {};
  }

  Result<void> logs() {
    std::size_t before = out_.files.size();
    if (sys::is_directory(at("logs"))) {
      TRY(auto entries, sys::list_tree(at("logs")));
      for (const auto& [name, entry] : named(entries, request_.ninja_logs))
        TRY_DO(add(Kind::log, name, so_far(path::join(at("logs"), entry.path), entry.size)));
    }
    if (request_.ninja_logs) TRY_DO(ninja_logs());
    if (out_.files.size() == before) warn("A042", at("logs"), "holds no logs");
    return {};
  }

  Result<void> find_ninja_logs(const std::string& below, unsigned depth, std::vector<sys::TreeEntry>& found) {
    TRY_DO(sys::check_interrupted());
    TRY(auto entries, sys::list_directory(below.empty() ? request_.directory : at(below)));
    for (auto& entry : entries) {
      auto name = below.empty() ? entry.path : below + "/" + entry.path;
      if (entry.type == sys::EntryType::directory && depth < k_depth_max)
        TRY_DO(find_ninja_logs(name, depth + 1, found));
      if (entry.type != sys::EntryType::file || entry.path != k_ninja_log) continue;
      entry.path = std::move(name);
      found.push_back(std::move(entry));
    }
    return {};
  }

  Result<void> ninja_logs() {
    std::vector<sys::TreeEntry> found;
    TRY_DO(find_ninja_logs("", 0, found));
    std::uint64_t bytes = 0;
    for (const auto& entry : found) bytes += entry.size;
    if (bytes > k_ninja_bytes_max)
      return fail(ErrorKind::resource_exhausted, "A044", "the ninja logs hold more than 1 GiB", "omit `--ninja-logs`");
    if (found.empty()) return {};
    std::string packed;
    auto gzip =
        codec::Compressor::create(codec::Compression::gzip, 1, [&](std::span<const std::byte> b) -> Result<void> {
          packed.append(reinterpret_cast<const char*>(b.data()), b.size());
          return {};
        });
    tar::Writer tar([&](std::span<const std::byte> b) { return gzip->write(b); });
    for (const auto& entry : found)
      TRY_DO(tar.file(entry.path, so_far(at(entry.path), entry.size), false), "while packing " + entry.path);
    TRY_DO(tar.finish());
    TRY_DO(gzip->finish());
    return add(Kind::log, std::string(k_ninja_archive), content::Rope::literal(std::move(packed)));
  }

  Result<void> digests() {
    return parallel_for(out_.files.size(), request_.jobs, [&](std::size_t i) -> Result<void> {
      auto& file = out_.files[i];
      if (file.sha256 || (file.kind != Kind::archive && file.kind != Kind::tarball)) return {};
      TRY(file.sha256, content::sha256_of(file.content), "while reading " + file.name);
      return {};
    });
  }

  const OutputsRequest& request_;
  Outputs out_;
};

} // namespace

Result<Outputs> collect_outputs(const OutputsRequest& request) {
  if (!request.group.empty()) TRY_DO(run::check_group(request.group));
  return Collection(request).run();
}

} // namespace quarry::artifact
