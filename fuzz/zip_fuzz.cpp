// An archive without findings can be read to its last byte or fails with a coded error, within its declared sizes.
#include "fuzzing.hpp"
#include "zip/reader.hpp"

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Findings findings;
  zip::Limits limits;
  limits.declared_bytes_max = 64u << 20;
  auto zip = zip::Reader::open(fuzzing::as_rope(data, size), "x.whl", findings, limits);
  if (!zip || has_errors(findings)) return 0;
  for (const auto& member : zip->members()) {
    fuzzing::require(zip->find(member.name) == &member);
    if (member.size > (1u << 20)) continue;
    std::uint64_t read = 0;
    auto done = zip->read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
      read += chunk.size();
      fuzzing::require(read <= member.size);
      return {};
    });
    fuzzing::require(!done || read == member.size);
  }
  return 0;
}
