#include "inspect/device_picture.hpp"

#include "inspect/treemap.hpp"
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {

double area(const Box& box) { return box.width * box.height; }

TEST(Treemap, BoxesHaveTheirShareAndFillTheArea) {
  std::vector<double> values{50, 20, 10, 10, 5, 4, 1};
  auto boxes = treemap(values, {10, 20, 300, 200});
  ASSERT_EQ(boxes.size(), values.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_NEAR(area(boxes[i]), values[i] / 100 * 300 * 200, 1e-6);
    EXPECT_GE(boxes[i].x, 10 - 1e-6);
    EXPECT_LE(boxes[i].x + boxes[i].width, 310 + 1e-6);
    EXPECT_LE(boxes[i].y + boxes[i].height, 220 + 1e-6);
    for (std::size_t j = 0; j < i; ++j) {
      auto overlap_x =
          std::min(boxes[i].x + boxes[i].width, boxes[j].x + boxes[j].width) - std::max(boxes[i].x, boxes[j].x);
      auto overlap_y =
          std::min(boxes[i].y + boxes[i].height, boxes[j].y + boxes[j].height) - std::max(boxes[i].y, boxes[j].y);
      EXPECT_FALSE(overlap_x > 1e-6 && overlap_y > 1e-6) << i << " and " << j << " overlap";
    }
  }
}

TEST(Treemap, EdgesOfTheInput) {
  EXPECT_TRUE(treemap({}, {0, 0, 10, 10}).empty());
  EXPECT_EQ(treemap({1, 1, 1}, {0, 0, 0, 0}).size(), 3u);
  EXPECT_EQ(treemap({1e18, 1}, {0, 0, 100, 100}).size(), 2u);
}

DeviceFile drawn_file(std::string path, const std::vector<std::pair<std::string, std::uint64_t>>& targets) {
  DeviceFile out{std::move(path), 1000, {}, {}};
  for (const auto& [name, bytes] : targets) {
    auto target = *gpu::parse_target(name);
    out.contents.objects.push_back({gpu::Container::bundle, target, 0, bytes, target, true});
  }
  return out;
}

std::string drawn(std::vector<DeviceFile> files, const Asked& asked, bool html) {
  DeviceCode code{std::move(files), 1};
  auto judgement = judge(code, asked);
  return html ? device_html(code, judgement, asked) : device_svg(code, judgement, asked);
}

bool says(const std::string& picture, std::string_view what) { return picture.find(what) != picture.npos; }

TEST(DevicePicture, NamesTargetsBytesAndWhatWasNotAskedFor) {
  std::vector<DeviceFile> files{drawn_file("a<b>.so", {{"gfx942", 600'000'000}, {"gfx1030", 400'000'000}})};
  auto picture = drawn(files, {"gfx94X-dcgpu", {"gfx942"}}, false);
  EXPECT_TRUE(says(picture, "1.00 GB of device code for 2 targets in a&lt;b&gt;.so")) << picture;
  EXPECT_TRUE(says(picture, "400.0 MB, 40 %, 1 code object, not asked for"));
  EXPECT_TRUE(says(picture, "url(#extra)"));
  EXPECT_TRUE(says(picture, "asked for: gfx942 (gfx94X-dcgpu)"));
  EXPECT_FALSE(says(picture, "a<b>"));
  EXPECT_FALSE(says(drawn(files, {}, false), "url(#extra)"));
}

TEST(DevicePicture, ASetIsDrawnWheelByWheel) {
  std::vector<DeviceFile> files{
      drawn_file("dist/a-1.0-py3-none-any.whl!a/liba.so", {{"gfx942", 600}}),
      drawn_file("dist/b-1.0-py3-none-any.whl!b/libb.so", {{"gfx942", 300}, {"gfx1030", 100}}),
      drawn_file("libc.so", {{"gfx942", 200}})};
  auto picture = drawn(files, {"f", {"gfx942"}}, false);
  EXPECT_TRUE(says(picture, "in 3 files of 2 wheels")) << picture;
  EXPECT_TRUE(says(picture, ">a-1.0-py3-none-any.whl</text>"));
  EXPECT_TRUE(says(picture, "<title>b-1.0-py3-none-any.whl: b/libb.so: gfx1030, 1 code object, 100 B, not asked for"));
  EXPECT_TRUE(says(picture, ">other files</text>"));
  EXPECT_FALSE(says(picture, "dist/"));
  auto one = drawn({files[1]}, {}, false);
  EXPECT_TRUE(says(one, "in libb.so of b-1.0-py3-none-any.whl"));
  EXPECT_FALSE(says(one, "class=\"frame\""));
}

TEST(DevicePicture, AColourIsAGeneration) {
  auto colour = [](const std::string& target) {
    auto picture = drawn({drawn_file("a.so", {{target, 100}})}, {}, false);
    auto at = picture.find("class=\"code\" fill=\"") + 19;
    return picture.substr(at, 7);
  };
  EXPECT_EQ(colour("gfx1200"), colour("gfx12-generic"));
  EXPECT_EQ(colour("gfx942"), colour("gfx90a"));
  EXPECT_NE(colour("gfx906"), colour("gfx908"));
  EXPECT_NE(colour("gfx1100"), colour("gfx1030"));
  EXPECT_NE(colour("gfx1100"), colour("sm_90"));
  auto several = drawn({drawn_file("a.so", {{"gfx908", 1}, {"gfx90a", 1}, {"gfx942", 1}, {"gfx950", 1}})}, {}, false);
  for (const char* shade : {"#8fd3cf", "#b5e5d8", "#74c0b6", "#cdeee5"}) EXPECT_TRUE(says(several, shade)) << shade;
}

TEST(DevicePicture, TargetsThatWereAskedForLookDifferent) {
  auto picture = drawn(
      {drawn_file("a.so",
                  {{"gfx1030", 9}, {"gfx1031", 8}, {"gfx1032", 7}, {"gfx1033", 6}, {"gfx1034", 5}, {"gfx1035", 4}})},
      {"two", {"gfx1030", "gfx1034"}}, false);
  auto first = drawn({drawn_file("a.so", {{"gfx1030", 9}})}, {}, false);
  auto box = first.substr(first.find("class=\"code\" fill=\""), 27); // with its colour
  std::size_t boxes = 0;
  for (auto at = picture.find(box); at != picture.npos; at = picture.find(box, at + 1)) ++boxes;
  EXPECT_EQ(boxes, 2u) << "gfx1030 in the file and in the legend, but not gfx1034 in the same shade";
}

TEST(DevicePicture, ManyFilesShareABox) {
  std::vector<DeviceFile> files;
  for (int i = 0; i < 100; ++i)
    files.push_back(drawn_file("f" + std::to_string(i) + ".so", {{"gfx942", 1000u + static_cast<unsigned>(i)}}));
  auto picture = drawn(files, {}, false);
  EXPECT_TRUE(says(picture, "60 more files"));
  EXPECT_TRUE(says(picture, "f99.so"));
  EXPECT_FALSE(says(picture, "f10.so"));
}

TEST(DevicePicture, NothingToDraw) {
  EXPECT_TRUE(says(drawn({}, {}, false), "no device code"));
  EXPECT_TRUE(says(drawn({drawn_file("a.so", {{"gfx942", 0}})}, {}, true), "no device code"));
}

TEST(DevicePicture, ThePageHasFindingsAndATable) {
  auto page = drawn({drawn_file("a.so", {{"gfx942", 600}, {"gfx1030", 400}})}, {"f", {"gfx942", "gfx950"}}, true);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(says(page, "error[G103]"));
  EXPECT_TRUE(says(page, "<td class=\"file\">a.so</td><td>gfx1030</td>"));
  EXPECT_TRUE(says(page, "; missing: gfx950<"));
  EXPECT_FALSE(says(page, "<script"));
}

} // namespace
} // namespace quarry::inspect
