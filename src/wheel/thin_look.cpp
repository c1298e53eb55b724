#include "wheel/thin_look.hpp"

#include "content/spool.hpp"
#include "gpu/names.hpp"
#include "gpu/thin.hpp"
#include "names/entry_names.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <mutex>

namespace quarry::wheel {

namespace {

constexpr std::size_t k_head_of_code = 24; // what may_hold_code() looks at

/// One file without a name for each thread, not one for each member: a wheel may have thousands of small kernels.
class Spools {
public:
  explicit Spools(std::string directory) : directory_(std::move(directory)) {}
  Result<std::shared_ptr<content::Spool>> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return content::Spool::create(directory_);
    auto spool = std::move(free_.back());
    free_.pop_back();
    return spool;
  }
  void give_back(std::shared_ptr<content::Spool> spool) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(spool));
  }

private:
  std::string directory_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<content::Spool>> free_;
};

struct Fetched {
  content::Rope content;
  Sha256 sha256;
};

/// The bytes of a member that may hold device code; nullopt for others, which are not inflated further.
Result<std::optional<Fetched>> fetch_code(const zip::Reader& zip, const zip::Member& member,
                                          const std::shared_ptr<content::Spool>& spool) {
  const auto begin = spool->size();
  bool first = true, stopped = false;
  Sha256Hasher hasher;
  auto take = [&](std::span<const std::byte> chunk) -> Result<void> {
    std::string_view head(reinterpret_cast<const char*>(chunk.data()), std::min(chunk.size(), k_head_of_code));
    stopped = first && !gpu::may_hold_code(head);
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

void add_code(CodeByTarget& into, const gpu::Contents& contents, bool removed) {
  for (const auto& object : contents.objects) {
    auto& code = into[object.target.str()];
    ++(removed ? code.removed_objects : code.objects);
    (removed ? code.removed_bytes : code.bytes) += object.bytes;
  }
}

CodeByTarget code_of(const gpu::Thinned& thinned, bool dropped, const std::vector<std::string>& devices) {
  CodeByTarget code, after;
  add_code(code, thinned.before, false);
  if (!dropped) add_code(after, thinned.after, false);
  for (auto& [target, sum] : code) {
    sum.target = target;
    auto parsed = gpu::parse_target(target);
    sum.asked = !parsed || !gpu::is_unwanted(*parsed, devices);
    const auto& kept = after[target];
    sum.removed_objects = sum.objects - kept.objects;
    sum.removed_bytes = sum.bytes - kept.bytes;
  }
  return code;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Programs choose these files by their names, so that one for a target of no interest is never opened. A static
/// library is named by build files, which fail without it; a kpack archive is named by libraries.
bool is_loose_file(const zip::Member& member, const ThinOptions& options) {
  return !options.keep_loose_files && !ends_with_any(member.name, {".a", ".lib", ".kpack"});
}

bool is_loose_object(const zip::Member& member, const gpu::Contents& contents, const ThinOptions& options) {
  return is_loose_file(member, options) && ends_with_any(member.name, {".hsaco", ".co"}) &&
         contents.objects.size() == 1 && contents.objects.front().container == gpu::Container::elf &&
         gpu::is_unwanted(contents.objects.front().target, options.devices);
}

Result<MemberLook> look_at_content(const zip::Member& member, const Fetched& fetched, const ThinOptions& options,
                                   const std::shared_ptr<content::Spool>& spool) {
  MemberLook look;
  TRY(auto thinned,
      gpu::thin(fetched.content, names::printable(member.name), {options.devices, options.spool_directory, spool}));
  look.dropped = is_loose_object(member, thinned.before, options);
  look.code = code_of(thinned, look.dropped, options.devices);
  for (const auto& object : thinned.before.objects) look.processors.insert(object.target.processor);
  look.left = std::move(thinned.left);
  if (thinned.changed) look.thinned = std::move(thinned.file);
  bool bare = !look.dropped && thinned.before.objects.size() == 1 &&
              thinned.before.objects.front().container == gpu::Container::elf;
  if (bare && gpu::is_unwanted(thinned.before.objects.front().target, options.devices))
    look.left.push_back(fmt::format("the file is code for {} as a whole", thinned.before.objects.front().target.str()));
  return look;
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
                                  const ThinOptions& options, Spools& spools) {
  MemberLook look;
  auto named = gpu::target_of_path(member.name);
  if (named) look.processors.insert(named->target.processor);
  bool unwanted = named && gpu::is_unwanted(named->target, options.devices);
  if (unwanted && is_loose_file(member, options)) {
    look.dropped = true;
    return look;
  }
  TRY(auto spool, spools.take());
  const auto begin = spool->size();
  TRY(auto fetched, fetch_code(zip, member, spool));
  if (fetched) {
    auto expected = digests.find(member.name);
    if (expected != digests.end() && expected->second != fetched->sha256)
      return not_sound(names::printable(member.name), {"it does not match its digest in RECORD"});
    TRY(auto seen, look_at_content(member, *fetched, options, spool));
    seen.processors.merge(look.processors);
    look = std::move(seen);
    if (unwanted) look.left.push_back(fmt::format("the file is for {} by its path", named->target.str()));
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
  Spools spools(options.spool_directory);
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
