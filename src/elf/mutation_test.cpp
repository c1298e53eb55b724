// Damaged files must be refused or described, never crash, hang or be "edited" into something unsound. A seeded walk
// that runs everywhere; the fuzzers of fuzz/ go further.
#include "elf/elf_fixtures.hpp"
#include "elf/linking.hpp"

#include <cstring>
#include <fmt/core.h>
#include <random>

namespace quarry::elf {
namespace {
using namespace testing;

void exercise(const std::string& text) {
  auto file = content::Rope::literal(text);
  (void)read_facts(file, "x");
  (void)read_linking(file, "x", {{"plain", "printf"}, true});
  (void)verify(file, "x");
  Edit change;
  change.rpath = "$ORIGIN/../../somewhere/else";
  change.soname = "liblonger_than_before.so.2";
  change.replace_needed = {{"libc.so.6", "libmvec.so.1"}};
  for (bool new_segment : {false, true}) {
    change.new_segment = new_segment;
    auto result = edit(file, change, "x");
    if (result)
      EXPECT_FALSE(has_errors(verify(result->file, "x")));
    else
      EXPECT_NE(result.error().kind, ErrorKind::internal) << render(result.error());
  }
}

// Offsets that matter: the headers and all that the dynamic section names; the rest is code.
std::vector<std::size_t> interesting(const content::Rope& file) {
  std::vector<std::size_t> out;
  auto parsed = image(file);
  auto add = [&](std::uint64_t begin, std::uint64_t size) {
    for (auto i = begin; i < begin + size && i < file.size(); ++i) out.push_back(static_cast<std::size_t>(i));
  };
  add(0, 64);
  add(parsed.header.segments_at, parsed.segments.size() * 56);
  add(parsed.header.sections_at, parsed.header.section_count * 64);
  add(parsed.dynamic_segment->offset, parsed.dynamic_segment->file_size);
  for (auto tag : {DT_STRTAB, DT_SYMTAB, DT_GNU_HASH, DT_VERNEED, DT_RELA})
    if (auto value = parsed.value(tag)) add(parsed.offset_of(*value, 1).value_or(0), 200);
  return out;
}

TEST(Mutation, FlippedBits) {
  auto file = rope(library());
  const auto original = bytes(file);
  auto places = interesting(file);
  std::mt19937 random(20261121);
  for (int i = 0; i < 20'000; ++i) {
    auto text = original;
    for (auto flips = random() % 3 + 1; flips-- > 0;) {
      auto at = random() % 4 ? places[random() % places.size()] : random() % text.size();
      if (random() % 2)
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      else
        text[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 3 == 1 ? 0x7f : random() % 256);
    }
    exercise(text);
    if (HasFailure()) {
      std::string changes;
      for (std::size_t k = 0; k < text.size(); ++k)
        if (text[k] != original[k])
          changes += fmt::format(" {:#x}: {:02x}->{:02x}", k, static_cast<unsigned char>(original[k]),
                                 static_cast<unsigned char>(text[k]));
      FAIL() << "mutation " << i << changes;
    }
  }
}

TEST(Mutation, EveryLength) {
  auto original = bytes(rope(hip_library()));
  for (std::size_t length = 0; length < original.size(); length += length < 1024 ? 1 : 37)
    exercise(original.substr(0, length));
}

TEST(Mutation, BoundaryValuesInEveryHeaderWord) {
  auto file = rope(library());
  const auto original = bytes(file);
  auto parsed = image(file);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges{
      {0, 64},
      {parsed.header.segments_at, parsed.segments.size() * 56},
      {parsed.dynamic_segment->offset, parsed.dynamic.size() * 16}};
  for (auto [begin, size] : ranges)
    for (auto at = begin; at + 8 <= begin + size; at += 8)
      for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, UINT64_MAX >> 1, UINT64_MAX - 4095,
                                  std::uint64_t{1} << 63, std::uint64_t{0xffffffff}, std::uint64_t{file.size()}}) {
        auto text = original;
        std::memcpy(text.data() + at, &value, 8);
        exercise(text);
        if (HasFailure()) FAIL() << fmt::format("{:#x} at {:#x}", value, at);
      }
}

} // namespace
} // namespace quarry::elf
