#include "zip/writer.hpp"

#include "codec/deflate_chunk.hpp"
#include "sys/process.hpp"
#include "zip/format.hpp"
#include "zip/layout.hpp"
#include "zip/pipeline.hpp"
#include "zip/reader.hpp"
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <random>

namespace quarry::zip {
namespace {

class ZipWriter : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "zip-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  struct Made {
    Report report;
    std::string path;
    Sha256 sha256;
  };
  Result<Made> make(const std::vector<Entry>& entries, Options options = {}, const Tail& tail = {}) {
    Made made;
    made.path = directory_ + "/" + std::to_string(counter_++) + ".zip";
    TRY(auto file, sys::File::create(made.path));
    TRY(made.report, write(entries, tail, options, file));
    TRY(made.sha256, content::sha256_of_file(made.path));
    return made;
  }
  // Reads back with our strict reader, members compared with the entries.
  void expect_reads_back(const Made& made, const std::vector<Entry>& entries) {
    Findings findings;
    auto zip = Reader::open(content::Rope::file(made.path).value(), made.path, findings, {.ratio_max = 2000});
    ASSERT_TRUE(zip && findings.empty()) << render(findings);
    ASSERT_EQ(zip->members().size(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& m = zip->members()[i];
      EXPECT_EQ(m.name, entries[i].name);
      EXPECT_EQ(m.mode, entries[i].executable ? 0100755u : 0100644u);
      Sha256Hasher hasher;
      ASSERT_TRUE(zip->read(m, [&](std::span<const std::byte> chunk) -> Result<void> {
        hasher.update(chunk);
        return {};
      })) << m.name;
      EXPECT_EQ(hasher.finish(), content::sha256_of(entries[i].data).value()) << m.name;
      EXPECT_EQ(made.report.entries[i].sha256, content::sha256_of(entries[i].data).value()) << m.name;
      EXPECT_EQ(made.report.entries[i].crc, m.crc);
      EXPECT_EQ(made.report.entries[i].stored_size, m.stored_size);
    }
  }
  void expect_python_reads(const Made& made) {
    sys::ProcessSpec spec;
    spec.argv = {"python3", "-m", "zipfile", "-t", made.path};
    spec.environment = {{"PATH", std::getenv("PATH")}};
    auto result = sys::run_process(spec);
    ASSERT_TRUE(result) << render(result.error());
    EXPECT_EQ(result->exit_code, 0) << result->err;
    EXPECT_EQ(result->out, "Done testing\n");
  }
  std::string directory_;
  int counter_ = 0;
};

// 64-bit LCG (Knuth's MMIX): the same on every machine and standard library.
struct Random {
  std::uint64_t state;
  std::uint32_t next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state >> 33);
  }
};

enum class Kind { noise, packed, text, machine_code, zeros };
std::string corpus(Kind kind, std::size_t size, std::uint64_t seed = 1) {
  Random random{seed};
  std::string out(size, '\0');
  std::size_t at = 0;
  auto put = [&](unsigned value) { out[at++] = static_cast<char>(value); };
  while (at < size) switch (kind) {
    case Kind::noise: put(random.next()); break;
    case Kind::packed: put(random.next() % 200); break; // as what was compressed before: a little is left
    case Kind::text: put("etaoin shrdlu\n"[random.next() % 14]); break;
    case Kind::machine_code: // short words that recur, some of them from far back
      if (at > 4096 && random.next() % 3 == 0) {
        auto from = at - 64 - random.next() % 4000;
        for (unsigned n = 4 + random.next() % 60; n && at < size; --n) put(static_cast<unsigned char>(out[from++]));
      } else {
        put(random.next() & (random.next() % 4 ? 0x1F : 0xFF));
      }
      break;
    case Kind::zeros: at = size; break;
    }
  return out;
}

Entry entry(std::string name, std::string data, bool executable = false) {
  return {std::move(name), content::Rope::literal(std::move(data)), executable};
}

