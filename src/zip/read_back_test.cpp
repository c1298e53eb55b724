#include "zip/read_back.hpp"

#include "codec/deflate_chunk.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "zip/piece.hpp"
#include "zip/writer.hpp"
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace quarry::zip {
namespace {

constexpr std::size_t k_chunk = codec::k_chunk_bytes;

std::string text_of(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text += "line " + std::to_string(random() % 5000) + '\n';
  text.resize(size);
  return text;
}

struct Made {
  Written written;
  std::string archive;
};

class ReadBack : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "zip-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  Made packed(const Entry& entry, codec::Profile profile = codec::Profile::release) {
    auto path = directory_ + "/x.zip";
    Report report;
    {
      auto file = sys::File::create(path).value();
      report = write({entry}, {}, {profile, 2, {}, 1000}, file).value();
    }
    return {report.entries.at(0), sys::read_file(path, 1u << 30).value()};
  }
  static Reader opened(const std::string& archive) {
    Findings findings;
    return Reader::open(content::Rope::literal(archive), "x.zip", findings, {.ratio_max = 2000}).value();
  }
  static bool reads(const std::string& archive, const content::Rope& content, std::span<const std::uint32_t> pieces) {
    auto zip = opened(archive);
    auto same = inflates_to(zip, zip.members().at(0), {content, pieces, 3});
    return same.value();
  }
  std::string directory_;
};

/// `content` as a file has it: its zeros are bytes.
content::Rope as_bytes(const content::Rope& content) {
  return content::Rope::literal(content.read_all(1u << 30).value());
}

