// METADATA and WHEEL: what was read and written again reads the same.
#include "dist/metadata.hpp"
#include "fuzzing.hpp"
#include <string>
#include <vector>

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = fuzzing::as_text(data, size);
  if (auto metadata = dist::Metadata::parse(text)) {
    std::erase(metadata->requires_dist, ""); // a field without a value says nothing and is not written
    auto again = dist::Metadata::parse(metadata->render());
    fuzzing::require(again && again->name == metadata->name && again->version == metadata->version &&
                     again->requires_dist == metadata->requires_dist);
    fuzzing::require(again->render() == metadata->render());
  }
  if (auto info = dist::WheelInfo::parse(text)) {
    auto again = dist::WheelInfo::parse(info->render());
    fuzzing::require(again && again->tags == info->tags && again->root_is_purelib == info->root_is_purelib);
  }
  return 0;
}