// Every size class and kind: empty, one chunk, borders of chunks, several, mixed compressibility within one file.
std::vector<Entry> mixed_entries() {
  std::vector<Entry> e;
  e.push_back(entry("empty", ""));
  e.push_back(entry("one", "x"));
  e.push_back(entry("small.txt", corpus(Kind::text, 5000), true));
  e.push_back(entry("exact", corpus(Kind::machine_code, codec::k_chunk_bytes)));
  e.push_back(entry("exact+1", corpus(Kind::machine_code, codec::k_chunk_bytes + 1)));
  e.push_back(entry("noise-small", corpus(Kind::noise, 4000)));
  e.push_back(entry("noise-large", corpus(Kind::noise, 2 * codec::k_chunk_bytes + 77)));
  e.push_back(entry("mixed", corpus(Kind::machine_code, 3 * codec::k_chunk_bytes) +
                                 corpus(Kind::noise, 2 * codec::k_chunk_bytes) +
                                 corpus(Kind::zeros, codec::k_chunk_bytes) + corpus(Kind::text, 1000)));
  e.push_back({"zeros", content::Rope::zeros(5 * codec::k_chunk_bytes), false});
  for (int i = 0; i < 40; ++i)
    e.push_back(entry("many/" + std::to_string(i), corpus(Kind::text, static_cast<std::size_t>(i) * 97, 7)));
  return e;
}

Options with(codec::Profile profile, unsigned workers) { return {profile, workers, {}}; }

const codec::Profile k_profiles[] = {codec::Profile::release, codec::Profile::ci, codec::Profile::stored};

TEST_F(ZipWriter, IsReadBackByUsAndByPython) {
  auto entries = mixed_entries();
  for (auto profile : k_profiles) {
    auto made = make(entries, with(profile, 2));
    ASSERT_TRUE(made) << render(made.error());
    expect_reads_back(*made, entries);
    expect_python_reads(*made);
    EXPECT_EQ(made->report.size, content::Rope::file(made->path).value().size());
  }
}

TEST_F(ZipWriter, MakesTheSameBytesWithAnyNumberOfWorkers) {
  auto entries = mixed_entries();
  for (auto profile : k_profiles) {
    auto one = make(entries, with(profile, 1)), two = make(entries, with(profile, 2)),
         five = make(entries, with(profile, 5));
    ASSERT_TRUE(one && two && five);
    EXPECT_EQ(one->sha256, two->sha256);
    EXPECT_EQ(one->sha256, five->sha256);
  }
}

// If one of these changes, every wheel of that profile changes: a new libdeflate or ISA-L does that, and so do new
// rules here. Rebuilding an old wheel then needs the old program, and the Generator line must say so.
TEST_F(ZipWriter, MakesTheGoldenBytes) {
  const std::vector<Entry> entries{
      entry("code", corpus(Kind::machine_code, 3 * codec::k_chunk_bytes / 2)),
      entry("text", corpus(Kind::text, 300000)), entry("noise", corpus(Kind::noise, 3 * codec::k_chunk_bytes / 2)),
      entry("packed", corpus(Kind::packed, 3 * codec::k_chunk_bytes / 2)),
      entry("both", corpus(Kind::noise, codec::k_chunk_bytes) + corpus(Kind::machine_code, codec::k_chunk_bytes, 2) +
                        corpus(Kind::noise, 700000, 3) + corpus(Kind::text, 300000))};
  auto digest = [&](codec::Profile profile) { return make(entries, with(profile, 2)).value().sha256.hex(); };
  EXPECT_EQ(digest(codec::Profile::release), "c67f3ef6d3c9f5182b0c245292d2d57c992a879050be9fabbd7640e78898a2a2");
  EXPECT_EQ(digest(codec::Profile::ci), "e026ba52c209edeac05809d422f50ad8d8f3d2a2e078d4266b337649a2785e7b");
  EXPECT_EQ(digest(codec::Profile::stored), "c003e31db74788aa7fbaa1c383e8c02760b826573a8f664a8cb9481e77a20106");
}

