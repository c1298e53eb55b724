#include "zip/look.hpp"

#include "zip/forge_for_test.hpp"
#include <atomic>
#include <cstring>
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::zip {
namespace {

using forge::item;
using forge::Zip;

// Counts what is read of it.
class Watched final : public content::Source {
public:
  explicit Watched(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads, read_bytes += into.size();
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }
  mutable std::atomic<std::uint64_t> reads = 0, read_bytes = 0;

private:
  std::string bytes_;
};

const std::string k_wanted = "x-1.dist-info/METADATA";

LookRequest request() {
  return {[](std::string_view name) { return name.ends_with(".dist-info/METADATA"); }, 1u << 20};
}

struct Seen {
  std::string code, content; ///< code: "", an error's, or "absent"
  std::uint64_t reads, bytes;
  ErrorKind kind; ///< a wheel that is not what it must be, whatever is wrong
};

Seen seen_in(std::string bytes) {
  auto source = std::make_shared<Watched>(std::move(bytes));
  auto found = look(content::Rope::of(source), "x.whl", request());
  if (!found) return {found.error().code, "", source->reads, source->read_bytes, found.error().kind};
  if (!*found) return {"absent", "", source->reads, source->read_bytes, {}};
  return {"", (*found)->content, source->reads, source->read_bytes, {}};
}

Zip wheel_of(std::size_t files, std::size_t member_bytes) {
  Zip zip;
  zip.items.clear();
  for (std::size_t i = 0; i < files; ++i)
    zip.items.push_back(item(fmt::format("x/a_rather_long_name_{:05}.so", i), std::string(member_bytes, 'x')));
  zip.items.push_back(item(k_wanted, "Name: x\n", true));
  zip.items.push_back(item("x-1.dist-info/RECORD", "r"));
  return zip;
}

TEST(ZipLook, ReadsTheEndAndTheMember) {
  auto zip = wheel_of(3, 1u << 20);
  auto near = seen_in(zip.bytes());
  EXPECT_EQ(near.code, "");
  EXPECT_EQ(near.content, "Name: x\n");
  EXPECT_EQ(near.reads, 1u); // the member lies in what was read already
  zip.items.back() = item("x-1.dist-info/RECORD", std::string(100'000, 'r'));
  auto far = seen_in(zip.bytes());
  EXPECT_EQ(far.content, "Name: x\n");
  EXPECT_EQ(far.reads, 2u);
  EXPECT_LT(far.bytes, 62u << 10);
}

TEST(ZipLook, ADirectoryLargerThanTheTailIsReadOnce) {
  auto zip = wheel_of(3000, 10); // 220 KB of directory
  auto bytes = zip.bytes();
  auto directory = bytes.size() - bytes.find("PK\1\2");
  auto last = seen_in(bytes);
  EXPECT_EQ(last.content, "Name: x\n");
  EXPECT_EQ(last.reads, 3u);
  EXPECT_LT(last.bytes, directory + 1000);
  zip.items.pop_back();
  std::swap(zip.items.front(), zip.items[3000]);
  auto first = seen_in(zip.bytes());
  EXPECT_EQ(first.content, "Name: x\n");
  EXPECT_EQ(first.reads, 3u);
  EXPECT_GT(first.bytes, 200u << 10);
}

TEST(ZipLook, ADirectoryThatNamesNoSuchMemberIsReadInWhole) {
  auto zip = wheel_of(3000, 10);
  zip.items.erase(zip.items.begin() + 3000);
  EXPECT_EQ(seen_in(zip.bytes()).code, "absent");
}

TEST(ZipLook, ZIP64AndALongCommentAreUnderstood) {
  auto large = wheel_of(3, 100);
  large.end64.emplace();
  large.entries = large.disk_entries = 0xFFFF;
  large.central_offset = large.central_size = 0xFFFFFFFF;
  EXPECT_EQ(seen_in(large.bytes()).content, "Name: x\n");
  auto commented = wheel_of(3, 100'000);
  commented.comment = std::string(65'000, 'c');
  EXPECT_EQ(seen_in(commented.bytes()).content, "Name: x\n");
}

// The extra field of one entry holds an entry for other bytes, and ends where the next entry begins. Who reads the last
// 60 KiB alone finds the held entry first, and a chain from there to the end.
TEST(ZipLook, AnEntryWithinAnExtraFieldIsNotOne) {
  Zip inner;
  inner.items = {item(k_wanted, "Name: evil\n")};
  auto evil = inner.bytes();
  auto local = evil.substr(0, evil.find("PK\1\2"));
  auto entry = evil.substr(local.size(), evil.find("PK\5\6") - local.size());
  for (std::size_t before : {100u, 30'000u, 63'000u}) {
    Zip zip;
    zip.items = {item("x/data.bin", local), item(k_wanted, "Name: x\n"), item("x/long.bin", "l")};
    auto held = entry;
    held.replace(42, 4, std::string("\x28\0\0\0", 4)); // the data of x/data.bin: 30 + 10
    zip.items[2].central.extra = forge::field(0xCAFE, std::string(before, '-') + held);
    for (int i = 0; i < 800; ++i) zip.items.push_back(item(fmt::format("x/filler_{:04}.so", i), "f"));
    auto seen = seen_in(zip.bytes());
    EXPECT_EQ(seen.content, "Name: x\n") << before << " " << seen.code;
  }
}

// With a comment of this length, the last 60 KiB begin with the end record, and the ZIP64 records lie before them.
TEST(ZipLook, ZIP64RecordsBeforeTheTailAreSeen) {
  auto zip = wheel_of(3, 100);
  zip.comment = std::string((60u << 10) - 22 - 3, 'c');
  EXPECT_EQ(seen_in(zip.bytes()).content, "Name: x\n");
  zip.end64.emplace();
  EXPECT_EQ(seen_in(zip.bytes()).content, "Name: x\n");
  zip.end64->entries = zip.end64->disk_entries = 2;
  EXPECT_EQ(seen_in(zip.bytes()).code, "Z008");
}

TEST(ZipLook, ALongExtraFieldOfTheLocalHeaderIsReadToo) {
  auto zip = wheel_of(3, 100);
  zip.items[3].local.extra = forge::field(0x4321, std::string(60'000, 'e'));
  EXPECT_EQ(seen_in(zip.bytes()).content, "Name: x\n");
}

struct LookCase {
  const char* label;
  const char* code;
  void (*change)(Zip&);
};
void PrintTo(const LookCase& c, std::ostream* out) { *out << c.label; }

// clang-format off
const LookCase k_hostile_looks[] = {
  {"nothing after the data", "Z008", [](Zip& z) { z.central_offset = 1; }},
  {"bytes after the end", "Z009", [](Zip& z) { z.trailing = "more"; }},
  {"an entry count that is not true", "Z008", [](Zip& z) { z.entries = z.disk_entries = 9; }},
  {"the member twice", "Z001", [](Zip& z) { z.items.push_back(item(k_wanted, "Name: other\n")); }},
  {"two dist-info directories", "Z001", [](Zip& z) { z.items.push_back(item("y-1.dist-info/METADATA", "Name: y\n")); }},
  {"an offset that holds no header", "Z002", [](Zip& z) { z.items[3].offset = 5; }},
  {"an offset behind the file", "Z002", [](Zip& z) { z.items[3].offset = 0x7FFFFFFF; }},
  {"another name in the local header", "Z003", [](Zip& z) { z.items[3].local.name = "x-1.dist-info/METADATB"; }},
  {"sizes that differ", "Z004", [](Zip& z) { z.items[3].local.size = 9; }},
  {"data that reaches into the directory", "Z004", [](Zip& z) { z.items[3].both([](auto& h) { h.packed = 100'000; }); }},
  {"a wrong CRC", "Z005", [](Zip& z) { z.items[3].both([](auto& h) { h.crc = 1; }); }},
  {"more than the entry says", "Z005", [](Zip& z) { z.items[3].both([](auto& h) { h.size = 4; }); }},
  {"a data descriptor", "Z006", [](Zip& z) { z.items[3].both([](auto& h) { h.flags |= 8; }); }},
  {"an encrypted entry", "Z015", [](Zip& z) { z.items[3].both([](auto& h) { h.flags |= 1; }); }},
  {"more than was asked for", "Z016", [](Zip& z) { z.items[3].both([](auto& h) { h.size = 2u << 20; }); }},
  {"packed bytes beyond reason", "Z016", [](Zip& z) { z.items[3].both([](auto& h) { h.packed = 2u << 20; }); }},
};
// clang-format on

class ZipLookRefuses : public testing::TestWithParam<LookCase> {};
TEST_P(ZipLookRefuses, WithACode) {
  auto zip = wheel_of(3, 100);
  GetParam().change(zip);
  auto seen = seen_in(zip.bytes());
  EXPECT_EQ(seen.code, GetParam().code);
  EXPECT_EQ(seen.kind, ErrorKind::corrupt);
}
INSTANTIATE_TEST_SUITE_P(All, ZipLookRefuses, testing::ValuesIn(k_hostile_looks));

TEST(ZipLook, ADamagedEntryIsRefused) {
  auto bytes = wheel_of(3, 100).bytes();
  auto second = bytes.find("PK\1\2", bytes.find("PK\1\2") + 1);
  bytes[second + 3] = 9;
  EXPECT_EQ(seen_in(bytes).code, "Z012");
}

TEST(ZipLook, WhatIsCutOffOrNoZipIsRefusedWherever) {
  auto whole = wheel_of(3, 40'000).bytes();
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size() - 1})
    EXPECT_EQ(seen_in(whole.substr(0, size)).code.substr(0, 1), "Z") << size;
}

// The directory tells all that rules of sets ask; members of gigabytes stay where they are.
TEST(List, NamesAllMembersWithoutReadingThem) {
  auto source = std::make_shared<Watched>(wheel_of(3, 1u << 20).bytes());
  auto members = list(content::Rope::of(source), "x.whl");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 5u);
  EXPECT_EQ(members->front().name, "x/a_rather_long_name_00000.so");
  EXPECT_EQ(members->front().size, 1u << 20);
  EXPECT_EQ(members->front().crc, members->at(1).crc);
  EXPECT_EQ(members->at(3).name, k_wanted);
  EXPECT_NE(members->at(3).crc, members->at(4).crc);
  EXPECT_LT(source->read_bytes, 100u << 10);
}

// look() refuses such a directory; whoever lists one has read the archive before, and Reader takes it.
TEST(List, TakesADirectoryThatReaderTakes) {
  Zip zip;
  zip.items.clear();
  for (unsigned i = 0; i < 400; ++i) zip.items.push_back(item(fmt::format("{:050000}", i), ""));
  auto bytes = zip.bytes();
  EXPECT_EQ(seen_in(bytes).code, "Z016");
  auto members = list(content::Rope::literal(bytes), "x.whl");
  ASSERT_TRUE(members) << render(members.error());
  EXPECT_EQ(members->size(), 400u);
}

TEST(List, RefusesWhatIsNoArchive) {
  auto members = list(content::Rope::literal("not a zip file"), "x.whl");
  ASSERT_FALSE(members);
  EXPECT_EQ(members.error().code, "Z008");
}

} // namespace
} // namespace quarry::zip
