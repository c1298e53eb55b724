#include "content/rope.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace quarry::content {
namespace {

std::string read(const Rope& rope) { return rope.read_all(1u << 24).value(); }

class TemporaryDirectory {
public:
  std::string path = sys::make_temporary_directory(::testing::TempDir(), "quarry-rope-").value();
  ~TemporaryDirectory() { (void)sys::remove_tree(path); }
  std::string file(const std::string& name, std::string_view content) const {
    EXPECT_TRUE(sys::File::create(path + "/" + name)->write(content)); // without the sync of write_file
    return path + "/" + name;
  }
};

TEST(Rope, EmptyRopes) {
  Rope rope;
  EXPECT_TRUE(rope.empty());
  EXPECT_EQ(read(rope), "");
  EXPECT_EQ(rope.slice(0, 0).size(), 0u);
  EXPECT_EQ(rope.append(Rope()).size(), 0u);
  EXPECT_EQ(Rope::literal("").piece_count(), 0u);
  EXPECT_EQ(Rope::zeros(0).piece_count(), 0u);
}

TEST(Rope, NeighbouringPiecesBecomeOne) {
  auto text = Rope::literal("0123456789");
  auto again = text.slice(0, 4);
  again.append(text.slice(4, 6));
  EXPECT_EQ(again.piece_count(), 1u);
  EXPECT_EQ(Rope::zeros(5).append(Rope::zeros(7)).piece_count(), 1u);
  auto swapped = text.slice(4, 6);
  swapped.append(text.slice(0, 4));
  EXPECT_EQ(swapped.piece_count(), 2u);
  EXPECT_EQ(read(swapped), "4567890123");
}

TEST(Rope, AppendsItself) {
  auto rope = Rope::literal("ab");
  rope.append(rope);
  EXPECT_EQ(read(rope), "abab");
}

TEST(Rope, ReadOutsideIsRefused) {
  auto rope = Rope::literal("abc");
  std::array<std::byte, 4> four{};
  EXPECT_FALSE(rope.read(0, four));
  EXPECT_FALSE(rope.read(UINT64_MAX, std::span(four).first(1)));
  EXPECT_FALSE(rope.read(3, std::span(four).first(1)));
  EXPECT_TRUE(rope.read(3, {}));
  EXPECT_EQ(rope.read_all(2).error().code, "D003");
}

// Random operations on a rope and on a string must stay equal.
TEST(Rope, BehavesLikeAString) {
  TemporaryDirectory directory;
  std::mt19937 random(7);
  auto number = [&](std::size_t below) { return static_cast<std::size_t>(random() % (below + 1)); };
  std::string file_text;
  for (int i = 0; i < 5000; ++i) file_text += static_cast<char>(random() % 256);
  auto file = Rope::file(directory.file("data", file_text)).value();
  for (int round = 0; round < 60; ++round) {
    Rope rope;
    std::string model;
    for (int step = 0; step < 60; ++step) {
      switch (random() % 6) {
      case 0: {
        std::string text(number(20), static_cast<char>('a' + random() % 26));
        rope.append(Rope::literal(text));
        model += text;
        break;
      }
      case 1: {
        auto n = number(40);
        rope.append(Rope::zeros(n));
        model += std::string(n, '\0');
        break;
      }
      case 2: {
        auto at = number(file_text.size()), n = number(std::min<std::size_t>(300, file_text.size() - at));
        rope.append(file.slice(at, n));
        model += file_text.substr(at, n);
        break;
      }
      case 3: {
        auto at = number(model.size()), n = number(model.size() - at);
        rope = rope.slice(at, n);
        model = model.substr(at, n);
        break;
      }
      case 4: {
        auto at = number(model.size()), n = number(std::min<std::size_t>(30, model.size() - at));
        std::string text(n, '#');
        rope = rope.overlay(at, text);
        model.replace(at, n, text);
        break;
      }
      case 5: {
        auto at = number(model.size()), n = number(model.size() - at);
        std::string part(n, 'x');
        ASSERT_TRUE(rope.read(at, std::as_writable_bytes(std::span(part))));
        ASSERT_EQ(part, model.substr(at, n));
        auto copy = rope.slice(at, n);
        ASSERT_TRUE(same_piece({rope, at}, {copy, 0}, n));
        break;
      }
      }
      if (model.size() > 20'000) rope = rope.slice(0, 100), model.resize(100);
      ASSERT_EQ(rope.size(), model.size());
    }
    ASSERT_EQ(read(rope), model);
    ASSERT_EQ(sha256_of(rope).value(), sha256(model));
  }
}

TEST(Rope, SamePieceMeansTheSameBytesOfTheSameSource) {
  auto a = Rope::literal("hello world"), b = Rope::literal("hello world");
  EXPECT_TRUE(same_piece({a, 2}, {a, 2}, 5));
  EXPECT_FALSE(same_piece({a, 2}, {b, 2}, 5)); // equal bytes, another source
  EXPECT_FALSE(same_piece({a, 2}, {a, 3}, 5));
  auto changed = a.overlay(4, "o");
  EXPECT_FALSE(same_piece({a, 0}, {changed, 0}, 11));
  EXPECT_TRUE(same_piece({a, 0}, {changed, 0}, 4));
  EXPECT_TRUE(same_piece({a, 5}, {changed, 5}, 6));
  EXPECT_TRUE(same_piece({Rope::zeros(9), 0}, {Rope::zeros(5), 0}, 5));
}

TEST(Rope, OverlayOutlivesWhatItWasMadeFrom) {
  Rope edited;
  {
    auto base = Rope::literal("immutable");
    edited = base.overlay(2, "XX");
    EXPECT_EQ(read(base), "immutable");
  }
  EXPECT_EQ(read(edited), "imXXtable");
}

TEST(Rope, AHintReachesTheSourcesOfItsPlaceAndNoFurther) {
  struct Told final : Source {
    std::uint64_t size() const override { return 100; }
    Result<void> read(std::uint64_t, std::span<std::byte>) const override { return {}; }
    void prefetch(std::uint64_t offset, std::uint64_t length) const override { told.emplace_back(offset, length); }
    mutable std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  };
  auto one = std::make_shared<Told>(), two = std::make_shared<Told>();
  auto rope = Rope::of(one).slice(10, 50).append(Rope::zeros(20)).append(Rope::literal("abc")).append(Rope::of(two));
  rope.prefetch(40, 40);
  rope.prefetch(170, 100); // ends behind the rope
  rope.prefetch(173, 1);   // lies behind it
  using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(one->told, (Places{{50, 10}}));
  EXPECT_EQ(two->told, (Places{{0, 7}, {97, 3}}));
}

TEST(Rope, ManyFilesNeedFewDescriptors) {
  TemporaryDirectory directory;
  Rope all;
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    auto text = "file " + std::to_string(i) + "\n";
    all.append(Rope::file(directory.file(std::to_string(i), text), text.size()));
    expected += text;
  }
  EXPECT_EQ(read(all), expected);
  EXPECT_EQ(read(all), expected);
}

TEST(Rope, AFileThatBecameShorterIsCorrupt) {
  TemporaryDirectory directory;
  auto path = directory.file("shrinks", "0123456789");
  auto rope = Rope::file(path).value();
  ASSERT_TRUE(sys::File::create(path));
  auto result = rope.read_all(100);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "D008");
  EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
}

