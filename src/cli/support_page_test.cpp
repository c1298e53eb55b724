#include "cli/support_page.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

TEST(SupportPage, WheelsOfAFrameworkDoNotHideThatTheSdkIsNotReleased) {
  matrix::Place linux;
  linux.platform = Platform::linux;
  matrix::Family family{"gfx94x", "gfx94X-dcgpu", "nightly", {linux}, 0};
  matrix::Families families;
  families.families.push_back(family);
  gate::CellVerdict torch;
  torch.cell.platform = Platform::linux, torch.cell.family = family.name, torch.cell.framework = "torch";
  gate::Verdict judged;
  judged.cells.push_back(torch);
  gate::Case input;
  auto rows = support_rows(families, {"rocm", ">=3.10"}, &input, judged);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].project + " " + rows[0].state, "rocm not released");
  EXPECT_EQ(rows[1].project + " " + rows[1].state, "torch not tested");
}

} // namespace
} // namespace quarry::cli
