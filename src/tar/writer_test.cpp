#include "tar/testing.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/extract.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::tar {
namespace {
using namespace testing; // NOLINT: the builders of this test
using ::testing::ElementsAre;

struct Written {
  std::string bytes;
  Writer tar{[this](std::span<const std::byte> part) -> Result<void> {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    return {};
  }};
};

TEST(Writer, WritesWhatTheReaderReads) {
  Written w;
  std::string deep = std::string(90, 'd') + "/" + std::string(90, 'e'),
              very_deep = std::string(200, 'd') + "/" + std::string(200, 'e');
  ASSERT_TRUE(w.tar.file("a", content::Rope::literal("text"), false));
  ASSERT_TRUE(w.tar.file("bin/run", content::Rope::literal(std::string(5000, 'x')), true));
  ASSERT_TRUE(w.tar.file(deep, content::Rope::literal(""), false));
  ASSERT_TRUE(w.tar.file(very_deep, content::Rope::literal("y"), false));
  ASSERT_TRUE(w.tar.file("caf\xc3\xa9", content::Rope::literal("z"), false));
  ASSERT_TRUE(w.tar.symlink("l", very_deep));
  ASSERT_TRUE(w.tar.directory("empty"));
  ASSERT_TRUE(w.tar.finish());
  EXPECT_EQ(w.bytes.size() % 10240, 0u);
  auto lines = read(w.bytes);
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_THAT(*lines, ElementsAre("file a", "file bin/run +x", "file " + deep, "file " + very_deep, "file caf\xc3\xa9",
                                  "link l -> " + very_deep, "dir empty"));
}

TEST(Writer, UsesPaxOnlyWhereUstarCannotSayIt) {
  for (auto [path, expected] : std::initializer_list<std::pair<std::string, bool>>{
           {std::string(100, 'a'), false},
           {std::string(101, 'a'), true},
           {std::string(155, 'p') + "/" + std::string(100, 'a'), false},
           {std::string(156, 'p') + "/" + std::string(100, 'a'), true},
           {std::string(20, 'p') + "/" + std::string(101, 'a'), true}}) {
    Written w;
    ASSERT_TRUE(w.tar.file(path, {}, false));
    EXPECT_EQ(w.bytes[156] == 'x', expected) << path.size();
    ASSERT_TRUE(w.tar.finish());
    auto lines = read(w.bytes);
    ASSERT_TRUE(lines) << lines.error().message;
    EXPECT_THAT(*lines, ElementsAre("file " + path));
  }
}

TEST(Writer, SaysTheSizeOfHugeFilesInPax) {
  std::string head;
  Writer tar([&](std::span<const std::byte> part) -> Result<void> {
    if (head.size() < 4096)
      head.append(reinterpret_cast<const char*>(part.data()), std::min<std::size_t>(part.size(), 4096));
    return head.size() > 2048 ? Result<void>(fail(ErrorKind::cancelled, "X001", "seen enough")) : Result<void>{};
  });
  auto size = (1ull << 33) + 5;
  EXPECT_FALSE(tar.file("big", content::Rope::zeros(size), false));
  EXPECT_EQ(head[156], 'x');
  EXPECT_NE(head.find("size=8589934597\n"), head.npos);
  Recorder recorder;
  Reader reader(recorder, "t.tar");
  ASSERT_TRUE(reader.feed(bytes_of(head)));
  EXPECT_THAT(recorder.lines, ElementsAre("file big"));
}

TEST(Writer, RefusesWhatTheReaderRefuses) {
  struct Case {
    const char *path, *target, *code;
  };
  for (auto [path, target, code] : {Case{"/a", "", "T010"},
                                    {"../a", "", "T010"},
                                    {"a//b", "", "T010"},
                                    {"./a", "", "T010"},
                                    {"taken", "", "T007"},
                                    {"taken/below", "", "T007"},
                                    {"l", "/etc", "T010"},
                                    {"TAKEN", "", "T007"}}) {
    Written w;
    ASSERT_TRUE(w.tar.file("taken", {}, false));
    auto before = w.bytes.size();
    auto done = *target ? w.tar.symlink(path, target) : w.tar.file(path, {}, false);
    ASSERT_FALSE(done) << path;
    EXPECT_EQ(done.error().code, code) << path;
    EXPECT_EQ(w.bytes.size(), before) << path;
  }
  Written w;
  ASSERT_TRUE(w.tar.symlink("a", "../x"));
  EXPECT_FALSE(w.tar.finish());
}

class Extract : public ::testing::Test {
protected:
  void SetUp() override { root_ = *sys::make_temporary_directory(::testing::TempDir(), "extract-"); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(root_)); }
  Result<void> extract(std::string_view archive) {
    TRY(auto beneath, sys::Beneath::open(root_));
    Extractor extractor(std::move(beneath));
    Reader reader(extractor, "t.tar");
    TRY_DO(reader.feed(bytes_of(archive)));
    TRY_DO(reader.finish());
    TRY_DO(extractor.make_links());
    files_ = extractor.files();
    bytes_ = extractor.bytes();
    return {};
  }
  std::string root_;
  std::uint64_t files_ = 0, bytes_ = 0;
};

