#include "sys/memory.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

namespace quarry::sys {
namespace {

TEST(Memory, EveryByteCanBeWritten) {
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65536}, (std::size_t{2} << 20) + 1}) {
    auto bytes = allocate_bytes(size);
    ASSERT_NE(bytes, nullptr) << size;
    std::memset(bytes.get(), 0x5a, size);
    for (std::size_t i = 0; i < size; i += 4096) ASSERT_EQ(bytes[i], std::byte{0x5a}) << i;
  }
}

TEST(Memory, LargeBuffersBeginWhereAHugePageDoes) {
  auto bytes = allocate_bytes(std::size_t{5} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.get()) % (std::size_t{2} << 20), 0u);
}

} // namespace
} // namespace quarry::sys