TEST_F(ZipWriter, StoresWhatDeflateDoesNotShrink) {
  std::vector<Entry> entries{entry("small", corpus(Kind::noise, 3000)),
                             entry("large", corpus(Kind::noise, 2 * codec::k_chunk_bytes + 5)),
                             entry("behind", corpus(Kind::text, 3000))};
  for (auto profile : {codec::Profile::release, codec::Profile::ci}) {
    auto made = make(entries, with(profile, 2));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->report.entries[0].stored_size, 3000u);
    EXPECT_EQ(made->report.entries[1].stored_size, 2 * codec::k_chunk_bytes + 5);
    EXPECT_LT(made->report.entries[2].stored_size, 2000u);
    expect_reads_back(*made, entries);
  }
}

TEST_F(ZipWriter, CompressesWellOnEachProfile) {
  auto data = corpus(Kind::machine_code, 4 * codec::k_chunk_bytes);
  auto size = [&](codec::Profile p) { return make({entry("x", data)}, with(p, 2)).value().report.size; };
  EXPECT_LT(size(codec::Profile::release), size(codec::Profile::ci));
  EXPECT_LT(size(codec::Profile::ci), size(codec::Profile::stored) * 3 / 4);
}

TEST_F(ZipWriter, FollowsTheContainerProfile) {
  auto made = make({entry("a/b.txt", "hello"), entry("a/tool", "#!", true)}, with(codec::Profile::stored, 1));
  ASSERT_TRUE(made);
  auto bytes = sys::read_file(made->path).value();
  using namespace zip;
  EXPECT_EQ(get32(bytes, 0), k_local_signature);
  EXPECT_EQ(get16(bytes, 4), 20);
  EXPECT_EQ(get16(bytes, 6), 0x0800);
  EXPECT_EQ(get16(bytes, 8), 0);
  EXPECT_EQ(get16(bytes, 10), 0);      // time
  EXPECT_EQ(get16(bytes, 12), 0x0021); // 1980-01-01
  EXPECT_EQ(get32(bytes, 18), 5u);
  EXPECT_EQ(get16(bytes, 28), 0); // no extra field
  EXPECT_EQ(bytes.substr(30, 12), "a/b.txthello");
  auto end = bytes.size() - k_end_bytes;
  EXPECT_EQ(get32(bytes, end), k_end_signature);
  auto central = get32(bytes, end + 16);
  EXPECT_EQ(get16(bytes, central + 4), 3 << 8 | 20);
  EXPECT_EQ(get32(bytes, central + 38), 0100644u << 16);
  EXPECT_EQ(get32(bytes, central + k_central_bytes + 7 + 38), 0100755u << 16);
  EXPECT_EQ(central + get32(bytes, end + 12), end);
}

TEST_F(ZipWriter, AddsTheTailWithTheDigestsOfTheOthers) {
  auto data = corpus(Kind::text, 3 * codec::k_chunk_bytes);
  auto tail = [&](std::span<const Written> written) -> Result<std::vector<Entry>> {
    EXPECT_EQ(written.size(), 1u);
    return std::vector<Entry>{entry("digest", written[0].sha256.hex())};
  };
  auto made = make({entry("data", data)}, with(codec::Profile::ci, 2), tail);
  ASSERT_TRUE(made);
  expect_reads_back(*made, {entry("data", data), entry("digest", sha256(data).hex())});
}

