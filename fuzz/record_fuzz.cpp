// RECORD: what was read and written again has the same rows.
#include "dist/metadata.hpp"
#include "fuzzing.hpp"

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rows = dist::parse_record(fuzzing::as_text(data, size));
  if (!rows) return 0;
  auto again = dist::parse_record(dist::render_record(*rows));
  fuzzing::require(again && again->size() == rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto &a = (*rows)[i], &b = (*again)[i];
    fuzzing::require(a.path == b.path && a.sha256 == b.sha256 && a.algorithm == b.algorithm && a.size == b.size);
  }
  return 0;
}
