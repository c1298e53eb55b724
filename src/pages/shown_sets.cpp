#include "pages/shown_sets.hpp"

#include "registry/distributions.hpp"
#include "registry/history.hpp"

namespace quarry::pages {

using registry::SealedSet;
using store::ObjectReader;

Result<std::vector<SealedSet>> sealed_in(ObjectReader& store, const std::string& directory) {
  TRY(auto sets, registry::sealed_sets_below(store, directory));
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

// Seals and records of the history are named by their content: the list of their keys identifies what is shown.
Result<std::string> token_of_shown(ObjectReader& store, const std::string& directory) {
  TRY(auto distribution, registry::read_distribution(store, directory));
  TRY(auto history, registry::history_token(store, directory));
  if (distribution) return registry::to_json(distribution->record) + history;
  TRY(auto seals, store.list(directory + "/seals/"));
  std::string names;
  for (const auto& seal : seals) names += seal.key + "\n";
  return names + history;
}

} // namespace quarry::pages