TEST_F(ZipWriter, RewritesWithKeptAndNewEntriesInOrder) {
  std::vector<Entry> entries{entry("a", corpus(Kind::text, 5000)), entry("b", corpus(Kind::text, 3'000'000)),
                             entry("c", corpus(Kind::noise, 300), true), entry("last", "1")};
  auto old = make(entries, with(codec::Profile::ci, 2)).value();
  Findings findings;
  auto zip = Reader::open(content::Rope::file(old.path).value(), old.path, findings);
  ASSERT_TRUE(zip);
  entries[1].data = content::Rope::zeros(3'000'000);
  entries[3] = entry("tail", "2");
  const auto& members = zip->members();
  Rewriting rewriting{*zip, {{&members[0], {}}, {nullptr, entries[1]}, {&members[2], {}}}, {}};
  rewriting.tail = [&](std::span<const Written> written) -> Result<std::vector<Entry>> {
    EXPECT_EQ(written.size(), 3u);
    EXPECT_EQ(written[0].sha256, Sha256());
    EXPECT_NE(written[1].sha256, Sha256());
    return std::vector<Entry>{entries[3]};
  };
  std::vector<std::string> digests;
  for (unsigned workers : {1u, 2u}) {
    Made made;
    made.path = directory_ + "/new" + std::to_string(workers);
    auto file = sys::File::create(made.path).value();
    made.report = rewrite(rewriting, with(codec::Profile::release, workers), file).value();
    digests.push_back(content::sha256_of_file(made.path)->hex());
    for (auto i : {0, 2}) made.report.entries[i].sha256 = content::sha256_of(entries[i].data).value();
    expect_reads_back(made, entries);
    auto bytes = sys::read_file(made.path, 1u << 30).value(), before = sys::read_file(old.path, 1u << 30).value();
    EXPECT_EQ(bytes.substr(members[0].data_offset, members[0].stored_size),
              before.substr(members[0].data_offset, members[0].stored_size));
  }
  EXPECT_EQ(digests[0], digests[1]);
}

// The local header would need a ZIP64 field for one size alone, which not all readers take.
TEST_F(ZipWriter, KeepsNoMemberWhosePackedSizeHasNoPlace) {
  auto file = sys::File::create(directory_ + "/kept").value();
  Layout layout(file);
  Member member{.name = "a", .size = 0xFFFFFFFEu, .stored_size = 0xFFFFFFFFu};
  auto refused = layout.keep(member, content::Rope::zeros(10));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Z023");
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_TRUE(layout.keep({.name = "a", .size = 12, .stored_size = 10}, content::Rope::zeros(10)));
}

TEST_F(ZipWriter, ARewriteThatReadersWouldRefuseForItsSizeFails) {
  auto old = make({entry("a", "1")}).value();
  Findings findings;
  auto zip = Reader::open(content::Rope::file(old.path).value(), old.path, findings);
  auto file = sys::File::create(directory_ + "/new").value();
  auto refused = rewrite({*zip, {{nullptr, {"zeros", content::Rope::zeros(1u << 30), false}}}, {}}, {}, file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Z016");
}

TEST_F(ZipWriter, ReportsProgressUpToTheInput) {
  std::vector<std::uint64_t> seen;
  Options options{codec::Profile::ci, 2, [&](std::uint64_t done) { seen.push_back(done); }};
  auto made = make({entry("data", corpus(Kind::text, 3 * codec::k_chunk_bytes))}, options);
  ASSERT_TRUE(made);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 3 * codec::k_chunk_bytes);
  EXPECT_EQ(made->report.input_bytes, 3 * codec::k_chunk_bytes);
}

// What is written can be read: 200 MB of zeros pack to 200 kB.
// The threads wait for room that only the consumer can make: an exception of his must end them, not wait for them.
TEST_F(ZipWriter, AnExceptionOfTheConsumerComesBack) {
  std::vector<Entry> entries{{"zeros", content::Rope::zeros(100 * codec::k_chunk_bytes), false}};
  auto full = [](const PackedChunk&) -> Result<void> { throw std::bad_alloc(); };
  EXPECT_THROW((void)run_pipeline(entries, codec::Profile::ci, 2, full), std::bad_alloc);
}

