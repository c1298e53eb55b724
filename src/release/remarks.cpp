#include "release/remarks.hpp"

#include "pages/remarks.hpp"
#include <algorithm>
#include <iterator>
#include <map>

namespace quarry::release {

namespace {

/// What a channel says about its sets.
struct Said {
  registry::ViewRecord view;
  std::vector<std::string> openly; ///< about each of them
};

Result<Said> said_by(store::ObjectReader& source, const std::string& channel) {
  Said said;
  TRY(auto now, registry::read_channel(source, channel));
  if (!now) return said;
  TRY(said.view, registry::load_view(source, now->record.view), "while reading channel " + channel);
  if (now->record.guard.policy.empty()) return said;
  TRY(auto policy, registry::load_policy(source, now->record.guard.policy), "which protects channel " + channel);
  said.openly = pages::openly_said(policy.json);
  return said;
}

} // namespace

std::set<std::string> channels_of(const Consignment& what, const registry::SealedSet& sealed) {
  std::set<std::string> channels;
  for (const auto& digest : {sealed.digest, sealed.set.subset_of, registry::SetDigest()})
    if (auto found = what.to.channels.find(digest); found != what.to.channels.end())
      channels.insert(found->second.begin(), found->second.end());
  return channels;
}

Result<void> add_remarks(const Consignment& what, std::vector<publish::Distributed>& planned) {
  std::map<std::string, Said> known;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    auto& remarks = planned[i].remarks;
    for (const auto& channel : channels_of(what, what.sets[i])) {
      auto said = known.find(channel);
      if (said == known.end()) {
        TRY(auto read, said_by(what.source, channel));
        said = known.emplace(channel, std::move(read)).first;
      }
      for (const auto& sentence : said->second.openly) remarks.push_back({sentence, {}});
      std::ranges::move(pages::remarks_about(said->second.view, what.sets[i]), std::back_inserter(remarks));
    }
  }
  return {};
}

} // namespace quarry::release
