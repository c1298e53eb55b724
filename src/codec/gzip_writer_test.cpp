#include "codec/gzip_writer.hpp"
#include <gtest/gtest.h>
#include <random>

namespace quarry::codec {
namespace {

std::string written(const std::string& text, unsigned workers, std::size_t step) {
  std::string packed;
  auto writer = gzip_writer({workers, {}}, [&](std::span<const std::byte> bytes) -> Result<void> {
    packed.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  for (std::size_t at = 0; at < text.size(); at += step)
    EXPECT_TRUE(writer->write(std::as_bytes(std::span(text).subspan(at, std::min(step, text.size() - at)))));
  EXPECT_TRUE(writer->finish());
  return packed;
}

std::string read_back(const std::string& packed) {
  std::string text;
  auto done = decompress(content::Rope::literal(packed), Compression::gzip,
                         [&](std::span<const std::byte> bytes) -> Result<void> {
                           text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                           return {};
                         });
  EXPECT_TRUE(done);
  return text;
}

std::string text_of(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < size) text += "word " + std::to_string(random() % 5000) + (text.size() % 7 ? " " : "\n");
  text.resize(size);
  return text;
}

TEST(GzipWriter, IsReadBackWhateverTheSize) {
  constexpr std::size_t k_mib = 1 << 20;
  for (auto size : {std::size_t{0}, std::size_t{1}, k_mib - 1, k_mib, k_mib + 1, 4 * k_mib, 4 * k_mib + 1, 9 * k_mib}) {
    auto text = text_of(size);
    EXPECT_TRUE(read_back(written(text, 2, 100'000)) == text) << size;
  }
}

TEST(GzipWriter, GivesTheSameBytesForAnyNumberOfWorkersAndAnyCut) {
  auto text = text_of(6 << 20);
  auto one = written(text, 1, text.size());
  EXPECT_TRUE(written(text, 4, 65'537) == one);
  EXPECT_TRUE(written(text, 2, 1 << 20) == one);
  EXPECT_LT(one.size(), text.size() / 2);
}

TEST(GzipWriter, PassesErrorsOn) {
  int calls = 0;
  auto writer = gzip_writer({2, {}}, [&](std::span<const std::byte>) -> Result<void> {
    if (++calls < 2) return {};
    return fail(ErrorKind::resource_exhausted, "D001", "the disk is full");
  });
  auto text = text_of(6 << 20);
  auto written = writer->write(std::as_bytes(std::span(text)));
  if (written) written = writer->finish();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, "D001");
}

} // namespace
} // namespace quarry::codec