TEST_F(ZipWriter, RefusesWhatAReaderWouldRefuseForItsSize) {
  auto zeros = [&](std::uint64_t size) {
    std::vector<Entry> entries{{"zeros", content::Rope::zeros(size), false}};
    return make(entries, with(codec::Profile::ci, 2));
  };
  auto made = zeros(200u << 20);
  ASSERT_TRUE(made) << render(made.error());
  Findings findings;
  auto zip = Reader::open(content::Rope::file(made->path).value(), "x", findings);
  EXPECT_TRUE(zip && findings.empty()) << render(findings);
  auto refused = zeros(1200u << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Z016");
}

TEST_F(ZipWriter, WritesZip64WhereSizesNeedIt) {
  // 4 GiB + 1 of zeros: the size needs ZIP64, the packed size does not.
  std::vector<Entry> entries{
      entry("before", "x"), {"large", content::Rope::zeros((1ull << 32) + 1), false}, entry("after", "y")};
  auto options = with(codec::Profile::ci, 2);
  options.ratio_max = 2000;
  auto made = make(entries, options);
  ASSERT_TRUE(made) << render(made.error());
  auto bytes = sys::read_file(made->path).value();
  using namespace zip;
  std::size_t local = 30 + 6 + 1;
  ASSERT_EQ(get32(bytes, local), k_local_signature);
  EXPECT_EQ(get16(bytes, local + 4), 45);
  EXPECT_EQ(get32(bytes, local + 18), k_max32);
  EXPECT_EQ(get32(bytes, local + 22), k_max32);
  EXPECT_EQ(get16(bytes, local + 28), 20);
  EXPECT_EQ(get16(bytes, local + 30 + 5), k_extra_zip64);
  EXPECT_EQ(get16(bytes, local + 30 + 7), 16);
  EXPECT_EQ(get64(bytes, local + 30 + 9), (1ull << 32) + 1);
  EXPECT_EQ(get64(bytes, local + 30 + 17), made->report.entries[1].stored_size);
  auto end = bytes.size() - k_end_bytes;
  auto central = get32(bytes, end + 16) + k_central_bytes + 6; // of "large"
  EXPECT_EQ(get16(bytes, central + 6), 45);
  EXPECT_EQ(get32(bytes, central + 20), made->report.entries[1].stored_size);
  EXPECT_EQ(get32(bytes, central + 24), k_max32);
  EXPECT_EQ(get16(bytes, central + 30), 12); // the size alone
  Findings findings;
  auto zip = Reader::open(content::Rope::file(made->path).value(), "x", findings, {.ratio_max = 2000});
  ASSERT_TRUE(zip && findings.empty()) << render(findings);
  EXPECT_EQ(zip->find("large")->size, (1ull << 32) + 1);
}

// The layout alone, in a sparse file: the second entry stands at the first offset that 32 bits cannot say.
TEST_F(ZipWriter, WritesZip64WhereOffsetsNeedIt) {
  auto path = directory_ + "/sparse.zip";
  auto file = sys::File::create(path).value();
  Layout layout(file, (1ull << 32) - 38);
  const std::string data = "y";
  auto chunk = [&](std::size_t i) {
    auto span = std::as_bytes(std::span(data));
    return PackedChunk{i, 0, true, span, span, codec::ChunkMethod::stored, crc32(0, span), sha256(data)};
  };
  ASSERT_TRUE(layout.add(entry("before", data), chunk(0)));
  ASSERT_TRUE(layout.add(entry("behind", data), chunk(1)));
  ASSERT_TRUE(layout.finish());
  using namespace zip;
  auto rope = content::Rope::file(path).value();
  auto central_size = 2 * (k_central_bytes + 6) + 12;
  auto tail = rope.slice(rope.size() - 98 - central_size, 98 + central_size).read_all(1000).value();
  EXPECT_EQ(get32(tail, 42), 0xFFFFFFFFu - 37);
  EXPECT_EQ(get16(tail, 6), 20);
  EXPECT_EQ(get16(tail, 30), 0);
  auto second = k_central_bytes + 6;
  EXPECT_EQ(get32(tail, second + 42), k_max32);
  EXPECT_EQ(get16(tail, second + 6), 45);
  EXPECT_EQ(get16(tail, second + 30), 12);
  EXPECT_EQ(get64(tail, second + k_central_bytes + 6 + 4), (1ull << 32) - 1);
  EXPECT_EQ(get32(tail, central_size), k_end64_signature);
  EXPECT_EQ(get64(tail, central_size + 4), 44u);
  EXPECT_EQ(get32(tail, central_size + 56), k_locator64_signature);
  EXPECT_EQ(get32(tail, central_size + 76 + 16), k_max32);
  expect_python_reads({{}, path, {}}); // it does not mind what stands before
}

TEST_F(ZipWriter, WritesZip64WhereTheCountNeedsIt) {
  for (std::size_t count : {65534u, 65535u}) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < count; ++i) entries.push_back({std::to_string(i), {}, false});
    auto made = make(entries, with(codec::Profile::release, 2));
    ASSERT_TRUE(made);
    auto bytes = sys::read_file(made->path).value();
    bool has64 = get32(bytes, bytes.size() - 98) == k_end64_signature;
    EXPECT_EQ(has64, count == 65535u);
    Findings findings;
    auto zip = Reader::open(content::Rope::literal(bytes), "x", findings);
    ASSERT_TRUE(zip && findings.empty()) << render(findings);
    EXPECT_EQ(zip->members().size(), count);
  }
}

