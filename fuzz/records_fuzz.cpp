// JSON and the records of a store: canonical bytes are stable.
#include "base/json.hpp"
#include "fuzzing.hpp"
#include "registry/own_digest.hpp"
#include "registry/records.hpp"
#include <nlohmann/json.hpp>

using namespace quarry;

namespace {
template <class Parse> void check(const Parse& parse, std::string_view text) {
  auto record = parse({text, "x"});
  if (!record) return;
  auto written = registry::to_json(*record);
  auto again = parse({written, "x"});
  fuzzing::require(again && registry::to_json(*again) == written);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = fuzzing::as_text(data, size);
  auto value = json::parse({text, "x"});
  if (!value) return 0;
  auto canonical = json::canonical(*value);
  fuzzing::require(canonical.has_value());
  auto again = json::parse({*canonical, "x"});
  fuzzing::require(again && json::canonical(*again).value() == *canonical);
  (void)json::pretty(*value);
  check(registry::parse_set, text);
  check(registry::parse_view, text);
  check(registry::parse_shard, text);
  check(registry::parse_ledger, text);
  check(registry::parse_evidence, text);
  check(registry::parse_waiver, text);
  if (!value->is_object()) return 0;
  auto proven = registry::with_own_digest(*value); // no mutation would meet it
  check(registry::parse_seal, proven);
  check(registry::parse_channel, proven);
  return 0;
}
