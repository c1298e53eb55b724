#include "derive/sealed_bytes.hpp"

#include <fmt/core.h>

namespace quarry::derive {

namespace {
Unexpected not_sealed_bytes(const registry::FileRecord& file, const std::string& why) {
  return fail(ErrorKind::corrupt, "O105", fmt::format("{} {}", file.key, why),
              "restore the file from a copy; `quarry set verify` lists all that is wrong");
}
} // namespace

Result<Package> sealed_bytes(store::ObjectReader& store, const registry::FileRecord& file) {
  TRY(auto info, store.head(file.key));
  if (!info) return not_sealed_bytes(file, "is missing");
  TRY(auto bytes, store.open(file.key));
  TRY(auto digest, content::sha256_of(bytes), "while reading " + file.key);
  if (digest == file.sha256) return Package{file.filename, std::move(bytes)};
  return not_sealed_bytes(file, fmt::format("has sha256 {}, sealed was {}", digest.hex(), file.sha256.hex()));
}

} // namespace quarry::derive
