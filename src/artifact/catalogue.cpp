#include "artifact/catalogue.hpp"

#include "artifact/fetch_state.hpp"
#include "artifact/manifest.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::artifact {

namespace {
Finding finding(const Error& error, std::string place, Severity severity = Severity::error) {
  return {error.code, severity, std::move(place), error.message, error.hint};
}

class Scan {
public:
  explicit Scan(Catalogue& catalogue) : catalogue_(catalogue) {}

  Result<void> run() {
    TRY(auto entries, sys::list_directory(catalogue_.directory));
    for (const auto& entry : entries) {
      if (entry.path.starts_with('.')) continue; // a fetch keeps its state there
      auto path = path::join(catalogue_.directory, entry.path);
      if (sys::is_directory(path))
        exploded(entry.path, path);
      else
        TRY_DO(archive(entry, path));
    }
    refuse_twins();
    return {};
  }

private:
  void exploded(const std::string& base_name, const std::string& path) {
    auto name = parse_name(base_name);
    if (!name) {
      // Build trees hold other directories beside the artifacts; one that carries a manifest or has three parts meant
      // to be one.
      bool meant = name.error().code == "A002" || sys::exists(path::join(path, k_manifest_name));
      if (meant)
        catalogue_.findings.push_back(
            finding(name.error(), path, name.error().code == "A002" ? Severity::error : Severity::warning));
      return;
    }
    auto bases = read_manifest(path);
    if (!bases) return catalogue_.findings.push_back(finding(bases.error(), path));
    for (const auto& base : *bases)
      if (!sys::is_directory(path::join(path, base)))
        catalogue_.findings.push_back(
            {"A005", Severity::warning, path, fmt::format("the manifest names {}, which is not there", base),
             "nothing is taken from it; fetch or build the artifact again if it should hold something"});
    catalogue_.artifacts.push_back({std::move(*name), path, std::move(*bases)});
  }

  Result<void> archive(const sys::TreeEntry& entry, const std::string& path) {
    auto parsed = parse_archive_name(entry.path);
    if (!parsed) return {};
    if (!*parsed) {
      bool unknown_component = parsed->error().code == "A002";
      catalogue_.findings.push_back(
          finding(parsed->error(), path, unknown_component ? Severity::error : Severity::warning));
      return {};
    }
    ArchivedArtifact found{(*parsed)->name, (*parsed)->compression, entry.path, path, 0, std::nullopt};
    TRY(auto file, sys::File::open_read(path));
    TRY(found.size, file.size());
    auto checksum = read_checksum(path, entry.path);
    if (!checksum)
      catalogue_.findings.push_back(finding(checksum.error(), path));
    else {
      found.checksum = *checksum;
      catalogue_.archives.push_back(std::move(found));
    }
    return {};
  }

  static Result<std::optional<Sha256>> read_checksum(const std::string& path, const std::string& file) {
    auto text = sys::read_file(path + std::string(k_checksum_suffix), k_checksum_bytes_max);
    if (!text && text.error().kind == ErrorKind::not_found) return std::optional<Sha256>{};
    if (!text) return fail(std::move(text).error());
    TRY(auto digest, parse_checksum(*text, file));
    return std::optional<Sha256>{digest};
  }

  void refuse_twins() {
    std::sort(catalogue_.artifacts.begin(), catalogue_.artifacts.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    std::sort(catalogue_.archives.begin(), catalogue_.archives.end(),
              [](const auto& a, const auto& b) { return std::tie(a.name, a.file) < std::tie(b.name, b.file); });
    std::map<Name, std::string> owner;
    for (const auto& a : catalogue_.artifacts) owner[a.name] = a.directory;
    std::erase_if(catalogue_.archives, [&](const ArchivedArtifact& a) {
      auto [at, first] = owner.try_emplace(a.name, a.path);
      if (first) return false;
      if (!is_source_of(a, at->second))
        catalogue_.findings.push_back({"A006", Severity::error, a.path,
                                       fmt::format("is the same artifact as {}", at->second),
                                       "remove one of them: nobody can say which is meant"});
      return true;
    });
  }

  /// The archive that a fetch left beside its own extraction.
  bool is_source_of(const ArchivedArtifact& archive, const std::string& directory) const {
    auto state = read_fetch_state(catalogue_.directory, archive.name);
    return directory == path::join(catalogue_.directory, archive.name.text()) && state && archive.checksum &&
           state->digest == *archive.checksum;
  }

  Catalogue& catalogue_;
};
} // namespace

Result<std::vector<std::string>> read_manifest(const std::string& artifact_directory) {
  auto path = path::join(artifact_directory, k_manifest_name);
  auto text = sys::read_file(path, k_manifest_bytes_max);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::corrupt, "A003", fmt::format("{} has no {}", artifact_directory, k_manifest_name),
                "an artifact says in this file which directories it holds; build or fetch it again");
  if (!text) return fail(std::move(text).error());
  return parse_manifest(*text, path);
}

Result<Catalogue> open_catalogue(const std::string& directory) {
  Catalogue catalogue;
  catalogue.directory = directory;
  TRY_DO(Scan(catalogue).run());
  return catalogue;
}

} // namespace quarry::artifact
