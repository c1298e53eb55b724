#include "pages/shown_sets.hpp"

#include "registry/history.hpp"

namespace quarry::pages {

using registry::SealedSet;
using store::ObjectReader;

Result<std::vector<SealedSet>> sealed_in(ObjectReader& store, const std::string& directory,
                                         const std::vector<SealedSet>& known) {
  TRY(auto sets, registry::sealed_sets_below(store, directory, known));
  std::erase_if(sets, [&](const SealedSet& sealed) { return sealed.set.directory != directory; });
  return sets;
}

Result<std::vector<SealedSet>> shown_in(ObjectReader& store, const std::string& directory) {
  TRY(auto distribution, registry::read_distribution(store, directory));
  if (distribution) return registry::sealed_of(store, distribution->record.shown);
  return sealed_in(store, directory);
}

Result<std::string> token_of(ObjectReader& store, const std::string& directory, const std::vector<SealedSet>& sets) {
  std::string token;
  for (const auto& sealed : sets) token += sealed.digest.hex();
  TRY(auto history, registry::history_token(store, directory));
  return token + history;
}

namespace {
Result<std::string> seal_names(ObjectReader& store, const std::string& directory) {
  TRY(auto seals, store.list(directory + "/seals/"));
  std::string names;
  for (const auto& seal : seals) names += seal.key + "\n";
  return names;
}
} // namespace

// A set may be named before it is sealed (`set adopt --seal`), and retention removes a seal without moving the pointer.
Result<std::string> token_of_distribution(ObjectReader& store, const registry::DistributionRecord& record) {
  TRY(auto seals, seal_names(store, record.directory));
  TRY(auto history, registry::history_token(store, record.directory));
  return registry::to_json(record) + seals + history;
}

// Seals and records of the history are named by their content: the list of their keys identifies what is shown.
Result<std::string> token_of_shown(ObjectReader& store, const std::string& directory) {
  TRY(auto distribution, registry::read_distribution(store, directory));
  if (distribution) return token_of_distribution(store, distribution->record);
  TRY(auto seals, seal_names(store, directory));
  TRY(auto history, registry::history_token(store, directory));
  return seals + history;
}

} // namespace quarry::pages
