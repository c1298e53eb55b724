#include "wheel/thin_look.hpp"

#include "content/spool.hpp"
#include "gpu/contents.hpp"
#include "gpu/names.hpp"
#include "names/entry_names.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <map>
#include <mutex>

namespace quarry::wheel {

namespace {

struct Fetched {
  content::Rope content;
  Sha256 sha256;
};

std::string_view head_of(std::span<const std::byte> chunk) {
  return {reinterpret_cast<const char*>(chunk.data()), chunk.size()};
}

/// The bytes of a member that may hold device code; nullopt for others, which are not inflated further.
Result<std::optional<Fetched>> fetch_code(const zip::Reader& zip, const zip::Member& member,
                                          const std::shared_ptr<content::Spool>& spool) {
  const auto begin = spool->size();
  bool first = true, stopped = false;
  Sha256Hasher hasher;
  auto take = [&](std::span<const std::byte> chunk) -> Result<void> {
    stopped = first && !gpu::may_hold_code(head_of(chunk));
    first = false;
    if (stopped) return fail(ErrorKind::cancelled, "D006", "the rest of the member is not needed");
    hasher.update(chunk);
    return spool->append(chunk);
  };
  auto done = zip.read(member, take);
  if (stopped || (done && first)) return std::optional<Fetched>();
  TRY_DO(done, "while reading " + names::printable(member.name));
  return std::optional(Fetched{content::Rope::of(spool).slice(begin, spool->size() - begin), hasher.finish()});
}

/// Digests of RECORD by path, where it has sha256.
using Digests = std::map<std::string, Sha256, std::less<>>;

Digests digests_of(const std::vector<dist::RecordRow>& record) {
  Digests out;
  for (const auto& row : record)
    if (row.sha256) out.emplace(row.path, *row.sha256);
  return out;
}

Result<MemberLook> look_at_member(const zip::Reader& zip, const zip::Member& member, const Digests& digests,
                                  const ThinOptions& options, content::SpoolPool& spools) {
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
  TRY(auto spool, spools.take());
  const auto begin = spool->size();
  TRY(auto fetched, fetch_code(zip, member, spool));
  if (fetched) {
    auto expected = digests.find(member.name);
    if (expected != digests.end() && expected->second != fetched->sha256)
      return not_sound(names::printable(member.name), {"it does not match its digest in RECORD"});
    TRY(look, thin_member(member.name, fetched->content, options, spool));
  }
  fetched.reset();
  if (!look.thinned) spool->shrink(begin);
  spools.give_back(std::move(spool));
  return look;
}

} // namespace

Result<std::vector<MemberLook>> look_at_members(const Opened& wheel, const std::vector<dist::RecordRow>& record,
                                                const ThinOptions& options) {
  const auto& members = wheel.zip.members();
  auto digests = digests_of(record);
  std::vector<MemberLook> looks(members.size());
  content::SpoolPool spools(options.spool_directory);
  std::mutex mutex;
  std::uint64_t done = 0, total = 0;
  for (const auto& member : members) total += member.stored_size;
  TRY_DO(parallel_for(members.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    if (!members[i].is_directory) {
      TRY(looks[i], look_at_member(wheel.zip, members[i], digests, options, spools));
    }
    std::lock_guard lock(mutex);
    done += members[i].stored_size;
    if (options.on_progress) options.on_progress("reading", done, total);
    return {};
  }));
  return looks;
}

} // namespace quarry::wheel
