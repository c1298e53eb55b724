#include "digest/crc64.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace quarry {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string noise(std::size_t size) {
  std::string out(size, 0);
  std::uint64_t state = 88172645463325252u;
  for (auto& c : out) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    c = static_cast<char>(state);
  }
  return out;
}

TEST(Crc64Nvme, CheckValues) { // the catalogue's check value, and the NVM Express specification's zeros and ones
  EXPECT_EQ(crc64nvme(0, bytes("123456789")), 0xae8b14860a799888u);
  EXPECT_EQ(crc64nvme(0, bytes(std::string(4096, '\0'))), 0x6482d367eb22b64eu);
  EXPECT_EQ(crc64nvme(0, bytes(std::string(4096, '\xff'))), 0xc0ddba7302eca3acu);
  EXPECT_EQ(crc64nvme(0, {}), 0u);
}

TEST(Crc64Nvme, FoldingIsTheTable) {
  auto text = noise(5000);
  for (std::size_t size : {0, 1, 15, 16, 63, 64, 127, 128, 129, 143, 144, 191, 192, 255, 256, 1000, 4096, 4999})
    for (std::size_t offset : {0u, 1u})
      EXPECT_EQ(crc64nvme(7, bytes(text).subspan(offset, size)),
                detail::crc64nvme_portable(7, bytes(text).subspan(offset, size)))
          << size;
}

TEST(Crc64Nvme, PiecesAreTheWhole) {
  auto text = noise(3000);
  auto whole = crc64nvme(0, bytes(text));
  for (std::size_t cut : {0u, 1u, 128u, 1500u, 3000u}) {
    auto first = crc64nvme(0, bytes(text).first(cut));
    EXPECT_EQ(crc64nvme(first, bytes(text).subspan(cut)), whole);
    EXPECT_EQ(crc64nvme_combine(first, {crc64nvme(0, bytes(text).subspan(cut)), text.size() - cut}), whole) << cut;
  }
}

TEST(Crc64Nvme, IsWrittenAsS3Does) {
  EXPECT_EQ(crc64nvme_base64(0), "AAAAAAAAAAA=");
  EXPECT_EQ(crc64nvme_base64(crc64nvme(0, bytes("123456789"))), "rosUhgp5mIg=");
}

} // namespace
} // namespace quarry
