// Tables written in Python and families files: what is taken over or read is written as a file that reads back as the
// same, and no family vanishes from a matrix of everything.
#include "fuzzing.hpp"
#include "matrix/expand.hpp"
#include "matrix/import.hpp"
#include "matrix/python_literal.hpp"
#include <algorithm>

using namespace quarry;

namespace {
constexpr std::string_view k_base = R"(schema = "quarry.families/1"
name = "b"
tiers = ["presubmit", "nightly"]
variant.linux.release = {}
variant.windows.release = {}
build_runners.linux.default = { b = 1 }
build_runners.windows.default = { b = 1 }
target.gfx942 = { product = "p", groups = ["gfx94X-dcgpu"] }
family.x = { name = "gfx942", tier = "nightly", linux = { variants = ["release"] } }
)";

void check(const matrix::Families& families) {
  auto text = matrix::write_families(families);
  auto again = matrix::parse_families({text, "again"});
  fuzzing::require(again && matrix::write_families(*again) == text);
  std::string tiers;
  for (const auto& tier : families.tiers) tiers += tier + ",";
  for (const auto& name : matrix::platform_names()) {
    auto platform = Platform::read(name);
    auto all = matrix::expand(families, {tiers, platform, {}, {"all"}, "seed"});
    for (const auto& family : families.families)
      if (family.find(platform))
        fuzzing::require(all && std::any_of(all->cells.begin(), all->cells.end(),
                                            [&](const auto& cell) { return cell.family == &family; }));
  }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto k_families = matrix::parse_families({k_base, "base"}).value();
  auto text = fuzzing::as_text(data, size);
  if (auto families = matrix::parse_families({text, "x"})) check(*families);
  if (auto families = matrix::import_families({text, "x"}, k_families)) check(*families);
  (void)matrix::parse_python_tables({text, "x"});
  return 0;
}