TEST_F(Extract, MakesFilesDirectoriesAndLinks) {
  auto run =
      member({.name = "bin/run", .data = "abc", .before_sum = [](std::string& b) { b.replace(100, 7, "0004777"); }});
  ASSERT_TRUE(extract(directory("empty/") + run + symlink("lib", "bin") + hardlink("bin/again", "bin/run") +
                      file("plain") + end()));
  auto entries = *sys::list_tree(root_);
  std::vector<std::string> lines;
  for (const auto& e : entries)
    lines.push_back(fmt::format("{} {:o} {}", e.path, e.type == sys::EntryType::symlink ? 0 : e.mode & 07700, e.link));
  EXPECT_THAT(lines,
              ElementsAre("bin 700 ", "bin/again 700 ", "bin/run 700 ", "empty 700 ", "lib 0 bin", "plain 600 "));
  EXPECT_EQ(*sys::read_file(root_ + "/bin/again"), "abc");
  EXPECT_EQ(files_, 4u);
  EXPECT_EQ(bytes_, 7u);
}

TEST_F(Extract, WritesNothingOutsideEvenWhenALinkWaitsThere) {
  auto outside = *sys::make_temporary_directory(::testing::TempDir(), "outside-");
  ASSERT_TRUE(sys::Beneath::open(root_)->symlink("trap", outside));
  auto done = extract(file("trap/x") + end());
  ASSERT_FALSE(done);
  EXPECT_FALSE(sys::exists(outside + "/x"));
  ASSERT_TRUE(sys::remove_tree(outside));
}

TEST_F(Extract, NeverOverwrites) {
  ASSERT_TRUE(sys::write_file(root_ + "/a", "mine"));
  EXPECT_FALSE(extract(file("a", "theirs") + end()));
  EXPECT_EQ(*sys::read_file(root_ + "/a"), "mine");
}

// 200 MB of zeros pack to 15 kB: what we pack, we must be willing to unpack.
TEST(Writer, SaysWhatReadersWouldRefuse) {
  Writer tar(Writer::Ropes{[](const content::Rope&) -> Result<void> { return {}; }});
  ASSERT_TRUE(tar.file("zeros", content::Rope::zeros(200u << 20), false));
  EXPECT_TRUE(tar.check_readable({.archive_bytes = 15'000, .ratio = 60}));
  ASSERT_TRUE(tar.file("more", content::Rope::zeros(1u << 30), false));
  ASSERT_TRUE(tar.finish());
  auto refused = tar.check_readable({.archive_bytes = 80'000, .ratio = 60});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "T008");
  EXPECT_TRUE(tar.check_readable({.archive_bytes = 80'000, .ratio = 16'044})); // as its hint says
  EXPECT_NE(refused.error().hint.find("--max-ratio 16044"), std::string::npos) << refused.error().hint;
  EXPECT_TRUE(tar.check_readable({.archive_bytes = 20u << 20, .ratio = 60}));
}

} // namespace
} // namespace quarry::tar
