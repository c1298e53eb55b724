#include "artifact/source.hpp"

#include "artifact/checksum.hpp"
#include "artifact/defects.hpp"
#include "artifact/manifest.hpp"
#include "base/codes.hpp"
#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::artifact {

namespace {
std::uint64_t bytes_of(const std::string& file) {
  auto opened = sys::File::open_read(file);
  auto size = opened ? opened->size() : Result<std::uint64_t>(0);
  return size.value_or(0);
}

struct Held {
  std::uint64_t bytes = 0; ///< what can be read of it
  bool empty = false;      ///< certainly: nothing in it but directories
};
Held held_below(const std::string& directory) {
  auto entries = sys::list_tree(directory);
  if (!entries) return {};
  Held held{0, true};
  for (const auto& entry : *entries) {
    if (entry.type == sys::EntryType::file) held.bytes += entry.size;
    if (entry.type != sys::EntryType::directory) held.empty = false;
  }
  return held;
}

/// What a run has below its place beside its artifacts.
bool is_part_of_run(std::string_view name) {
  constexpr std::array<std::string_view, 6> parts{"logs", "manifests", "merged", "packages", "python", "tarballs"};
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

bool leads_nowhere(const sys::TreeEntry& entry, const std::string& path) {
  return entry.type == sys::EntryType::symlink && !sys::exists(path);
}

Error broken_link(const sys::TreeEntry& entry) {
  return Error::of(ErrorKind::corrupt, "A053",
                   fmt::format("{} is a link to {}, which cannot be reached", entry.path, entry.link))
      .with_hint("mount or restore what it leads to, or remove the link");
}

std::size_t line_of(const std::string& manifest, const std::string& base) {
  auto text = sys::read_file(manifest, k_manifest_bytes_max);
  auto lines = text ? text::lines(*text) : std::vector<std::string>();
  auto at = std::find_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line == base || line == base + "/"; });
  return static_cast<std::size_t>(at - lines.begin()) + 1;
}

void read_sidecar(SourceItem& item, const std::string& path) {
  auto text = sys::read_file(path + std::string(k_checksum_suffix), k_checksum_bytes_max);
  if (!text && text.error().kind == ErrorKind::not_found) return;
  auto digest = text ? parse_checksum({*text, item.file}) : Result<Sha256>(fail(text.error()));
  if (digest)
    item.checksum = *digest;
  else
    item.defect = digest.error();
}