TEST_F(ZipWriter, RefusesNamesBeforeWriting) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"../a"}, "Z014"}, {{"/a"}, "Z014"},     {{""}, "Z013"},       {{"a\n"}, "Z013"},
      {{"a/"}, "Z014"},   {{"a", "a"}, "Z001"}, {{"a", "A"}, "Z017"}, {{"a", "a/b"}, "Z018"},
  };
  for (const auto& [names, code] : cases) {
    std::vector<Entry> entries;
    for (const auto* n : names) entries.push_back(entry(n, "x"));
    auto path = directory_ + "/refused";
    auto file = sys::File::create(path).value();
    auto made = write(entries, {}, {}, file);
    ASSERT_FALSE(made) << names[0];
    EXPECT_EQ(made.error().code, code) << names[0];
    EXPECT_EQ(file.size().value(), 0u);
  }
}

TEST_F(ZipWriter, RefusesATailThatRepeatsAName) {
  auto made = make({entry("a", "x")}, {}, [](std::span<const Written>) -> Result<std::vector<Entry>> {
    return std::vector<Entry>{entry("a", "y")};
  });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "Z001");
}

class Failing final : public content::Source {
public:
  explicit Failing(std::uint64_t from, std::string code) : from_(from), code_(std::move(code)) {}
  std::uint64_t size() const override { return 20 * codec::k_chunk_bytes; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset + into.size() > from_) return fail(ErrorKind::corrupt, code_, "a bad sector");
    std::fill(into.begin(), into.end(), std::byte{'x'});
    return {};
  }

private:
  std::uint64_t from_;
  std::string code_;
};

TEST_F(ZipWriter, PassesOnTheFirstReadErrorWhateverTheTiming) {
  std::vector<Entry> entries{
      {"late", content::Rope::of(std::make_shared<Failing>(19 * codec::k_chunk_bytes, "X001")), false},
      {"early", content::Rope::of(std::make_shared<Failing>(0, "X002")), false}};
  for (unsigned workers : {1u, 2u, 5u})
    for (int i = 0; i < 5; ++i) {
      auto made = make(entries, with(codec::Profile::ci, workers));
      ASSERT_FALSE(made);
      EXPECT_EQ(made.error().code, "X001");
    }
}

TEST_F(ZipWriter, ReportsAFullDisk) {
  auto full = sys::File::create("/dev/full");
  ASSERT_TRUE(full) << render(full.error());
  auto made = write({entry("a", corpus(Kind::text, 3 * codec::k_chunk_bytes))}, {}, with(codec::Profile::ci, 2), *full);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "D003");
}

// A file whose bytes differ when it is read again must not get the CRC of the first reading.
class Changing final : public content::Source {
public:
  std::uint64_t size() const override { return 2 * codec::k_chunk_bytes; }
  Result<void> read(std::uint64_t, std::span<std::byte> into) const override {
    std::mt19937 random(++reads_);
    for (auto& b : into) b = static_cast<std::byte>(random());
    return {};
  }

private:
  mutable std::atomic<unsigned> reads_{0};
};

TEST_F(ZipWriter, NoticesAFileThatChangesWhileItIsPacked) {
  auto made = make({{"noise", content::Rope::of(std::make_shared<Changing>()), false}}, with(codec::Profile::ci, 1));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "Z020");
}

} // namespace
} // namespace quarry::zip
