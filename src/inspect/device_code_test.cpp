#include "inspect/device_code.hpp"

#include "gpu/gpu_forge_for_test.hpp"
#include "inspect/sketch.hpp"
#include "sys/file.hpp"
#include "zip/forge_for_test.hpp"
#include <filesystem>
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {
namespace code = gpu::forge;

class DeviceCodeTest : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "device_code_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/spool");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string write(const std::string& name, const std::string& bytes) {
    auto path = root_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(sys::write_file(path, bytes));
    return path;
  }
  /// "PATH: gfx942 gfx1030 …" for each file, the paths without the directory of the test.
  std::string listed(const std::vector<std::string>& operands) {
    std::vector<DeviceOperand> given;
    for (const auto& path : operands) given.push_back({path});
    return shown(list_device_code(given, {2, root_ + "/spool"}));
  }
  std::string shown(const Result<DeviceCode>& found) {
    if (!found) return found.error().code + " " + found.error().message;
    std::string out;
    for (const auto& file : found->files) {
      out += file.path.substr(root_.size() + 1) + ":";
      for (const auto& object : file.contents.objects) out += fmt::format(" {} {}", object.target.str(), object.bytes);
      for (const auto& finding : file.contents.findings) out += " " + finding.code;
      out += "\n";
    }
    return out;
  }
  std::string root_;
};

