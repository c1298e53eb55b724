#include "publish/blocked_history.hpp"

#include "dist/name.hpp"
#include "publish/shown.hpp"
#include "registry/distributions.hpp"
#include "store/put_once.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

using registry::BlockedFile;
using registry::HistoryFile;
using store::ObjectInfo;

namespace {

/// A blocked file as far as its name and the listing tell: the same bytes have the same METADATA, so the same project
/// and version.
struct Blocked {
  const BlockedFile* file = nullptr;
  std::optional<dist::DistributionName> name;
  std::optional<std::uint64_t> size; ///< empty: it is gone
};

std::vector<Blocked> blocked_of(const std::vector<BlockedFile>& files, const std::vector<ObjectInfo>& objects) {
  std::vector<Blocked> all;
  for (const auto& file : files) {
    Blocked one{&file, std::nullopt, std::nullopt};
    if (auto name = dist::DistributionName::parse(file.filename)) one.name = std::move(*name);
    auto there = std::ranges::find_if(objects, [&](const auto& o) { return path::basename(o.key) == file.filename; });
    if (there != objects.end()) one.size = there->size;
    all.push_back(std::move(one));
  }
  return all;
}

bool may_be(const HistoryFile& file, const Blocked& blocked) {
  if (blocked.size && *blocked.size != file.size) return false;
  if (!blocked.name) return true;
  auto version = dist::Version::parse(file.version);
  return blocked.name->project.str() == file.project && version && *version == blocked.name->version;
}

const BlockedFile* with_digest(const std::vector<BlockedFile>& files, const Sha256& digest) {
  auto found = std::ranges::find(files, digest, &BlockedFile::sha256);
  return found == files.end() ? nullptr : &*found;
}

Finding is_left_out(const std::string& address, const HistoryFile& file, const BlockedFile& blocked) {
  auto why = blocked.reason.empty() ? std::string() : fmt::format(" ({})", blocked.reason);
  return {"P126", Severity::warning, file.key,
          fmt::format("has the bytes of {}, which is blocked here{}, so it is not taken over", blocked.filename, why),
          fmt::format("remove it and the links to it; or let the bytes in again: `quarry channel unblock {} sha256:{} "
                      "--reason R`",
                      address, blocked.sha256.hex())};
}

} // namespace

Result<void> leave_out_blocked(store::ObjectReader& target, const std::vector<ObjectInfo>& objects, HistoryPlan& plan) {
  if (plan.files.empty()) return {};
  TRY(auto there, registry::read_distribution(target, plan.directory));
  if (!there || there->record.shown.blocked.empty()) return {};
  const auto& blocked = there->record.shown.blocked;
  auto known = blocked_of(blocked, objects);
  std::vector<HistoryFile> kept;
  for (auto& file : plan.files) {
    bool is_said = file.sha256 && file.digest_from != registry::digest_source::k_page;
    const auto* same = file.sha256 ? with_digest(blocked, *file.sha256) : nullptr;
    auto alike = [&](const Blocked& one) { return may_be(file, one); };
    if (!same && !is_said && std::ranges::any_of(known, alike)) {
      TRY(auto digest, target.digest(file.key));
      if (digest) file.sha256 = digest, file.digest_from = registry::digest_source::k_read;
      same = digest ? with_digest(blocked, *digest) : nullptr;
    }
    if (!same) {
      kept.push_back(std::move(file));
      continue;
    }
    plan.sidecars.erase(file.filename);
    plan.notes.push_back(is_left_out(address_of(target, plan.directory), file, *same));
  }
  plan.files = std::move(kept);
  return {};
}

} // namespace quarry::publish
