#include "index/not_an_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace quarry::index {
namespace {

using ::testing::HasSubstr;

class Named final : public Site {
public:
  std::string describe() const override { return "http://host/x"; }
  std::string place_of(const std::string& directory) const override { return directory; }
  Result<SiteReply> page(const std::string&) override { throw std::logic_error("not asked"); }
  Result<std::optional<std::vector<std::string>>> directories(const std::string&) override {
    throw std::logic_error("not asked");
  }
  std::optional<std::string> target(const std::string&, const std::string&) const override { return std::nullopt; }
  Result<SiteReply> look(const std::string&) override { throw std::logic_error("not asked"); }
  Result<std::optional<std::string>> read(const std::string&, std::uint64_t) override {
    throw std::logic_error("not asked");
  }
  Result<LocalFile> local(const std::string&) override { throw std::logic_error("not asked"); }
  bool served() const override { return true; }
};

std::optional<Error> judged(const std::string& html) {
  SiteReply top;
  top.state = SiteReply::State::there;
  top.text = html;
  return listing_instead_of_index(Named(), top);
}

std::string python(const std::string& links) {
  return "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html>\n<head>\n<title>Directory listing for "
         "/</title>\n</head>\n<body><ul>" +
         links + "</ul></body></html>";
}
std::string nginx(const std::string& links) {
  return "<html>\r\n<head><title>Index of /x/</title></head>\r\n<body><pre><a href=\"../\">../</a>\r\n" + links;
}
std::string apache(const std::string& links) {
  return "<html><head>\n<title>Index of /x</title></head><body><a href=\"?C=N;O=D\">Name</a><a href=\"/\">Parent "
         "Directory</a>" +
         links;
}
std::string link(const std::string& name) { return "<a href=\"" + name + "\">" + name + "</a>\n"; }

TEST(NotAnIndex, TheRootOfAStoreNamesTheWayToAChannel) {
  for (auto server : {python, nginx, apache}) {
    auto error = judged(server(link(".quarry/") + link("42-linux/") + link("channels/") + link("sets/")));
    ASSERT_TRUE(error) << server("");
    EXPECT_EQ(error->code, "I008");
    EXPECT_EQ(error->message, "http://host/x is a directory listing, not an index");
    EXPECT_THAT(error->hint, HasSubstr("`quarry index check http://host/x/channels/NAME/`"));
    EXPECT_TRUE(judged(server(link("evidence/") + link("42-linux/"))));
  }
}

TEST(NotAnIndex, AnyOtherDirectoryIsRefusedToo) {
  auto error = judged(python(link("docs/") + link("_build/") + link("README.md")));
  ASSERT_TRUE(error);
  EXPECT_THAT(error->hint, HasSubstr("index.html"));
}

TEST(NotAnIndex, ListingsThatInstallersCanUseAreIndexes) {
  for (auto server : {python, nginx, apache}) {
    EXPECT_FALSE(judged(server(link("rocm/") + link("rocm-sdk-core/"))));
    EXPECT_FALSE(judged(server(link("a-1-py3-none-any.whl") + link("a-1-py3-none-any.whl.metadata"))));
    EXPECT_FALSE(judged(server(link("b-1%2Bx.tar.gz"))));
    EXPECT_FALSE(judged(server(link("simple/") + link("dist/") + link("_x/"))));
    EXPECT_FALSE(judged(server("")));
  }
}

TEST(NotAnIndex, APageThatSomebodyWroteIsNotAListing) {
  EXPECT_FALSE(judged("<title>Simple index</title>" + link("channels/") + link("_x/")));
  EXPECT_FALSE(listing_instead_of_index(Named(), SiteReply()));
}

} // namespace
} // namespace quarry::index
