#include "artifact/page.hpp"

#include <fmt/core.h>
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

TEST(Page, TarballsInQuotes) {
  constexpr auto one = "therock-dist-linux-gfx94X-dcgpu-7.10.0.tar.gz", other = "therock-dist-windows-g-1.tar.xz";
  const std::pair<std::string, std::vector<std::string>> table[] = {
      {fmt::format(R"(<script>const f = [{{"name": "{}", "mtime": 1}}, {{"name": "{}"}}];)", one, other), {one, other}},
      {fmt::format("x = 'https://b.example/v4/tarball/{}'; y = '{}'", one, one), {one}},
      {fmt::format("<td>{}</td>", one), {}},
      {R"("a_lib_generic.tar.zst" "x.tar.gz" ".tar." "therock-dist-linux-g-1.tar.gz)", {}},
      {".tar.", {}},
  };
  for (const auto& [html, names] : table) EXPECT_EQ(tarballs_in_quotes(html), names) << html;
}

} // namespace
} // namespace quarry::artifact