/// Text, zeros as thinning leaves them, text: three pieces that are zeros behind zeros.
content::Rope with_zeros() {
  auto rope = content::Rope::literal(text_of(k_chunk + 70'000, 1));
  rope.append(content::Rope::zeros(5 * k_chunk)).append(content::Rope::literal(text_of(100'000, 2)));
  return rope;
}

TEST_F(ReadBack, ComparesEachPiece) {
  for (auto profile : {codec::Profile::release, codec::Profile::ci}) {
    const auto content = with_zeros();
    auto made = packed({"x", content}, profile);
    const auto& pieces = made.written.pieces;
    ASSERT_EQ(pieces.size(), 7u);
    EXPECT_TRUE(reads(made.archive, content, pieces));
    EXPECT_TRUE(reads(made.archive, content, {}));
    for (std::uint64_t place : {std::uint64_t{0}, k_chunk + 80'000, 4 * k_chunk + 5, content.size() - 1})
      for (const auto& how : {std::span<const std::uint32_t>(pieces), std::span<const std::uint32_t>()})
        EXPECT_FALSE(reads(made.archive, content.overlay(place, "\x01"), how)) << place;
    EXPECT_FALSE(reads(made.archive, content.slice(0, content.size() - 1), pieces));
  }
}

TEST_F(ReadBack, ZerosThatNobodyWritesToMemoryPackLikeThoseOfAFile) {
  for (auto profile : {codec::Profile::stored, codec::Profile::ci, codec::Profile::release}) {
    for (const auto& content : {with_zeros(), content::Rope::zeros(2 * k_chunk + 5), content::Rope::zeros(7),
                                content::Rope::zeros(k_chunk).append(content::Rope::literal("end"))}) {
      auto made = packed({"x", content}, profile);
      EXPECT_EQ(made.archive, packed({"x", as_bytes(content)}, profile).archive) << content.size();
      EXPECT_EQ(made.written.sha256, content::sha256_of(content).value());
      EXPECT_TRUE(reads(made.archive, content, made.written.pieces));
      EXPECT_TRUE(reads(made.archive, as_bytes(content), made.written.pieces));
    }
  }
}

TEST_F(ReadBack, LeavesStoredChunksAloneWhileOthersFollow) {
  const auto content = content::Rope::literal(text_of(3 * k_chunk + 9, 10));
  auto made = packed({"x", content}, codec::Profile::stored);
  auto zip = opened(made.archive);
  std::array<std::vector<std::byte>, 4> buffers;
  std::vector<std::span<const std::byte>> chunks;
  auto tap = [&](std::span<const std::byte> chunk) -> Result<void> {
    chunks.push_back(chunk);
    return {};
  };
  ASSERT_TRUE(zip.read(zip.members().at(0), tap, {nullptr, buffers}));
  ASSERT_EQ(chunks.size(), buffers.size());
  Sha256Hasher hasher;
  for (const auto& chunk : chunks) hasher.update(chunk);
  EXPECT_EQ(hasher.finish(), made.written.sha256);
}

TEST_F(ReadBack, ReadsThePiecesOfZerosThatItDoesNotInflate) {
  const auto content = with_zeros();
  auto made = packed({"x", content});
  std::uint64_t begin = opened(made.archive).members().at(0).data_offset;
  for (std::size_t i = 0; i < made.written.pieces.size(); ++i) {
    auto damaged = made.archive;
    damaged[begin + made.written.pieces[i] / 2] ^= 4;
    EXPECT_FALSE(reads(damaged, content, made.written.pieces)) << i;
    begin += made.written.pieces[i];
  }
}

TEST_F(ReadBack, RefusesPiecesThatDoNotFit) {
  const auto content = with_zeros();
  auto made = packed({"x", content});
  auto pieces = made.written.pieces;
  ++pieces[2], --pieces[3];
  EXPECT_FALSE(reads(made.archive, content, pieces));
  pieces = made.written.pieces;
  pieces.back() -= 1;
  EXPECT_FALSE(reads(made.archive, content, pieces));
  pieces = made.written.pieces;
  pieces[5] += pieces[6];
  pieces.pop_back();
  EXPECT_FALSE(reads(made.archive, content, pieces));
}

TEST_F(ReadBack, HasNoPiecesOfWhatIsStoredOrSmall) {
  EXPECT_TRUE(packed({"x", content::Rope::literal(text_of(k_chunk, 3))}).written.pieces.empty());
  std::mt19937 random(4);
  std::string noise(2 * k_chunk, '\0');
  for (auto& c : noise) c = static_cast<char>(random());
  const auto content = content::Rope::literal(noise);
  auto made = packed({"x", content});
  EXPECT_TRUE(made.written.pieces.empty());
  EXPECT_TRUE(reads(made.archive, content, made.written.pieces));
}

TEST(PieceInflater, WantsTheEndOfABlock) {
  codec::ChunkEncoder encoder(codec::Profile::release);
  auto data = text_of(200'000, 5);
  auto bytes = std::as_bytes(std::span(data));
  std::vector<std::byte> out(codec::encoded_bytes_max(data.size()));
  auto size = encoder.encode({bytes, {}, false}, out).size;
  std::span<const std::byte> piece(out.data(), size);
  PieceInflater inflater;
  EXPECT_TRUE(inflater.gives({piece, {}, false}, bytes));
  EXPECT_FALSE(inflater.gives({piece, {}, true}, bytes)); // the stream goes on
  for (std::size_t less = 1; less <= 6; ++less)           // all of the data, and a block that has not ended
    EXPECT_FALSE(inflater.gives({piece.first(size - less), {}, false}, bytes)) << less;
  EXPECT_FALSE(inflater.gives({std::span<const std::byte>(out.data(), size + 1), {}, false}, bytes));
  EXPECT_FALSE(inflater.gives({piece, {}, false}, bytes.first(bytes.size() - 1)));
  size = encoder.encode({bytes, {}, true}, out).size;
  EXPECT_TRUE(inflater.gives({{out.data(), size}, {}, true}, bytes));
  EXPECT_FALSE(inflater.gives({{out.data(), size}, {}, false}, bytes));
}

/// The cuts of the only member.
Cuts cuts_of(const Reader& zip) {
  Cuts cuts;
  EXPECT_TRUE(zip.read(zip.members().at(0), [](std::span<const std::byte>) -> Result<void> { return {}; }, {&cuts}));
  return cuts;
}

TEST_F(ReadBack, FindsWhereThePiecesOfAStreamBegin) {
  for (auto profile : {codec::Profile::release, codec::Profile::ci}) {
    auto made = packed({"x", content::Rope::literal(text_of(4 * k_chunk + 9, 6))}, profile);
    auto zip = opened(made.archive);
    Cuts expected{0};
    for (std::size_t i = 0; i + 1 < made.written.pieces.size(); ++i)
      expected.push_back(expected.back() + made.written.pieces[i]);
    EXPECT_EQ(cuts_of(zip), expected);
  }
}

TEST_F(ReadBack, TakesChunksOfAnOldStreamIfTheyGiveTheSameBytes) {
  auto text = text_of(4 * k_chunk + 9, 7);
  auto old = packed({"x", content::Rope::literal(text)}, codec::Profile::ci);
  auto zip = opened(old.archive);
  const auto cuts = cuts_of(zip);
  auto stream = std::make_shared<OldStream>();
  stream->bytes = zip.archive().slice(zip.members().at(0).data_offset, old.written.stored_size);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    stream->chunks[i] = {cuts[i], static_cast<std::uint32_t>(cuts[i + 1] - cuts[i])};
  text[k_chunk + 100] ^= 1; // chunk 1 is another one; what is said of it is wrong, and seen to be wrong
  const auto content = content::Rope::literal(text);
  auto plain = packed({"x", content}), made = packed({"x", content, false, stream});
  EXPECT_TRUE(reads(made.archive, content, made.written.pieces));
  EXPECT_TRUE(reads(made.archive, content, {}));
  EXPECT_EQ(made.written.pieces[0], old.written.pieces[0]);
  EXPECT_EQ(made.written.pieces[1], plain.written.pieces[1]);
  EXPECT_EQ(made.written.pieces[3], old.written.pieces[3]);
  EXPECT_NE(made.written.pieces[0], plain.written.pieces[0]);
  EXPECT_EQ(made.written.sha256, plain.written.sha256);
}

/// Whether the member reads back as `content`, of which pieces were taken from `stream`.
bool reads_taken(const Made& made, const content::Rope& content, const OldStream& stream) {
  Findings findings;
  auto zip = Reader::open(content::Rope::literal(made.archive), "x.zip", findings, {.ratio_max = 2000}).value();
  const auto& written = made.written;
  return inflates_to(zip, zip.members().at(0), {content, written.pieces, 3, written.taken, &stream}).value();
}

TEST_F(ReadBack, ComparesTakenPiecesWithTheOldStream) {
  const auto content = content::Rope::literal(text_of(4 * k_chunk + 9, 7));
  auto old = packed({"x", content}, codec::Profile::ci);
  const auto begin = opened(old.archive).members().at(0).data_offset;
  auto stream = std::make_shared<OldStream>();
  stream->bytes = content::Rope::literal(old.archive).slice(begin, old.written.stored_size);
  std::uint64_t at = 0;
  for (std::size_t i : {0u, 1u, 2u}) {
    if (i != 1) stream->chunks[i] = {at, old.written.pieces[i]}; // chunk 1 is packed
    at += old.written.pieces[i];
  }
  auto made = packed({"x", content, false, stream});
  EXPECT_EQ(made.written.taken, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(reads_taken(made, content, *stream));
  EXPECT_FALSE(reads_taken(made, content.overlay(100, "\x01"), *stream)); // by its CRC
  auto place = opened(made.archive).members().at(0).data_offset;
  for (std::size_t i = 0; i < 3; ++i) {
    auto damaged = made;
    damaged.archive[place + made.written.pieces[i] / 2] ^= 4;
    EXPECT_FALSE(reads_taken(damaged, content, *stream)) << i;
    place += made.written.pieces[i];
  }
  auto other = *stream;
  other.bytes = other.bytes.overlay(stream->chunks[2].begin + 50, "other");
  EXPECT_FALSE(reads_taken(made, content, other));
}

TEST_F(ReadBack, PacksWhatAnOldStreamDoesNotHold) {
  const auto content = content::Rope::literal(text_of(3 * k_chunk, 8));
  auto plain = packed({"x", content});
  auto stream = std::make_shared<OldStream>();
  stream->bytes = content::Rope::literal("not a stream");
  stream->chunks = {{0, {0, 12}}, {1, {3, 0}}};
  auto made = packed({"x", content, false, stream});
  EXPECT_EQ(made.archive, plain.archive);
}

TEST_F(ReadBack, FailsIfAnOldStreamCannotBeRead) {
  auto path = directory_ + "/old";
  std::ofstream(path) << std::string(100, 'x');
  auto stream = std::make_shared<OldStream>();
  stream->bytes = content::Rope::file(path).value();
  stream->chunks = {{0, {0, 100}}};
  std::filesystem::resize_file(path, 10); // the old wheel shrinks while it is thinned
  auto file = sys::File::create(directory_ + "/x.zip").value();
  const Entry entry{"x", content::Rope::literal(text_of(2 * k_chunk, 9)), false, stream};
  EXPECT_FALSE(write({entry}, {}, {codec::Profile::release, 2, {}, 1000}, file));
}

} // namespace
} // namespace quarry::zip
