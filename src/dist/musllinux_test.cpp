#include "dist/musllinux.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace quarry::dist {
namespace {

std::string shipped_musllinux() {
  std::ifstream file(std::string(QUARRY_SOURCE_DIR) + "/data/musllinux.toml");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Musllinux, ShippedTable) {
  auto table = parse_musllinux({shipped_musllinux(), "m.toml"});
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->tag("aarch64"), "musllinux_1_2_aarch64");
  EXPECT_EQ(table->libraries_of("x86_64"), (std::set<std::string>{"libc.musl-x86_64.so.1", "libz.so.1"}));
  EXPECT_TRUE(table->libraries_of("sparc").empty());
  EXPECT_TRUE(table->knows("riscv64"));
  EXPECT_FALSE(table->knows("sparc"));
  EXPECT_TRUE(table->private_symbols.at("libz.so.1").contains("inflate_fast"));
}

TEST(Musllinux, ATypoInTheTableIsSaid) {
  const std::pair<const char*, const char*> changes[] = {{"newest = \"1.2\"", "newest = \"1\""},
                                                         {"newest = \"1.2\"", "newest = \"one.two\""},
                                                         {"newest = ", "newst = "},
                                                         {"[libc]", "[libcs]"},
                                                         {"musllinux/1", "musllinux/2"},
                                                         {"[private]", "[private"}};
  for (auto [from, to] : changes) {
    auto text = shipped_musllinux();
    text.replace(text.find(from), std::string_view(from).size(), to);
    auto parsed = parse_musllinux({text, "m.toml"});
    ASSERT_FALSE(parsed) << to;
    EXPECT_EQ(parsed.error().code, "M015") << to;
    EXPECT_NE(parsed.error().message.find("m.toml:"), std::string::npos) << parsed.error().message;
  }
}

} // namespace
} // namespace quarry::dist
