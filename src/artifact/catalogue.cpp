#include "artifact/catalogue.hpp"

#include "artifact/manifest.hpp"
#include "artifact/source.hpp"
#include "base/codes.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/require_directory.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

Result<std::vector<std::string>> read_manifest(const std::string& artifact_directory) {
  auto path = path::join(artifact_directory, k_manifest_name);
  auto text = sys::read_file(path, k_manifest_bytes_max);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::corrupt, "A003", fmt::format("{} has no {}", artifact_directory, k_manifest_name),
                "an artifact says in this file which directories it holds; build or fetch it again");
  if (!text) return fail(std::move(text).error());
  return parse_manifest(*text, path);
}

Result<Catalogue> open_catalogue(const std::string& directory, Twins twins) {
  TRY_DO(sys::require_directory(directory, "name the directory that `quarry artifact fetch --output-dir DIR` made"));
  TRY(auto source, source_of_path(directory, twins));
  Catalogue catalogue;
  catalogue.directory = directory;
  catalogue.findings = std::move(source.findings);
  for (auto& finding : catalogue.findings) // packages would silently lack what it should hold
    if (finding.is(codes::base_directory_missing)) finding.severity = Severity::error;
  for (auto& item : source.items) {
    auto path = path::join(directory, item.file);
    if (item.name.whole_sdk()) {
      catalogue.findings.push_back({"A028", Severity::warning, path, "a whole SDK is not an artifact; it is left alone",
                                    "packages are made from artifacts: fetch those"});
    } else if (item.defect) {
      catalogue.findings.push_back({item.defect->code, Severity::error, path, item.defect->message, item.defect->hint});
    } else if (item.exploded) {
      catalogue.artifacts.push_back({std::move(item.name), path, std::move(item.bases)});
    } else {
      catalogue.archives.push_back({std::move(item.name), item.compression, item.file, path, item.size, item.checksum});
    }
  }
  return catalogue;
}

} // namespace quarry::artifact
