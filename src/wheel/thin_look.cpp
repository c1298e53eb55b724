#include "wheel/thin_look.hpp"

#include "codec/deflate_chunk.hpp"
#include "content/spool.hpp"
#include "gpu/contents.hpp"
#include "gpu/names.hpp"
#include "names/entry_names.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include "wheel/member_digest.hpp"
#include "wheel/thin_excerpt.hpp"
#include <algorithm>
#include <map>
#include <mutex>

namespace quarry::wheel {

namespace {

/// Digests of RECORD by path, where it has sha256.
using Digests = std::map<std::string, std::string, std::less<>>;

Digests digests_of(const std::vector<dist::RecordRow>& record) {
  Digests out;
  for (const auto& row : record)
    if (row.sha256) out.emplace(row.path, row.sha256->base64url());
  return out;
}

struct Looking {
  const zip::Reader& zip;
  Digests digests;
  const ThinOptions& options;
};

struct Fetched {
  std::shared_ptr<content::Excerpt> content;
  std::string sha256; ///< as RECORD writes it
  zip::Cuts cuts;
};

std::string_view head_of(std::span<const std::byte> chunk) {
  return {reinterpret_cast<const char*>(chunk.data()), chunk.size()};
}

/// Whether the member may hold device code: the others are not inflated further.
Result<bool> begins_like_code(const zip::Reader& zip, const zip::Member& member) {
  bool code = false, stopped = false;
  auto begun = zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    code = gpu::may_hold_code(head_of(chunk));
    stopped = true;
    return fail(ErrorKind::cancelled, "D006", "the rest of the member is not needed");
  });
  if (!stopped) TRY_DO(begun, "while reading " + names::printable(member.name));
  return code;
}

/// Keeps the member's bytes in `spool`: all of them, or those that thinning for these devices needs.
Result<Fetched> fetch(const Looking& looking, const zip::Member& member, const std::shared_ptr<content::Spool>& spool,
                      bool all) {
  ThinExcerpt excerpt(spool, looking.options.devices, {member.size, all});
  Result<void> kept;
  auto keep = [&](std::span<const std::byte> chunk) {
    if (kept) kept = excerpt.feed(chunk);
  };
  zip::Cuts cuts;
  TRY(auto sha256, digest_member(looking.zip, member, {"sha256", looking.options.workers > 1, keep, &cuts}),
      "while reading " + names::printable(member.name));
  TRY_DO(kept);
  TRY(auto content, excerpt.finish());
  return Fetched{std::move(content), std::move(sha256), std::move(cuts)};
}

/// Whether the look is the one that the whole member would give: nothing was read that is not kept, and nothing of that
/// stays.
bool is_as_of_whole(const content::Excerpt& excerpt, const Result<MemberLook>& look) {
  if (excerpt.missed()) return false;
  if (!look || !look->thinned) return true;
  return std::ranges::all_of(excerpt.skipped(), [&](const content::Excerpt::Range& range) {
    auto count = range.end - range.begin;
    bool inside = range.end <= look->thinned->size();
    return inside && content::same_piece({*look->thinned, range.begin}, {content::Rope::zeros(count), 0}, count);
  });
}

/// The chunks that the wheel holds packed, between two cuts, and that thinning leaves alone.
std::shared_ptr<const zip::OldStream> unchanged_chunks(const Looking& looking, const zip::Member& member,
                                                       const zip::Cuts& cuts, const content::Rope& before,
                                                       const content::Rope& after) {
  auto old = std::make_shared<zip::OldStream>();
  old->bytes = looking.zip.archive().slice(member.data_offset, member.stored_size);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto at = std::uint64_t{i} * codec::k_chunk_bytes;
    bool packed = (i == 0 || cuts[i] != 0) && cuts[i + 1] > cuts[i];
    if (packed && at + codec::k_chunk_bytes <= after.size() &&
        content::same_piece({before, at}, {after, at}, codec::k_chunk_bytes))
      old->chunks.emplace(i, zip::OldStream::Place{cuts[i], static_cast<std::uint32_t>(cuts[i + 1] - cuts[i])});
  }
  return old;
}

/// Looks at what is kept of the member. Returns nullopt if that was not enough: never if `all` is kept.
Result<std::optional<MemberLook>> look_inside(const Looking& looking, const zip::Member& member,
                                              const std::shared_ptr<content::Spool>& spool, bool all) {
  TRY(auto fetched, fetch(looking, member, spool, all));
  auto expected = looking.digests.find(member.name);
  if (expected != looking.digests.end() && expected->second != fetched.sha256)
    return not_sound(names::printable(member.name), {"it does not match its digest in RECORD"});
  const auto content = content::Rope::of(fetched.content);
  auto look = thin_member(member.name, content, looking.options, spool);
  if (!all && !is_as_of_whole(*fetched.content, look)) return std::optional<MemberLook>();
  if (!look) return fail(std::move(look).error());
  if (look->thinned) look->old_stream = unchanged_chunks(looking, member, fetched.cuts, content, *look->thinned);
  return std::optional(std::move(*look));
}

Result<MemberLook> look_at_member(const Looking& looking, const zip::Member& member, content::SpoolPool& spools) {
  const auto& [zip, digests, options] = looking;
  auto look = look_at_path(member.name, options);
  if (look.dropped) {
    auto named = gpu::target_of_path(member.name);
    if (!named || named->kernels != gpu::Kernels::read) return look;
    (void)zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
      count_dropped(member.name, look, head_of(chunk));
      return fail(ErrorKind::cancelled, "D006", "the rest of the member is not needed");
    });
    return look;
  }
  TRY(bool code, begins_like_code(zip, member));
  if (!code) return look;
  TRY(auto spool, spools.take());
  const auto begin = spool->size();
  TRY(auto found, look_inside(looking, member, spool, false));
  if (!found) {
    spool->shrink(begin);
    TRY(found, look_inside(looking, member, spool, true));
  }
  look = std::move(*found);
  if (!look.thinned) spool->shrink(begin);
  spools.give_back(std::move(spool));
  return look;
}

} // namespace

Result<std::vector<MemberLook>> look_at_members(const Opened& wheel, const std::vector<dist::RecordRow>& record,
                                                const ThinOptions& options) {
  const auto& members = wheel.zip.members();
  const Looking looking{wheel.zip, digests_of(record), options};
  std::vector<MemberLook> looks(members.size());
  content::SpoolPool spools(options.spool_directory);
  std::mutex mutex;
  std::uint64_t done = 0, total = 0;
  for (const auto& member : members) total += member.stored_size;
  TRY_DO(parallel_for(members.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    if (!members[i].is_directory) {
      TRY(looks[i], look_at_member(looking, members[i], spools));
    }
    std::lock_guard lock(mutex);
    done += members[i].stored_size;
    if (options.on_progress) options.on_progress("reading", done, total);
    return {};
  }));
  return looks;
}

} // namespace quarry::wheel