std::string a_bundle(std::size_t size = 5000) {
  return code::bundle({code::device("gfx942", code::code(code::k_gfx942, size)),
                       code::device("gfx1030", code::code(code::k_gfx1030, size))});
}
std::string code_library(std::size_t size = 5000) {
  return code::library(
      {{".text", std::string(200'000, 't'), {}, {}},
       {".hip_fatbin", code::linked({a_bundle(size), code::compressed(a_bundle(size)), a_bundle(size)}), {}, {}}});
}
std::string targets(std::size_t size, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += fmt::format(" gfx942 {} gfx1030 {}", size, size);
  return out + "\n";
}

std::string wheel_of(std::vector<zip::forge::Item> items) {
  zip::forge::Zip zip;
  zip.items = std::move(items);
  return zip.bytes();
}

TEST_F(DeviceCodeTest, FilesAndDirectories) {
  write("d/lib/liba.so", code_library());
  write("d/lib/readme.txt", "text");
  write("d/lib/rocblas/library/k_gfx942.co", code::code(code::k_gfx942));
  write("d/share/miopen/db/gfx942130.db.txt", "tuning");
  std::filesystem::create_symlink("liba.so", root_ + "/d/lib/liba.so.1");
  EXPECT_EQ(listed({root_ + "/d"}),
            "d/lib/liba.so:" + targets(5000, 3) +
                "d/lib/rocblas/library/k_gfx942.co: gfx942 5000\nd/share/miopen/db/gfx942130.db.txt:\n");
  EXPECT_EQ(listed({root_ + "/d/lib/liba.so.1"}), "d/lib/liba.so.1:" + targets(5000, 3));
}

TEST_F(DeviceCodeTest, FilesThatAreOnlyNamedLikeCode) {
  using zip::forge::item;
  auto text = std::string(4000, 't');
  for (bool deflated : {false, true}) {
    auto wheel = write("x.whl", wheel_of({item("p/k.hsaco", text, deflated), item("p/empty.hsaco", "", deflated),
                                          item("p/rocblas/library/q_gfx942.co", text, deflated)}));
    EXPECT_EQ(listed({wheel}),
              "x.whl!p/k.hsaco: G117\nx.whl!p/empty.hsaco: G117\nx.whl!p/rocblas/library/q_gfx942.co: G117\n");
  }
  auto loose = listed({write("k.hsaco", text), write("rocblas/library/e_gfx942.co", ""), write("notes.co", text)});
  EXPECT_EQ(loose, "k.hsaco: G117\nrocblas/library/e_gfx942.co: G117\n");
}

TEST_F(DeviceCodeTest, MembersOfAWheelStoredAndDeflated) {
  using zip::forge::item;
  auto wheel =
      write("x.whl", wheel_of({item("p/stored.so", code_library()), item("p/deflated.so", code_library(), true),
                               item("p/a.py", std::string(3000, 'p'), true),
                               item("p/rocblas/library/k_gfx942.co", code::compressed(a_bundle()), true),
                               item("p/b.hsaco", code::code(code::k_gfx942), true)}));
  EXPECT_EQ(listed({wheel}), "x.whl!p/stored.so:" + targets(5000, 3) + "x.whl!p/deflated.so:" + targets(5000, 3) +
                                 "x.whl!p/rocblas/library/k_gfx942.co:" + targets(5000, 1) +
                                 "x.whl!p/b.hsaco: gfx942 5000\n");
}

TEST_F(DeviceCodeTest, ABundleAtAnUnusualPlaceIsReadAgain) {
  // The entries begin at no multiple of 4096: the sketch of the member does not have their headers.
  std::string padding(300'000, 'x'), item = code::code(code::k_gfx942, 3000);
  code::Item first = code::device("gfx1030", code::code(code::k_gfx1030, 300'000)), second = code::device("gfx942", "");
  auto bundle = code::bundle({first});
  second.offset = bundle.size() + 77, second.size = item.size();
  auto odd = code::bundle({first, second});
  odd.resize(bundle.size() + 77), odd += item;
  auto library = code::library({{".hip_fatbin", odd, {}, {}}, {".data", std::string(17u << 20, 'd'), {}, {}}});
  auto wheel = write("x.whl", wheel_of({zip::forge::item("p/odd.so", library, true)}));
  EXPECT_EQ(listed({wheel}), "x.whl!p/odd.so: gfx1030 300000 gfx942 3000\n");
}

/// Bytes that come over a network: counts them, and fails from some place on.
class Far final : public content::Source {
public:
  explicit Far(content::Rope rope) : rope_(std::move(rope)) {}
  std::uint64_t size() const override { return rope_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (fetched + into.size() > fetched_max) return fail(ErrorKind::corrupt, "K022", "replaced");
    fetched += into.size();
    return rope_.read(offset, into);
  }
  mutable std::uint64_t fetched = 0;
  std::uint64_t fetched_max = UINT64_MAX;

private:
  content::Rope rope_;
};

TEST_F(DeviceCodeTest, AFarWheelIsListedLikeOneHereAndMostOfItStaysThere) {
  using zip::forge::item;
  auto wheel = write(
      "x.whl", wheel_of({item("p/stored.so", code_library() + std::string(9u << 20, 'e')),
                         item("p/deflated.so", code_library(), true), item("p/data.bin", std::string(9u << 20, 'd'))}));
  auto far = std::make_shared<Far>(content::Rope::file(wheel).value());
  EXPECT_EQ(shown(list_device_code({{wheel, content::Rope::of(far), true}}, {2, root_ + "/spool"})), listed({wheel}));
  EXPECT_LT(far->fetched, 1u << 20);
  auto library = write("liba.so", code_library());
  auto bytes = content::Rope::of(std::make_shared<Far>(content::Rope::file(library).value()));
  EXPECT_EQ(shown(list_device_code({{library, bytes, true}}, {2, root_ + "/spool"})), listed({library}));
}

TEST_F(DeviceCodeTest, AFarWheelThatIsReplacedIsNotCalledDamaged) {
  using zip::forge::item;
  auto wheel = write("x.whl", wheel_of({item("p/a.so", code_library() + std::string(1u << 20, 'e')),
                                        item("p/b.so", code_library() + std::string(1u << 20, 'e'))}));
  std::uint64_t all = 0;
  auto listed_up_to = [&](std::uint64_t bytes) {
    auto far = std::make_shared<Far>(content::Rope::file(wheel).value());
    far->fetched_max = bytes;
    auto said = shown(list_device_code({{wheel, content::Rope::of(far), true}}, {2, root_ + "/spool"}));
    all = far->fetched;
    return said;
  };
  EXPECT_EQ(listed_up_to(UINT64_MAX), listed({wheel}));
  ASSERT_GT(all, 128u << 10);
  for (std::uint64_t bytes = 0, whole = all; bytes < whole; bytes += 32u << 10)
    EXPECT_EQ(listed_up_to(bytes).substr(0, 4), "K022") << bytes;
}

TEST_F(DeviceCodeTest, WhatCannotBeRead) {
  EXPECT_EQ(listed({root_ + "/none.so"}).substr(0, 4), "D001");
  EXPECT_EQ(listed({write("x.whl", "no zip")}).substr(0, 4), "G110");
  EXPECT_EQ(listed({write("cut.so", code_library().substr(0, 250'000))}), "cut.so: G101\n");
}

TEST(Sketch, ReadsWhatItKeptAndSaysWhatItLacks) {
  std::string file = code_library(40'000) + std::string(40u << 20, 'e');
  file.replace(file.size() - 3, 3, "end");
  Sketch sketch(file.size());
  for (std::size_t at = 0; at < file.size(); at += 70'001)
    sketch.feed(std::as_bytes(std::span(file).subspan(at, std::min<std::size_t>(70'001, file.size() - at))));
  sketch.end_of_file();
  EXPECT_EQ(sketch.size(), file.size());
  auto at = [&](std::uint64_t offset, std::size_t size) {
    std::string out(size, '\0');
    auto done = sketch.read(offset, std::as_writable_bytes(std::span(out)));
    return done ? out : done.error().code;
  };
  EXPECT_EQ(at(0, 60'000), file.substr(0, 60'000));
  EXPECT_EQ(at(file.size() - 100, 100), file.substr(file.size() - 100));
  auto end = file.size() - (8u << 20); // the last 8 MiB are kept
  EXPECT_EQ(at(end, 10), file.substr(end, 10));
  auto bundle = file.find("__CLANG_OFFLOAD_BUNDLE__");
  EXPECT_EQ(at(bundle + 10, 4000), file.substr(bundle + 10, 4000));
  EXPECT_EQ(at(15u << 20, 10), "eeeeeeeeee"); // the front of a library has its symbols
  EXPECT_FALSE(sketch.missed());
  EXPECT_EQ(at(20u << 20, 10), "G111");
  EXPECT_TRUE(sketch.missed());
}

} // namespace
} // namespace quarry::inspect
