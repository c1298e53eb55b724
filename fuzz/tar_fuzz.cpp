// A compressed tar: the first byte chooses the compression. Members must come with exactly the bytes they declare.
#include "fuzzing.hpp"
#include "tar/tar.hpp"

using namespace quarry;

namespace {
struct Checker final : tar::Visitor {
  Result<void> begin(const tar::Member& member) override {
    fuzzing::require(!member.path.empty() && member.path[0] != '/' && member.path.size() <= 4096);
    left = member.size;
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    fuzzing::require(chunk.size() <= left);
    left -= chunk.size();
    return {};
  }
  Result<void> end() override {
    fuzzing::require(left == 0);
    return {};
  }
  std::uint64_t left = 0;
};
constexpr std::uint64_t k_bytes_max = 16u << 20; // of one input, unpacked: more only costs time
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto compression = static_cast<codec::Compression>(data[0] % 4);
  Checker checker;
  tar::Reader reader(checker, "x.tar");
  std::uint64_t total = 0;
  auto done = codec::decompress(fuzzing::as_rope(data + 1, size - 1), compression,
                                [&](std::span<const std::byte> chunk) -> Result<void> {
                                  total += chunk.size();
                                  if (total > k_bytes_max) return fail(ErrorKind::cancelled, "D006", "enough");
                                  return reader.feed(chunk);
                                });
  if (done) (void)reader.finish();
  return 0;
}
