#include "closure/stored.hpp"

#include "digest/sha256.hpp"
#include "registry/sidecars.hpp"
#include <fmt/core.h>

namespace quarry::closure {

Result<Package> load_package(store::ObjectReader& store, const registry::FileRecord& file) {
  if (!file.metadata_sha256) return package_of_record(file, {});
  auto key = file.key + ".metadata";
  TRY(auto text, store.get(key, dist::k_metadata_bytes_max));
  if (!text || sha256(*text) != *file.metadata_sha256)
    return fail(ErrorKind::corrupt, "P022",
                fmt::format("{} is {} since it was sealed", key, text ? "altered" : "missing"),
                registry::rebuild_hint(key));
  return package_of_record(file, *text);
}

} // namespace quarry::closure
