#include "pages/shown_sets.hpp"

namespace quarry::pages {

using registry::SealedSet;
using store::ObjectReader;

Result<std::vector<SealedSet>> shown_in(ObjectReader& store, const std::string& directory) {
  TRY(auto distribution, registry::read_distribution(store, directory));
  if (distribution) return registry::sealed_of(store, distribution->record.shown);
  return registry::sealed_sets_in(store, directory);
}

Result<registry::History> listed_history(ObjectReader& store, const std::string& directory) {
  TRY(auto history, registry::history_of(store, directory));
  if (history.files.empty()) return history;
  TRY(auto distribution, registry::read_distribution(store, directory));
  if (distribution) TRY_DO(registry::hide_yanked(store, distribution->record, history));
  return history;
}

Result<std::string> token_of(ObjectReader& store, const std::string& directory, const std::vector<SealedSet>& sets) {
  std::string token;
  for (const auto& sealed : sets) token += sealed.digest.hex();
  TRY(auto history, registry::history_token(store, directory));
  return token + history;
}

namespace {
Result<std::string> seal_names(ObjectReader& store, const std::string& directory) {
  TRY(auto seals, store.keys(directory + "/seals/"));
  std::string names;
  for (const auto& seal : seals) names += seal + "\n";
  return names;
}
} // namespace

// A set may be named before it is sealed (`set adopt --seal`), and retention removes a seal without moving the pointer.
Result<std::string> token_of_distribution(ObjectReader& store, const registry::DistributionRecord& record) {
  TRY(auto seals, seal_names(store, record.directory));
  TRY(auto history, registry::history_token(store, record.directory));
  return registry::to_json(record) + seals + history;
}

// Seals and records of the history are named by their content: the list of their keys identifies what is shown. The
// pointer hides files of both. Without either it need not be read: most stores have no base index.
Result<std::string> token_of_shown(ObjectReader& store, const std::string& directory) {
  TRY(auto seals, seal_names(store, directory));
  TRY(auto history, registry::history_token(store, directory));
  if (seals.empty() && history.empty()) return history;
  TRY(auto distribution, registry::read_distribution(store, directory));
  return (distribution ? registry::to_json(distribution->record) : std::string()) + seals + history;
}

} // namespace quarry::pages
