#include "artifact/unpack.hpp"

#include "artifact/case_rule.hpp"
#include "artifact/guard.hpp"
#include "base/units.hpp"
#include "sys/clock.hpp"
#include "tar/extract.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

namespace {
// All of a fetch from a network stays below 64 MB where archives have the window that we pack with: beside the program
// (13 MB), what is read ahead (24 MiB for four transfers) and their windows (3 MiB each), one transfer alone can have a
// frame decoded beside it, and four none. Larger windows come on top: a stream cannot be read without its window.
constexpr std::uint64_t k_remote_bytes = 32u << 20, k_transfer_bytes = 12u << 20;

class Counter final : public tar::Visitor {
public:
  Result<void> begin(const tar::Member& member) override {
    if (member.type != tar::Type::directory) ++files;
    bytes += member.size;
    return {};
  }
  Result<void> data(std::span<const std::byte>) override { return {}; }
  Result<void> end() override { return {}; }
  std::uint64_t files = 0, bytes = 0;
};

tar::Limits limits_for(const SourceItem& item, std::uint64_t archive_bytes, const UnpackOptions& options) {
  auto limits = tar::Limits::for_archive({.archive_bytes = archive_bytes, .ratio = options.max_ratio});
  limits.case_rule = case_rule_of(item);
  return limits;
}

/// What the archive's own bytes go through, whichever way it is read. Borrows both.
codec::ByteSink digesting(Sha256Hasher& hasher, const UnpackOptions& options) {
  return [&](std::span<const std::byte> bytes) -> Result<void> {
    hasher.update(bytes);
    TRY_DO(sys::check_interrupted());
    return options.on_bytes ? options.on_bytes(bytes.size()) : Result<void>{};
  };
}

/// What is known of the archive's digest when a pass ends, early or not.
struct PartialDigest {
  Sha256Hasher hasher;
  std::uint64_t hashed = 0;
};

/// What the members are read by has said so already.
Error told_where(Error error, const std::string& file) {
  auto where = "while reading " + file;
  if (error.context.empty() || error.context.back() != where) error.context.push_back(std::move(where));
  return error;
}

/// The one pass. `into` gets the members that the guard lets through.
Result<Unpacked> read_through(const SourceItem& item, const content::Rope& rope, tar::Visitor& into,
                              const UnpackOptions& options, PartialDigest& digest) {
  Unpacked result;
  result.archive_bytes = rope.size();
  ManifestGuard guard(into, item.file);
  bool whole = item.name.whole_sdk(); // has no manifest: all of it belongs
  tar::Reader reader(whole ? into : guard, item.file, limits_for(item, rope.size(), options));
  auto codec = options.codec;
  codec.raw = [&](std::span<const std::byte> bytes) {
    digest.hashed += bytes.size();
    return digesting(digest.hasher, options)(bytes);
  };
  auto read = codec::decompress(rope, item.compression, codec,
                                [&](std::span<const std::byte> bytes) { return reader.feed(bytes); });
  if (!read) return fail(told_where(std::move(read).error(), item.file));
  TRY_DO(reader.finish());
  if (!whole) TRY_DO(guard.finish());
  result.digest = digest.hasher.finish();
  result.bases = std::move(guard.bases());
  result.case_pairs = reader.case_pairs();
  return result;
}

/// The digest of the whole archive if its pass ended early: continues where it stopped, and reads nothing twice.
Result<Sha256> finish_digest(const content::Rope& rope, PartialDigest& digest, const UnpackOptions& options) {
  TRY_DO(content::pump(rope.slice(digest.hashed, rope.size() - digest.hashed), digesting(digest.hasher, options)));
  return digest.hasher.finish();
}

} // namespace

codec::CodecOptions codec_for(unsigned jobs, bool remote, std::size_t transfers) {
  if (!remote) return {jobs, codec::permits_for(jobs)};
  auto taken = std::min<std::uint64_t>(k_remote_bytes, (std::max<std::size_t>(transfers, 1) - 1) * k_transfer_bytes);
  return {jobs, jobs > 1 ? std::make_shared<codec::Permits>(jobs, k_remote_bytes - taken) : nullptr};
}