// The listing said 100 bytes: more of them would be cut off without a word.
TEST(Rope, AFileThatGrewSinceItWasListedIsCorrupt) {
  TemporaryDirectory directory;
  auto path = directory.file("f", std::string(101, 'x'));
  auto rope = Rope::file(path, 100);
  std::array<std::byte, 10> some{};
  auto early = rope.read(0, some);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, "D008");
  EXPECT_EQ(early.error().kind, ErrorKind::corrupt);
}

struct Change {
  const char* name;
  void (*make)(const std::string& path);
  bool of_the_open_file = true; ///< false: the open descriptor still has all of the old file
};
class RopeOfAFileThatChanges : public ::testing::TestWithParam<Change> {};
// Between the first read and the last, whether the descriptor is still open or was closed for others.
TEST_P(RopeOfAFileThatChanges, IsCorrupt) {
  for (bool evicted : {false, true}) {
    TemporaryDirectory directory;
    auto path = directory.file("f", std::string(5000, 'x'));
    auto rope = Rope::file(path).value();
    std::array<std::byte, 1000> some{};
    ASSERT_TRUE(rope.read(0, some));
    GetParam().make(path);
    for (int i = 0; evicted && i < 64; ++i)
      ASSERT_TRUE(Rope::file(directory.file(std::to_string(i), "yy"))->read(0, std::span(some).first(1)));
    auto last = rope.read(4000, some);
    ASSERT_EQ(last.has_value(), !evicted && !GetParam().of_the_open_file) << evicted;
    if (last) continue;
    EXPECT_EQ(last.error().code, "D008");
  }
}
// A date of its own, since the clock of file systems may not have moved between two writes.
void write_at(const std::string& path, std::uint64_t offset, std::string_view text) {
  auto file = sys::File(::open(path.c_str(), O_RDWR));
  ASSERT_TRUE(file.write_at(offset, std::as_bytes(std::span(text))));
  timespec times[2]{{1, 0}, {1, 0}};
  ASSERT_EQ(::futimens(file.descriptor(), times), 0);
}
INSTANTIATE_TEST_SUITE_P(
    , RopeOfAFileThatChanges,
    ::testing::Values(Change{"Grows", [](const std::string& path) { write_at(path, 5000, "more"); }},
                      Change{"IsWrittenTo", [](const std::string& path) { write_at(path, 4500, "other"); }},
                      Change{"IsReplaced",
                             [](const std::string& path) {
                               ASSERT_TRUE(sys::write_file(path + ".new", std::string(5000, 'z')));
                               ASSERT_TRUE(sys::rename(path + ".new", path));
                             },
                             false}),
    [](const auto& made) { return std::string(made.param.name); });

