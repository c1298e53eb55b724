#include "gate/collect.hpp"

#include <algorithm>

namespace quarry::gate {

namespace {

Result<std::vector<std::string>> sets_of_channel(store::ObjectStore& store, const std::string& name) {
  TRY_DO(registry::check_channel_name(name));
  TRY(auto channel, registry::read_channel(store, name));
  if (!channel) return std::vector<std::string>{};
  TRY(auto view, registry::load_view(store, channel->record.view));
  return view.sets;
}

} // namespace

Result<Case> collect(store::ObjectStore& store, const std::string& channel, const registry::Resolved& source,
                     std::int64_t now_us) {
  Case input;
  input.channel = channel;
  input.now_us = now_us;
  TRY(auto present, sets_of_channel(store, channel));
  for (const auto& sealed : source.sets)
    if (std::find(present.begin(), present.end(), sealed.digest) == present.end())
      input.subjects.push_back({sealed.digest, sealed.set});
  TRY(auto evidence, registry::list_evidence(store));
  for (auto& stored : evidence) input.evidence.push_back(std::move(stored.record));
  TRY(auto waivers, registry::list_waivers(store));
  for (auto& stored : waivers) input.waivers.push_back(std::move(stored.record));
  return input;
}

} // namespace quarry::gate