Result<Unpacked> read_archive(const SourceItem& item, tar::Visitor& into, const UnpackOptions& options) {
  if (item.defect) return fail(*item.defect);
  if (!item.checksum && !options.allow_unverified) return fail(no_checksum_error(item.file));
  TRY(auto rope, item.open(), "while opening " + item.file);
  PartialDigest digest;
  auto result = read_through(item, rope, into, options, digest);
  if (!item.checksum) return result;
  // Damaged bytes mostly fail inside first; what the user needs to hear is that they are not the promised ones.
  if (!result && result.error().kind != ErrorKind::corrupt) return result;
  auto found = result ? Result<Sha256>(result->digest) : finish_digest(rope, digest, options);
  if (!found) return result;
  if (*found != *item.checksum)
    return fail(checksum_error(item.file, *item.checksum, *found, rope.size(), rope.size()));
  if (!result) return fail(std::move(result).error().with_detail("its checksum is right: it was made like this"));
  result->verified = true;
  return result;
}

namespace {
// Every header is seen, and data in steps of this size: larger members are passed over.
constexpr std::uint64_t k_index_step = 64u << 10;

Result<void> walk(const content::Rope& stream, tar::Reader& reader) {
  std::vector<std::byte> buffer(k_index_step);
  for (std::uint64_t at = 0; at < stream.size();) {
    auto part = std::span(buffer).first(std::min<std::uint64_t>(k_index_step, stream.size() - at));
    if (auto ahead = reader.data_ahead(); ahead > part.size()) {
      TRY_DO(sys::check_interrupted());
      if (ahead > stream.size() - at)
        return fail(ErrorKind::corrupt, "T003", "the archive ends inside a member", "fetch or make the archive again");
      TRY_DO(reader.skip(ahead));
      at += ahead;
      continue;
    }
    TRY_DO(stream.read(at, part));
    TRY_DO(reader.feed(part));
    at += part.size();
  }
  return reader.finish();
}
} // namespace

Result<Unpacked> index_archive(const SourceItem& item, const content::Rope& stream, tar::Visitor& into,
                               const UnpackOptions& options) {
  if (item.defect) return fail(*item.defect);
  if (!item.checksum) return fail(no_checksum_error(item.file));
  TRY(auto packed, item.open(), "while opening " + item.file);
  Unpacked result;
  Sha256Hasher hasher;
  TRY_DO(content::pump(packed, digesting(hasher, options)));
  result.digest = hasher.finish();
  if (result.digest != *item.checksum)
    return fail(checksum_error(item.file, *item.checksum, result.digest, packed.size(), packed.size()));
  result.verified = true;
  result.archive_bytes = packed.size();
  ManifestGuard guard(into, item.file);
  tar::Reader reader(guard, item.file, limits_for(item, packed.size(), options));
  TRY_DO(walk(stream, reader), "while reading " + item.file);
  TRY_DO(guard.finish());
  result.bases = std::move(guard.bases());
  return result;
}

Error checksum_error(const std::string& file, const Sha256& expected, const Sha256& found, std::uint64_t bytes_read,
                     std::uint64_t size) {
  auto error = Error::of(ErrorKind::corrupt, "A012", fmt::format("{} does not match its checksum", file));
  error.details.push_back(fmt::format("expected  sha256 {}, from {}.sha256sum", expected.hex(), file));
  error.details.push_back(fmt::format("found     sha256 {}  ({} of {} bytes read)", found.hex(),
                                      units::count(bytes_read), units::count(size)));
  error.hint = "fetch it again with the same command; if it persists, the upload is damaged";
  return error;
}

Error no_checksum_error(const std::string& file) {
  return {ErrorKind::corrupt,
          "A010",
          fmt::format("{} has no checksum file", file),
          {fmt::format("expected  {}.sha256sum next to it", file)},
          {},
          "upload the checksum too, or accept the risk with `--allow-unverified`"};
}

Result<Unpacked> extract_archive(const SourceItem& item, const std::string& directory, const UnpackOptions& options) {
  TRY(auto root, sys::Beneath::open(directory));
  tar::Extractor extractor(std::move(root));
  TRY(auto result, read_archive(item, extractor, options));
  TRY_DO(extractor.make_links());
  result.files = extractor.files();
  result.bytes = extractor.bytes();
  return result;
}

Result<Unpacked> verify_archive(const SourceItem& item, const UnpackOptions& options) {
  Counter counter;
  TRY(auto result, read_archive(item, counter, options));
  result.files = counter.files;
  result.bytes = counter.bytes;
  return result;
}

} // namespace quarry::artifact
