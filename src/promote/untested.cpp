#include "promote/untested.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/gate.hpp"
#include "promote/named_files.hpp"
#include "promote/planning.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace quarry::promote {

using registry::SetDigest;
using store::ObjectReader;

namespace {

/// What verdicts have let in of a set.
struct LetIn {
  bool whole = false;
  std::set<std::string> files; ///< by name
};
using LetInBySet = std::map<SetDigest, LetIn>;

/// The verdicts of the channel's promotions. Behind a lost move nobody knows what was decided.
Result<std::vector<registry::VerdictDigest>> verdicts_of(ObjectReader& store, const registry::ChannelRecord& channel) {
  std::set<registry::VerdictDigest> verdicts;
  for (auto digest = channel.ledger; !digest.empty();) {
    auto move = registry::load_ledger(store, digest);
    if (!move && is_lost(move.error())) break;
    if (!move) return fail(std::move(move).error());
    if (move->action == registry::Action::promote && !move->verdict.empty()) verdicts.insert(move->verdict);
    digest = move->previous;
  }
  return std::vector(verdicts.begin(), verdicts.end());
}

gate::CellVerdict cell_in(const Json& json) {
  gate::CellVerdict cell;
  if (auto set = SetDigest::parse(json::string_or(json, "set", ""))) cell.set = *set;
  if (json::string_or(json, "verdict", "") == gate::to_string(gate::Decision::ready))
    cell.verdict = gate::Decision::ready;
  if (auto of = json.find("cell"); of != json.end() && of->is_object()) {
    cell.cell.platform = Platform::read(json::string_or(*of, "platform", ""));
    cell.cell.family = json::string_or(*of, "family", "");
  }
  auto files = json.find("files");
  if (files != json.end() && files->is_array())
    for (const auto& name : *files)
      if (name.is_string()) cell.files.push_back(name.get<std::string>());
  return cell;
}

/// As `promote --cells ready` reads its own verdict.
void add_let_in(const registry::VerdictRecord& record, const registry::PolicyDigest& policy, LetInBySet& let_in) {
  auto document = json::parse({record.json, "a verdict"});
  if (!document || !document->is_object() || json::string_or(*document, "policy", "") != policy.hex()) return;
  auto cells = document->find("cells");
  if (cells == document->end() || !cells->is_array()) return;
  gate::Verdict verdict;
  for (const auto& cell : *cells)
    if (cell.is_object()) verdict.cells.push_back(cell_in(cell));
  for (const auto& movable : gate::movable(verdict)) {
    if (movable.set.empty()) continue;
    auto& of_set = let_in[movable.set];
    of_set.whole = of_set.whole || movable.whole;
    of_set.files.insert(movable.files.begin(), movable.files.end());
  }
}

Result<LetInBySet> let_in_by(ObjectReader& store, const Becoming& becoming) {
  TRY(auto digests, verdicts_of(store, becoming.channel));
  std::vector<registry::VerdictRecord> verdicts(digests.size());
  TRY_DO(parallel_for(digests.size(), k_looks, [&](std::size_t i) -> Result<void> {
    auto verdict = registry::load_verdict(store, digests[i]);
    if (!verdict && !is_lost(verdict.error())) return fail(std::move(verdict).error());
    if (verdict) verdicts[i] = std::move(*verdict);
    return {};
  }));
  LetInBySet let_in;
  for (const auto& verdict : verdicts) add_let_in(verdict, becoming.policy, let_in);
  return let_in;
}

/// By their bytes, from the sets that were judged: whoever seals another one can write the same names into it.
Result<std::set<Sha256>> digests_let_in(ObjectReader& store, const LetInBySet& let_in) {
  std::vector<std::pair<SetDigest, LetIn>> list(let_in.begin(), let_in.end());
  std::vector<registry::SetRecord> judged(list.size());
  TRY_DO(parallel_for(list.size(), k_looks, [&](std::size_t i) -> Result<void> {
    auto set = registry::load_set(store, list[i].first);
    if (!set && !is_lost(set.error())) return fail(std::move(set).error());
    if (set) judged[i] = std::move(*set);
    return {};
  }));
  std::set<Sha256> digests;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const auto& file : judged[i].files)
      if (list[i].second.whole || list[i].second.files.contains(file.filename)) digests.insert(file.sha256);
  return digests;
}

/// Takes those out of `untested` that somebody answers for.
Result<void> take_trusted(ObjectReader& store, const Becoming& becoming, const std::vector<std::string>& trusted,
                          std::set<Sha256>& untested) {
  std::vector<registry::BlockedFile> shown;
  for (const auto& sealed : becoming.sets)
    for (const auto& file : sealed.set.files) shown.push_back({file.sha256, file.filename, "", 0, {}});
  for (const auto& word : trusted) {
    auto left = shown; // a word before may have named the same file
    TRY(auto named, take_named(store, word, left));
    if (named.empty())
      return fail(
          ErrorKind::not_found, "O024", fmt::format("channel {} shows nothing of {}", becoming.channel.name, word),
          fmt::format("nothing was changed; `quarry channel show {}` lists what it shows", becoming.channel.name));
    for (const auto& file : named) untested.erase(file.sha256);
  }
  return {};
}

} // namespace

std::string line_of(const registry::FileRecord& file, const SetDigest& set) {
  return fmt::format("{}  sha256 {}  set:{}", file.filename, file.sha256.hex(), set.short_hex());
}

Result<void> refuse_untested(ObjectReader& store, const Becoming& becoming, const std::vector<std::string>& trusted) {
  std::set<Sha256> untested;
  for (const auto& sealed : becoming.sets)
    for (const auto& file : sealed.set.files) untested.insert(file.sha256);
  TRY_DO(take_trusted(store, becoming, trusted, untested));
  if (untested.empty()) return {};
  TRY(auto let_in, let_in_by(store, becoming));
  TRY(auto digests, digests_let_in(store, let_in));
  for (const auto& digest : digests) untested.erase(digest);
  if (untested.empty()) return {};
  auto count = untested.size();
  std::vector<std::string> lines;
  for (const auto& sealed : becoming.sets)
    for (const auto& file : sealed.set.files)
      if (untested.erase(file.sha256)) lines.push_back(line_of(file, sealed.digest));
  const auto& name = becoming.channel.name;
  return fail(Error::of(ErrorKind::held, "O061",
                        fmt::format("channel {} shows {} that no verdict of this policy has let in", name,
                                    units::things(count, "file")))
                  .with_details(text::first_lines(std::move(lines), k_files_told))
                  .with_hint(fmt::format("nothing was changed; if they belong there, add `--trust SET-OR-FILE` for "
                                         "each, or `--trust-shown` for all that channel {} shows; if not, take them "
                                         "out (`quarry yank`), and `quarry explain O061` says how they come back",
                                         name)));
}

} // namespace quarry::promote
