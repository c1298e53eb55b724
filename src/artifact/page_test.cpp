#include "artifact/page.hpp"

#include <gmock/gmock.h>

namespace quarry::artifact {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view k_root = "https://b.s3.amazonaws.com/42-linux/";

TEST(Page, LinksOfTodaysPagesAndOfOthers) {
  const std::pair<std::string, std::vector<std::string>> table[] = {
      {R"(<td><a href="a_lib_generic.tar.zst">)", {"a_lib_generic.tar.zst"}},
      {R"(<A HREF='./a.tar.xz'><a class=x href = b>)", {"a.tar.xz", "b"}},
      {R"(<a href="gfx942%3Axnack%2B.tar.zst">)", {"gfx942:xnack+.tar.zst"}},
      {R"(<a href="a&amp;b&#43;c?versionId=1#top">)", {"a&b+c"}},
      {R"(<a href="https://b.s3.amazonaws.com/42-linux/a.tar.zst">)", {"a.tar.zst"}},
      {R"(<a href="/42-linux/a.tar.zst">)", {"a.tar.zst"}},
      {"<a href=a><a href=a>", {"a"}},
  };
  for (const auto& [html, names] : table) EXPECT_EQ(names_on_page(html, k_root), names) << html;
}

TEST(Page, OtherPlacesAndOtherTextAreNoNames) {
  for (auto html : {R"(<a href="..">)", R"(<a href="../41-linux/a.tar.zst">)", R"(<a href="logs/x">)", R"(<a href="">)",
                    R"(<a href="https://elsewhere.example/42-linux/a.tar.zst">)", R"(<a href="/a.tar.zst">)",
                    R"(<a data-href="a">)", R"(href)", R"(<a href)", R"(<a href=)", R"(<a href="a)", "{\"href\": 1}"}) {
    auto names = names_on_page(html, k_root);
    std::erase(names, "..");
    EXPECT_THAT(names, ElementsAre()) << html;
  }
}

} // namespace
} // namespace quarry::artifact
