#include "publish/history.hpp"

#include "digest/sha256.hpp"
#include "store/testing/faulty_store.hpp"
#include <atomic>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::publish {
namespace {

constexpr std::uint64_t k_payload = 1u << 30;  // of each wheel; zeros, so that nobody has to store them
constexpr std::uint64_t k_beside = 256u << 10; // docs/formats/distributions.md
constexpr std::size_t k_wheels = 2000;

void put_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// What the local header and the central entry of a stored member share.
std::string common_part(const std::string& name, std::uint32_t crc, std::uint64_t size) {
  std::string out;
  put_number(out, 20, 2), put_number(out, 0x800, 2), put_number(out, 0, 2), put_number(out, 0x210000, 4);
  put_number(out, crc, 4), put_number(out, size, 4), put_number(out, size, 4);
  put_number(out, name.size(), 2), put_number(out, 0, 2);
  return out;
}

struct HugeWheel {
  content::Rope bytes;
  std::uint64_t directory_bytes = 0; ///< of the central directory
};

/// A wheel of a gibibyte: one stored member of zeros, then METADATA.
HugeWheel huge_wheel(std::size_t number) {
  const auto info = fmt::format("many-1.{}.dist-info/METADATA", number);
  const auto metadata = fmt::format("Metadata-Version: 2.2\nName: many\nVersion: 1.{}\n", number);
  const std::string payload = "payload.bin", local = "PK\3\4", central = "PK\1\2";
  auto crc = crc32(0, std::as_bytes(std::span(metadata)));
  std::string first = local + common_part(payload, 0, k_payload) + payload;
  std::string second = local + common_part(info, crc, metadata.size()) + info + metadata;
  std::string directory;
  auto entry = [&](const std::string& name, const std::string& common, std::uint64_t offset) {
    directory += central;
    put_number(directory, 0x0314, 2);
    directory += common;
    put_number(directory, 0, 6), put_number(directory, 0100644u << 16, 4), put_number(directory, offset, 4);
    directory += name;
  };
  entry(payload, common_part(payload, 0, k_payload), 0);
  entry(info, common_part(info, crc, metadata.size()), first.size() + k_payload);
  auto start = first.size() + k_payload + second.size();
  auto size = directory.size();
  directory += "PK\5\6";
  put_number(directory, 0, 4), put_number(directory, 2, 2), put_number(directory, 2, 2);
  put_number(directory, size, 4), put_number(directory, start, 4), put_number(directory, 0, 2);
  HugeWheel made{content::Rope::literal(first), size};
  made.bytes.append(content::Rope::zeros(k_payload)).append(content::Rope::literal(second + directory));
  return made;
}

class CountingSource : public content::Source {
public:
  CountingSource(content::Rope rope, std::atomic<std::uint64_t>& read) : rope_(std::move(rope)), read_(read) {}
  std::uint64_t size() const override { return rope_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    read_ += into.size();
    return rope_.read(offset, into);
  }

private:
  content::Rope rope_;
  std::atomic<std::uint64_t>& read_;
};

/// A prefix with wheels that are made when they are opened.
class HugePrefix : public store::testing::FaultyStore {
public:
  HugePrefix(store::ObjectStore& inner, std::atomic<std::uint64_t>& read) : FaultyStore(inner), read_(read) {}
  Result<content::Rope> do_open(const std::string& key) override {
    auto number = key.substr(key.find("1.") + 2);
    return content::Rope::of(std::make_shared<CountingSource>(huge_wheel(std::stoul(number)).bytes, read_));
  }

private:
  std::atomic<std::uint64_t>& read_;
};

TEST(UntestedHistoryOfManyWheels, ReadsLittleOfEach) {
  auto inner = store::make_memory_store();
  std::uint64_t directories = 0;
  for (std::size_t i = 0; i < k_wheels; ++i) {
    ASSERT_TRUE(inner->put(fmt::format("v4/whl/many-1.{}-py3-none-any.whl", i), content::Rope::literal("x"), {}));
    directories += huge_wheel(i).directory_bytes;
  }
  std::atomic<std::uint64_t> read = 0;
  HugePrefix prefix(*inner, read);
  HistoryOptions options;
  options.all = true;
  options.transfers = 2;
  auto plan = plan_history(prefix, {"v4/whl", *prefix.list("v4/whl/")}, options);
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_EQ(plan->files.size(), k_wheels);
  EXPECT_EQ(plan->files.back().project, "many");
  EXPECT_LE(read - directories, k_wheels * k_beside); // of two tebibytes
  EXPECT_GT(read, directories);
}

} // namespace
} // namespace quarry::publish