// A descriptor outlives the name: reading goes on in the file that was opened.
TEST(Rope, AFileThatIsRemovedStaysReadableWhileItIsOpen) {
  TemporaryDirectory directory;
  auto path = directory.file("f", "0123456789");
  auto rope = Rope::file(path).value();
  std::array<std::byte, 4> some{};
  ASSERT_TRUE(rope.read(0, some));
  ASSERT_TRUE(sys::remove_file(path));
  EXPECT_EQ(read(rope), "0123456789");
}

TEST(Rope, AMissingFileIsNotFound) {
  EXPECT_EQ(Rope::file("/nonexistent/file").error().kind, ErrorKind::not_found);
  EXPECT_EQ(Rope::file("/nonexistent/file", 5).read_all(9).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(Rope::file("/"));
}

TEST(Pump, HandsOverEachByteOnceInBoundedChunks) {
  auto rope = Rope::zeros(3 << 20);
  rope.append(Rope::literal("end"));
  std::uint64_t total = 0;
  std::size_t largest = 0;
  ASSERT_TRUE(pump(rope, [&](std::span<const std::byte> chunk) -> Result<void> {
    total += chunk.size();
    largest = std::max(largest, chunk.size());
    return {};
  }));
  EXPECT_EQ(total, rope.size());
  EXPECT_LE(largest, 1u << 20);
}

// In a process of its own, since an interruption cannot be taken back.
TEST(Sha256OfRopeDeathTest, StopsWhenInterrupted) {
  auto digest_interrupted = [] {
    sys::install_interrupt_handlers();
    ::raise(SIGINT);
    auto digest = sha256_of(Rope::zeros(5 << 20));
    ::_exit(!digest && digest.error().code == "D006" ? 0 : 1);
  };
  EXPECT_EXIT(digest_interrupted(), ::testing::ExitedWithCode(0), "");
}

TEST(Pump, StopsAtTheFirstError) {
  int calls = 0;
  auto result = pump(Rope::zeros(5 << 20), [&](std::span<const std::byte>) -> Result<void> {
    ++calls;
    return fail(ErrorKind::cancelled, "D006", "stop");
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace quarry::content
