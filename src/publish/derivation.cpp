#include "publish/derivation.hpp"

#include "registry/derivations.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

namespace {
constexpr std::string_view k_derivation_name = "derivation.json";

std::string derivation_path(const std::string& directory) {
  auto own = path::join(directory, k_derivation_name);
  auto normal = path::normal(directory);
  if (sys::exists(own) || path::basename(normal) != "dist") return own;
  return path::join(path::dirname(normal), k_derivation_name);
}
} // namespace

Result<std::string> read_derivation(const std::string& directory, const registry::SetRecord& set) {
  auto place = derivation_path(directory);
  if (!sys::exists(place)) return std::string();
  TRY(auto text, sys::read_file(place, registry::k_record_bytes_max));
  TRY(auto record, registry::parse_derivation(text), "while reading " + place);
  auto same = [](const registry::DerivedFile& made, const registry::FileRecord& file) {
    return made.filename == file.filename && made.sha256 == file.sha256;
  };
  if (std::equal(record.files.begin(), record.files.end(), set.files.begin(), set.files.end(), same))
    return registry::to_json(record);
  return fail(ErrorKind::invalid_argument, "P095", fmt::format("{} is about other packages than these", place),
              "make the release again with `quarry release finalize` into an empty directory, or remove the record");
}

} // namespace quarry::publish