class DirectoryScan {
public:
  DirectoryScan(Source& source, std::string directory) : source_(source), directory_(std::move(directory)) {}
  Result<void> run(Twins twins) {
    TRY(auto entries, sys::list_directory(directory_));
    for (const auto& entry : entries) {
      if (entry.path.starts_with('.')) continue; // a fetch keeps its state there
      auto path = path::join(directory_, entry.path);
      if (leads_nowhere(entry, path))
        broken(entry, path);
      else if (sys::is_directory(path))
        exploded(entry.path, twins);
      else
        TRY_DO(archive(entry.path, false));
    }
    announced(entries);
    if (twins != Twins::refused) keep_one(twins);
    refuse_twins(source_, directory_);
    return {};
  }
  /// `asked`: the user named this file, so it must be an archive.
  Result<void> archive(const std::string& file, bool asked) {
    auto parsed = name_of(file, asked);
    auto path = path::join(directory_, file);
    if (asked && !parsed)
      return fail(ErrorKind::invalid_argument, "A001", fmt::format("{} is not an artifact archive", path),
                  "artifacts are called {name}_{component}_{target}.tar.zst or .tar.xz, whole SDKs end in .tar.gz");
    if (!parsed) {
      if (auto unread = unread_form(file)) source_.findings.push_back(no_artifact(*unread, path, bytes_of(path)));
      return {};
    }
    if (!*parsed) {
      if (asked) return fail((*parsed).error());
      source_.findings.push_back(no_artifact(parsed->error(), path, bytes_of(path)));
      return {};
    }
    SourceItem item;
    item.name = (*parsed)->name;
    item.file = file;
    item.compression = (*parsed)->compression;
    item.open = [path] { return content::Rope::file(path); };
    TRY(auto opened, sys::File::open_read(path));
    TRY(item.size, opened.size());
    read_sidecar(item, path);
    source_.items.push_back(std::move(item));
    return {};
  }

private:
  /// Drops the directory or the archive where both are there once. What else is twice stays, to be refused.
  void keep_one(Twins twins) {
    std::map<Name, std::size_t> exploded, packed;
    for (const auto& item : source_.items)
      if (!item.absent) ++(item.exploded ? exploded : packed)[item.name];
    bool drops_exploded = twins == Twins::archive_made;
    std::erase_if(source_.items, [&](const SourceItem& item) {
      if (item.exploded != drops_exploded) return false;
      return exploded.contains(item.name) && packed.contains(item.name) && packed[item.name] == 1;
    });
  }
  /// A checksum file whose archive is gone. One beside the exploded artifact has nothing to miss.
  void announced(const std::vector<sys::TreeEntry>& entries) {
    std::set<Name> present;
    for (const auto& item : source_.items) present.insert(item.name);
    for (const auto& entry : entries) {
      if (entry.path.starts_with('.') || !entry.path.ends_with(k_checksum_suffix)) continue;
      auto file = entry.path.substr(0, entry.path.size() - k_checksum_suffix.size());
      auto parsed = name_of(file, false);
      if (!parsed || !*parsed || !present.insert((*parsed)->name).second) continue;
      SourceItem item;
      item.name = (*parsed)->name;
      item.file = file;
      item.absent = true;
      item.defect = absent_error(file);
      item.defect->hint = "get it again with `quarry artifact fetch`, or remove its checksum file";
      source_.items.push_back(std::move(item));
    }
  }
  static std::optional<Result<ArchiveName>> name_of(const std::string& file, bool asked) {
    if (auto tarball = parse_tarball_name(file)) return Result<ArchiveName>(std::move(*tarball));
    auto gzip = codec::suffix_of(codec::Compression::gzip);
    if (asked && file.size() > gzip.size() && file.ends_with(gzip)) // whatever it is called: the user says what it is
      return Result<ArchiveName>(
          ArchiveName{Name{file.substr(0, file.size() - gzip.size()), "", ""}, codec::Compression::gzip});
    return parse_archive_name(file);
  }
  /// An artifact that nobody can read; a link of another name is told, too, as nobody knows what it should bring.
  void broken(const sys::TreeEntry& link, const std::string& path) {
    auto archive = name_of(link.path, false);
    auto name = parse_name(link.path);
    if (archive && *archive) name = (*archive)->name;
    if (!name) {
      auto error = broken_link(link);
      source_.findings.push_back({error.code, Severity::warning, path, error.message, error.hint});
      return;
    }
    SourceItem item;
    item.name = std::move(*name);
    item.file = link.path;
    item.exploded = !archive;
    item.directory = path;
    item.defect = broken_link(link);
    source_.items.push_back(std::move(item));
  }
  /// The tree of a whole build may lie around the archives that are taken from it.
  bool stray(const std::string& base_name, Twins twins) const {
    return twins != Twins::archive_made && !is_part_of_run(base_name);
  }
  void exploded(const std::string& base_name, Twins twins) {
    auto path = path::join(directory_, base_name);
    auto name = parse_name(base_name);
    if (!name) {
      bool like_one = name.error().is(codes::unknown_component) || sys::exists(path::join(path, k_manifest_name));
      if (!like_one && !stray(base_name, twins)) return;
      auto held = held_below(path);
      if (like_one || !held.empty) source_.findings.push_back(no_artifact(name.error(), path, held.bytes));
      return;
    }
    SourceItem item;
    item.name = std::move(*name);
    item.file = base_name;
    item.exploded = true;
    item.directory = path;
    auto bases = read_manifest(path);
    if (bases) {
      item.bases = std::move(*bases);
      report_missing_bases(item);
    } else
      item.defect = bases.error();
    source_.items.push_back(std::move(item));
  }
  void report_missing_bases(const SourceItem& item) {
    for (const auto& base : item.bases) {
      if (sys::is_directory(path::join(item.directory, base))) continue;
      auto manifest = path::join(item.directory, k_manifest_name);
      source_.findings.push_back(
          {"A005", Severity::warning, fmt::format("{}:{}", manifest, line_of(manifest, base)),
           fmt::format("the manifest names {}, which is missing", base),
           "build or fetch the artifact again; or, if it should hold nothing there, remove the line"});
    }
  }
  Source& source_;
  std::string directory_;
};
} // namespace

Result<Source> source_of_path(const std::string& path, Twins twins) {
  Source source;
  source.description = path;
  if (sys::is_directory(path)) {
    TRY_DO(DirectoryScan(source, path).run(twins));
    return source;
  }
  if (!sys::exists(path))
    return fail(ErrorKind::not_found, "D001", fmt::format("{} does not exist", path),
                "check the name, or get artifacts with `quarry artifact fetch`");
  TRY_DO(DirectoryScan(source, path::dirname(path)).archive(std::string(path::basename(path)), true));
  return source;
}

} // namespace quarry::artifact
