#include "tar/testing.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::tar {
namespace {
using namespace testing; // NOLINT: the builders of this test
using ::testing::ElementsAre;

std::string patch(std::string text, std::size_t at, std::string_view bytes) {
  return text.replace(at, bytes.size(), bytes);
}

/// The shape of CVE-2025-4517: names and links so long that a resolver which gives up at PATH_MAX stops looking.
std::string long_chain() {
  std::string archive, path, component(247, 'd'), links;
  for (char step = 'a'; step <= 'p'; ++step) {
    path += (path.empty() ? "" : "/") + component;
    archive += pax("path", path) + directory("x");
    std::string link =
        (path.size() > component.size() ? path.substr(0, path.rfind('/')) + "/" : "") + std::string(1, step);
    archive += pax(pax_record("path", link) + pax_record("linkpath", component)) + symlink("x", "x");
    links += std::string(links.empty() ? "" : "/") + step;
  }
  auto escape = links + "/" + std::string(254, 'l');
  std::string up;
  for (int i = 0; i < 16; ++i) up += "../";
  archive += pax(pax_record("path", escape) + pax_record("linkpath", up)) + symlink("x", "x");
  archive += pax(pax_record("path", "escape") + pax_record("linkpath", escape + "/../../etc")) + symlink("x", "x");
  return archive + file("escape/passwd") + end();
}

std::vector<Case> hostile() {
  std::string ten_links;
  for (int i = 0; i < 50; ++i) ten_links += symlink(fmt::format("l{}", i), fmt::format("l{}", i + 1));
  return {
      // Names that lead elsewhere.
      {"absolute", file("/etc/passwd") + end(), "T010"},
      {"two slashes", file("//etc/passwd") + end(), "T010"},
      {"parent", file("../x") + end(), "T010"},
      {"parent inside", file("a/../../x") + end(), "T010"},
      {"parent at the end", directory("a/..") + end(), "T010"},
      {"parent behind ./", file("./../x") + end(), "T010"},
      {"dot inside", file("a/./b") + end(), "T010"},
      {"twice ./", file("././b") + end(), "T010"},
      {"empty component", file("a//b") + end(), "T010"},
      {"empty name", file("") + end(), "T010"},
      {"drive", file("C:/x") + end(), "T010"},
      {"backslash", file("a\\..\\x") + end(), "T010"},
      {"control character", file("a\x01") + end(), "T010"},
      {"newline", file("a\nb") + end(), "T010"},
      {"delete character", file("a\x7f") + end(), "T010"},
      {"not UTF-8", file("a\xff") + end(), "T010"},
      {"C1 control", file("a\xc2\x85") + end(), "T010"},
      {"right-to-left override",
       file("a\xe2\x80\xae"
            "fdp.exe") +
           end(),
       "T010"},
      {"zero width space", file("a\xe2\x80\x8b") + end(), "T010"},
      {"NUL inside the name", with_field(0, std::string("good\0/../evil", 13)) + end(), "T005"},
      {"prefix leads up", member({.name = "x", .prefix = ".."}) + end(), "T010"},
      {"absolute prefix", member({.name = "x", .prefix = "/etc"}) + end(), "T010"},
      {"pax path leads up", pax("path", "../x") + file("x") + end(), "T010"},
      {"pax path with NUL", pax("path", std::string_view("a\0b", 3)) + file("x") + end(), "T006"},
      {"long name leads up", long_name("../" + std::string(120, 'a')) + file("x") + end(), "T010"},
      {"long name with NUL", long_name(std::string("a\0b", 3)) + file("x") + end(), "T006"},
      {"component too long", pax("path", std::string(256, 'a')) + file("x") + end(), "T010"},
      {"path of 5,000 bytes", pax("path", repeated(std::string(200, 'a') + "/", 25) + "f") + file("x") + end(), "T010"},
      {"129 levels", pax("path", deep(128)) + file("x") + end(), "T010"},
      // Members other than files.
      {"character device", member({.name = "a", .type = '3'}) + end(), "T009"},
      {"block device", member({.name = "a", .type = '4'}) + end(), "T009"},
      {"fifo", member({.name = "a", .type = '6'}) + end(), "T009"},
      {"contiguous file", member({.name = "a", .type = '7'}) + end(), "T009"},
      {"GNU sparse", member({.name = "a", .type = 'S', .magic = k_gnu}) + end(), "T009"},
      {"GNU volume label", member({.name = "a", .type = 'V', .magic = k_gnu}) + end(), "T009"},
      {"GNU multi volume", member({.name = "a", .type = 'M', .magic = k_gnu}) + end(), "T009"},
      {"GNU dump directory", member({.name = "a", .type = 'D', .magic = k_gnu}) + end(), "T009"},
      {"unknown type", member({.name = "a", .type = 'Z'}) + end(), "T009"},
      {"pax sparse 1.0", pax("GNU.sparse.major", "1") + file("a") + end(), "T006"},
      {"pax sparse realsize", pax("SCHILY.realsize", "1000") + file("a") + end(), "T006"},
      {"vendor record", pax("ACME.path", "b") + file("a") + end(), "T006"},
      {"unknown record", pax("realpath", "b") + file("a") + end(), "T006"},
      // Links.
      {"absolute symlink", symlink("a", "/etc/passwd") + end(), "T010"},
      {"symlink up", symlink("a", "../x") + end(), "T010"},
      {"symlink up inside", symlink("d/a", "../../x") + end(), "T010"},
      {"symlink down and up", symlink("d/a", "b/c/../../../../x") + end(), "T010"},
      {"symlink without target", symlink("a", "") + end(), "T010"},
      {"symlink with control character", symlink("a", "b\n") + end(), "T010"},
      {"symlink with backslash", symlink("a", "..\\x") + end(), "T010"},
      {"symlink to a drive", symlink("a", "c:x") + end(), "T010"},
      {"symlink through another",
       directory("a") + directory("a/b") + symlink("l", "a/b") + symlink("m", "l/../../../x") + end(), "T010"},
      {"symlink through a later one", symlink("m", "l/../x") + symlink("d/e/f", "y") + symlink("l", "./") + end(),
       "T010"},
      {"symlink to itself", symlink("a", "a") + end(), "T010"},
      {"symlinks in a circle", symlink("a", "b") + symlink("b", "a") + end(), "T010"},
      {"fifty symlinks in a row", ten_links + end(), "T010"},
      {"CVE-2025-4517", long_chain(), "T007"},
      {"the same without the file behind it", long_chain().substr(0, long_chain().size() - 2048) + end(), "T007"},
      {"writing through a symlink", symlink("a", "b") + file("a/x") + end(), "T007"},
      {"symlink where a directory was", file("a/x") + symlink("a", "b") + end(), "T007"},
      {"hard link to nothing", hardlink("a", "b") + end(), "T010"},
      {"hard link to what comes later", hardlink("a", "b") + file("b") + end(), "T010"},
      {"hard link to a symlink", symlink("b", "c") + hardlink("a", "b") + end(), "T010"},
      {"hard link to a directory", directory("b") + hardlink("a", "b") + end(), "T010"},
      {"hard link outside", hardlink("a", "../b") + end(), "T010"},
      {"hard link to an absolute path", hardlink("a", "/etc/passwd") + end(), "T010"},
      {"hard link with content", file("b") + member({.name = "a", .link = "b", .type = '1', .data = "y"}) + end(),
       "T005"},
      {"link name in a file", member({.name = "a", .link = "b", .data = "y"}) + end(), "T005"},
      {"long link leads up", long_name("../" + std::string(120, 'a'), 'K') + symlink("x", "y") + end(), "T010"},
      // Names side by side.
      {"a file twice", file("a") + file("a") + end(), "T007"},
      {"a file twice, once with ./", file("a") + file("./a") + end(), "T007"},
      {"file, then directory", file("a") + directory("a") + end(), "T007"},
      {"directory, then file", directory("a") + file("a") + end(), "T007"},
      {"file, then symlink", file("a") + symlink("a", "b") + end(), "T007"},
      {"symlink twice", symlink("a", "b") + symlink("a", "c") + end(), "T007"},
      {"file as directory", file("a") + file("a/b") + end(), "T007"},
      {"only case differs", file("A") + file("a") + end(), "T007"},
      {"only case differs, below", file("D/a") + file("d/A") + end(), "T007"},
      {"only an accent's form differs", file("caf\xc3\xa9") + file("cafe\xcc\x81") + end(), "T007"},
      {"only a trailing dot differs", file("a") + file("a.") + end(), "T007"},
      {"file and directory differ by case", file("A/x") + file("a") + end(), "T007"},
      // Headers.
      {"checksum wrong in the first", patch(file("a") + end(), 148, "000000"), "T004"},
      {"checksum wrong in the third", file("a") + file("b") + patch(file("c"), 148, "000000") + end(), "T004"},
      {"checksum that is no number", patch(file("a") + end(), 148, "99zz99"), "T004"},
      {"a flipped bit in a name", patch(file("a") + end(), 0, "b"), "T004"},
      {"rubbish instead of a header", file("a") + std::string(512, 'r') + end(), "T004"},
      {"unknown magic", member({.name = "a", .magic = "notustar"}) + end(), "T005"},
      {"GNU with a prefix", member({.name = "a", .prefix = "p", .magic = k_gnu}) + end(), "T005"},
      {"first tars had no prefix", member({.name = "a", .prefix = "p", .magic = k_old}) + end(), "T005"},
      {"bytes behind the name's end", with_field(50, "hidden") + end(), "T005"},
      {"bytes in the header's padding", with_field(505, "hidden") + end(), "T005"},
      {"bytes behind the link's end", with_field(200, "hidden") + end(), "T005"},
      {"mode is no number", with_field(100, "0o00644") + end(), "T005"},
      {"time is no number", with_field(136, "yesterday!!") + end(), "T005"},
      {"owner is no number", with_field(108, "root") + end(), "T005"},
      {"device is no number", with_field(329, "x") + end(), "T005"},
      {"no size", with_field(124, std::string(12, '\0')) + end(), "T005"},
      {"size as Python would read it", with_field(124, std::string("0000000_001\0", 12)) + end(), "T005"},
      {"size with a sign", with_field(124, std::string("+0000000001\0", 12)) + end(), "T005"},
      {"size with digits behind its end", with_field(124, std::string("01\0000000777\0", 12)) + end(), "T005"},
      {"negative size", with_field(124, std::string(12, '\xff')) + end(), "T005"},
      {"size of 2^90", with_field(124, std::string("\x84", 1) + std::string(11, '\x01')) + end(), "T005"},
      {"size of 2^63 - 1", with_field(124, std::string("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12)) + end(),
       "T008"},
      {"size of 300 GiB", with_field(124, std::string("\x80\0\0\0\0\0\0\x4b\0\0\0\0", 12)) + end(), "T008"},
      {"directory with a size", member({.name = "a", .type = '5', .data = "x"}) + end(), "T005"},
      {"symlink with a size", member({.name = "a", .link = "b", .type = '2', .data = "x"}) + end(), "T005"},
      {"file that ends in a slash", file("a/") + end(), "T005"},
      // pax and long names.
      {"pax without records", pax("") + file("a") + end(), "T006"},
      {"pax record of length zero", pax("0 path=b\n") + file("a") + end(), "T006"},
      {"pax length with a leading zero", pax("010 path=b\n") + file("a") + end(), "T006"},
      {"pax length too long", pax("999 path=b\n") + file("a") + end(), "T006"},
      {"pax length too short", pax("5 path=b\n") + file("a") + end(), "T006"},
      {"pax length only", pax("10") + file("a") + end(), "T006"},
      {"pax length negative", pax("-9 path=b\n") + file("a") + end(), "T006"},
      {"pax without newline", pax("10 path=bb") + file("a") + end(), "T006"},
      {"pax without equals sign", pax("9 pathbb\n") + file("a") + end(), "T006"},
      {"pax without keyword", pax("7 =abc\n") + file("a") + end(), "T006"},
      {"NULs behind the pax records", pax(pax_record("path", "b") + std::string(4, '\0')) + file("a") + end(), "T006"},
      {"pax path twice", pax(pax_record("path", "b") + pax_record("path", "c")) + file("a") + end(), "T006"},
      {"pax path empty", pax("path", "") + file("a") + end(), "T006"},
      {"pax size differs from the header's",
       pax("size", "512") + member({.name = "a", .data = std::string(1024, 'x')}) + end(), "T006"},
      {"pax size, header says zero",
       pax("size", "512") + member({.name = "a"}) + file("b", std::string(400, 'x')) + end(), "T006"},
      {"pax size is no number", pax("size", "0x10") + file("a") + end(), "T006"},
      {"pax size of 2^64", pax("size", "18446744073709551616") + file("a") + end(), "T006"},
      {"pax size of 1 TiB", pax("size", "1099511627776") + member({.name = "a"}) + end(), "T008"},
      {"pax character set", pax("hdrcharset", "BINARY") + file("a") + end(), "T006"},
      {"pax path for all", pax(pax_record("path", "b"), 'g') + file("a") + end(), "T006"},
      {"two pax headers", pax("path", "b") + pax("path", "c") + file("a") + end(), "T006"},
      {"pax and long name", pax("path", "b") + long_name("c") + file("a") + end(), "T006"},
      {"two long names", long_name("b") + long_name("c") + file("a") + end(), "T006"},
      {"pax at the end", file("a") + pax("path", "b") + end(), "T003"},
      {"pax of 2 MiB", member({.name = "x", .type = 'x', .size_field = std::string("00010000000\0", 12)}) + end(),
       "T006"},
      // The end.
      {"empty stream", "", "T003"},
      {"no end marker", file("a"), "T003"},
      {"one zero block", file("a") + end(1), "T003"},
      {"cut in a header", file("a").substr(0, 300), "T003"},
      {"cut in the data", file("a", std::string(2000, 'x')).substr(0, 1500), "T003"},
      {"cut in the padding", file("a").substr(0, 900), "T003"},
      {"cut in the end marker", file("a") + end().substr(0, 700), "T003"},
      {"a member behind a zero block", file("a") + end(1) + file("b") + end(), "T003"},
      {"bytes behind the end", file("a") + end() + "x", "T003"},
      {"a member behind the end", file("a") + end() + file("b") + end(), "T003"},
      {"half a block behind the end", file("a") + end() + std::string(100, '\0'), "T003"},
      {"17 MiB of zeros behind the end", file("a") + end() + std::string(17u << 20, '\0'), "T003"},
      {"bytes in the padding", member({.name = "a", .data = "x", .padding = 'p'}) + end(), "T003"},
  };
}

class Hostile : public ::testing::TestWithParam<Case> {};
TEST_P(Hostile, IsRefused) {
  for (std::size_t step : {std::size_t{1u << 20}, std::size_t{511}}) {
    auto lines = read(GetParam().archive, step);
    ASSERT_FALSE(lines) << GetParam().what;
    EXPECT_EQ(lines.error().code, GetParam().code) << lines.error().message;
    EXPECT_EQ(lines.error().kind, ErrorKind::corrupt);
  }
}
INSTANTIATE_TEST_SUITE_P(Tar, Hostile, ::testing::ValuesIn(hostile()), name_of<::testing::TestParamInfo<Case>>);

TEST(Reader, TellsMembersInOrder) {
  auto lines = read(
      directory("./") + directory("./d/") +
      member({.name = "./d/run", .data = "abc", .before_sum = [](std::string& b) { b.replace(100, 7, "0000755"); }}) +
      symlink("l", "d/run") + hardlink("h", "./d/run") + end());
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_THAT(*lines, ElementsAre("dir d", "file d/run +x", "link l -> d/run", "hard h -> d/run"));
}

TEST(Reader, PaxAndLongNamesReplaceWhatTheHeaderSays) {
  std::string name = std::string(90, 'a') + "/" + std::string(90, 'b');
  auto lines = read(pax("path", name + "1") + file("x") + long_name(name + "2") + file("y") + long_name("z", 'K') +
                    symlink("s", "y") + end());
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_THAT(*lines, ElementsAre("file " + name + "1", "file " + name + "2", "link s -> z"));
}

TEST(Reader, HandsOverTheBytesOfFiles) {
  Recorder recorder;
  Reader reader(recorder, "t.tar");
  std::string data(100'000, 'd');
  auto archive = file("a", data) + file("b", "tail") + end();
  for (char c : archive) ASSERT_TRUE(reader.feed(bytes_of({&c, 1})));
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(recorder.content, data + "tail");
}

TEST(Reader, StopsAtItsLimits) {
  auto archive =
      file("a", std::string(600, 'x')) + file("b", std::string(600, 'x')) + file("c", std::string(600, 'x')) + end();
  EXPECT_TRUE(read(archive, 4096, {.entries_max = 3, .stream_bytes_max = 3 * 1536 + 1024}));
  auto entries = read(archive, 4096, {.entries_max = 2});
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, "T008");
  auto bytes = read(archive, 4096, {.stream_bytes_max = 3 * 1536 + 1023});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, "T008");
}

std::string code_of(const Result<std::vector<std::string>>& lines) { return lines ? "" : lines.error().code; }

TEST(Reader, CountsHeadersAndPaddingForThemselves) {
  Limits limits{.framing_bytes_max = 4096};
  EXPECT_EQ(code_of(read(file("a", std::string(100'000, 'x')) + end(), 4096, limits)), "");
  EXPECT_EQ(code_of(read(repeated(directory("d/"), 6) + end(), 4096, limits)), "");
  EXPECT_EQ(code_of(read(repeated(directory("d/"), 7) + end(), 4096, limits)), "T008");
  EXPECT_EQ(code_of(read(repeated(directory("./"), 7) + end(), 4096, limits)), "T008");
  EXPECT_EQ(code_of(read(pax("comment", std::string(4000, 'c')) + file("a") + end(), 4096, limits)), "T008");
  EXPECT_EQ(code_of(read(file("a") + end(7), 4096, limits)), "T008");
}

// A deep name costs its sender a few bytes once they are compressed, and brings a directory for each level.
TEST(Reader, BoundsDirectoriesThatNoEntryNames) {
  auto deep_names = [](int members) {
    std::string archive;
    for (int i = 0; i < members; ++i) archive += pax("path", fmt::format("{}/{}", i, deep(123))) + file("x", "");
    return archive + end();
  };
  EXPECT_EQ(code_of(read(deep_names(700))), "");
  EXPECT_EQ(code_of(read(deep_names(850))), "T008");
}

TEST(Reader, BoundsTheBytesOfLinks) {
  std::string archive, target = repeated("d/", 2047);
  for (int i = 0; i < 4'100; ++i) archive += pax(pax_record("linkpath", target)) + symlink(fmt::format("l{}", i), "x");
  EXPECT_EQ(code_of(read(archive + end())), "T008");
}

TEST(Reader, BoundsTheWorkOfFollowingLinks) {
  std::string archive, dots = repeated("./", 2000);
  for (int i = 0; i < 39; ++i)
    archive += pax("linkpath", fmt::format("{}l{}", dots, i + 1)) + symlink(fmt::format("l{}", i), "x");
  EXPECT_EQ(code_of(read(archive + end())), "");
  for (int i = 0; i < 110; ++i) archive += symlink(fmt::format("m{}", i), "l0");
  EXPECT_EQ(code_of(read(archive + end())), "T008");
}

TEST(Limits, FollowTheSizeOfTheArchive) {
  auto small = Limits::for_archive({.archive_bytes = 1000, .ratio = 60});
  EXPECT_EQ(small.stream_bytes_max, (1ull << 30) + 60'000);
  EXPECT_EQ(small.framing_bytes_max, (64ull << 20) + 60'000);
  auto large = Limits::for_archive({.archive_bytes = 20ull << 30, .ratio = 60});
  EXPECT_EQ(large.stream_bytes_max, Limits{}.stream_bytes_max);
  EXPECT_EQ(large.framing_bytes_max, Limits{}.framing_bytes_max);
  EXPECT_EQ(Limits::for_archive({.archive_bytes = UINT64_MAX, .ratio = 1'000'000}).stream_bytes_max,
            Limits{}.stream_bytes_max);
}

TEST(Reader, PassesOnWhatItsVisitorSays) {
  struct Full final : Visitor {
    Result<void> begin(const Member&) override { return {}; }
    Result<void> data(std::span<const std::byte>) override {
      return fail(ErrorKind::resource_exhausted, "D003", "disk full");
    }
    Result<void> end() override { return {}; }
  } full;
  Reader reader(full, "t.tar");
  auto fed = reader.feed(bytes_of(file("a")));
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().kind, ErrorKind::resource_exhausted);
}

TEST(Reader, NeverAcceptsAHeaderWithOneBitFlipped) {
  auto archive = file("dir/name.txt", "content") + symlink("dir/link", "name.txt") + end();
  for (std::size_t at = 0; at < archive.size(); ++at) {
    bool header = at < 512 || (at >= 1024 && at < 1536);
    if (!header) continue;
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = archive;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      if (at >= 148 && at < 156 && changed[at] != archive[at] && (changed[at] == ' ' || changed[at] == '\0'))
        continue; // says the same
      if (at - 1024 >= 148 && at - 1024 < 156 && (changed[at] == ' ' || changed[at] == '\0')) continue;
      EXPECT_FALSE(read(changed)) << "byte " << at << " bit " << bit;
    }
  }
}

} // namespace
} // namespace quarry::tar
