#include "artifact/source.hpp"

#include "artifact/defects.hpp"
#include "artifact/manifest.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

namespace {
class DirectoryScan {
public:
  DirectoryScan(Source& source, std::string directory) : source_(source), directory_(std::move(directory)) {}
  Result<void> run() {
    TRY(auto entries, sys::list_directory(directory_));
    for (const auto& entry : entries) {
      if (entry.path.starts_with('.')) continue; // a fetch keeps its state there
      if (sys::is_directory(path::join(directory_, entry.path)))
        exploded(entry.path);
      else
        TRY_DO(archive(entry.path, false));
    }
    refuse_twins(source_, directory_);
    return {};
  }
  /// `asked`: the user named this file, so it must be an archive.
  Result<void> archive(const std::string& file, bool asked) {
    auto parsed = name_of(file, asked);
    auto path = path::join(directory_, file);
    if (asked && !parsed)
      return fail(ErrorKind::invalid_argument, "A001", fmt::format("{} is no artifact archive", path),
                  "artifacts are called {name}_{component}_{target}.tar.zst or .tar.xz, whole SDKs end in .tar.gz");
    if (!parsed) return {};
    if (!*parsed) {
      if (asked) return fail((*parsed).error());
      source_.findings.push_back(no_artifact(parsed->error(), path));
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
  static std::optional<Result<ArchiveName>> name_of(const std::string& file, bool asked) {
    if (auto tarball = parse_tarball_name(file)) return Result<ArchiveName>(std::move(*tarball));
    auto gzip = archive::suffix_of(archive::Compression::gzip);
    if (asked && file.size() > gzip.size() && file.ends_with(gzip)) // whatever it is called: the user says what it is
      return Result<ArchiveName>(
          ArchiveName{Name{file.substr(0, file.size() - gzip.size()), "", ""}, archive::Compression::gzip});
    return parse_archive_name(file);
  }
  static void read_sidecar(SourceItem& item, const std::string& path) {
    auto text = sys::read_file(path + std::string(k_checksum_suffix), k_checksum_bytes_max);
    if (!text && text.error().kind == ErrorKind::not_found) return;
    auto digest = text ? parse_checksum(*text, item.file) : Result<Sha256>(fail(text.error()));
    if (digest)
      item.checksum = *digest;
    else
      item.defect = digest.error();
  }
  void exploded(const std::string& base_name) {
    auto path = path::join(directory_, base_name);
    auto name = parse_name(base_name);
    if (!name) {
      if (name.error().code == "A002" || sys::exists(path::join(path, k_manifest_name)))
        source_.findings.push_back(no_artifact(name.error(), path));
      return;
    }
    SourceItem item;
    item.name = std::move(*name);
    item.file = base_name;
    item.exploded = true;
    item.directory = path;
    auto bases = read_manifest(path);
    if (bases)
      item.bases = std::move(*bases);
    else
      item.defect = bases.error();
    source_.items.push_back(std::move(item));
  }
  Source& source_;
  std::string directory_;
};
} // namespace

Result<Source> source_of_path(const std::string& path) {
  Source source;
  source.description = path;
  if (sys::is_directory(path)) {
    TRY_DO(DirectoryScan(source, path).run());
    return source;
  }
  if (!sys::exists(path)) return fail(ErrorKind::not_found, "D001", fmt::format("{} does not exist", path));
  TRY_DO(DirectoryScan(source, path::dirname(path)).archive(std::string(path::basename(path)), true));
  return source;
}

} // namespace quarry::artifact
