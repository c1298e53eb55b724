#include "promote/still_listed.hpp"

#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::promote {

namespace {

constexpr unsigned k_channels_read = 16;

/// What the channel shows of the files that leave; nullopt: nothing.
Result<std::optional<StillListed>> shown_by(store::ObjectReader& store, const std::string& channel,
                                            const Withdrawal& plan) {
  TRY(auto now, registry::read_channel(store, channel));
  if (!now) return std::nullopt;
  TRY(auto view, registry::load_view(store, now->record.view));
  StillListed found{channel, now->record.generation, registry::channel_directory(channel), {}};
  for (const auto& project : plan.projects) {
    auto shard = view.shards.find(project);
    if (shard == view.shards.end()) continue;
    TRY(auto record, registry::load_shard(store, shard->second));
    for (const auto& file : record.files)
      if (std::ranges::binary_search(plan.blocked, file.sha256, {}, &registry::BlockedFile::sha256))
        found.files.push_back(file.filename);
  }
  if (found.files.empty()) return std::nullopt;
  std::ranges::sort(found.files);
  return std::optional(std::move(found));
}

Finding unread(const std::string& place, const Error& error) {
  return {error.code, Severity::warning, place, "whether it lists files that leave is not known: " + error.message,
          error.hint};
}

} // namespace

Elsewhere still_listed(store::ObjectReader& store, const Withdrawal& plan) {
  Elsewhere found;
  if (plan.blocked.empty()) return found;
  auto names = registry::list_channels(store);
  if (!names) {
    found.unread.push_back(unread(store.describe(), names.error()));
    names = std::vector<std::string>();
  }
  std::erase(*names, plan.expected.record.name);
  std::vector<std::optional<StillListed>> shown(names->size());
  std::vector<std::optional<Finding>> lost(names->size());
  auto looked = parallel_for(names->size(), k_channels_read, [&](std::size_t i) -> Result<void> {
    const auto& name = (*names)[i];
    auto one = shown_by(store, name, plan);
    if (one)
      shown[i] = std::move(*one);
    else
      lost[i] = unread("channel " + name, one.error());
    return {};
  });
  if (!looked) found.unread.push_back(unread(store.describe(), looked.error()));
  for (auto& one : shown)
    if (one) found.places.push_back(std::move(*one));
  for (auto& one : lost)
    if (one) found.unread.push_back(std::move(*one));
  for (const auto& [directory, files] : plan.runs)
    found.places.push_back({"", 0, directory, {files.begin(), files.end()}});
  return found;
}

} // namespace quarry::promote
