#include "promote/untested.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/gate.hpp"
#include "promote/named_files.hpp"
#include "promote/planning.hpp"
#include "promote/signed_moves.hpp"
#include "registry/bound.hpp"
#include "registry/verdicts.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <utility>

namespace quarry::promote {

using registry::SetDigest;
using store::ObjectReader;

namespace {

/// The names of the files that verdicts have let in, by set. A verdict on a part of a set is about the whole one, and
/// names only what the part has.
using LetInBySet = std::map<SetDigest, std::set<std::string>>;

/// As `promote --cells ready` reads its own verdict.
void add_let_in(const registry::VerdictDocument& document, LetInBySet& let_in) {
  gate::Verdict verdict;
  for (const auto& one : document.cells) {
    gate::CellVerdict cell;
    cell.cell = one.cell;
    cell.set = one.set;
    cell.verdict = one.ready() ? gate::Decision::ready : gate::Decision::held;
    cell.files = one.files;
    verdict.cells.push_back(std::move(cell));
  }
  for (const auto& movable : gate::movable(verdict))
    if (!movable.set.empty()) let_in[movable.set].insert(movable.files.begin(), movable.files.end());
}

/// The verdict of this policy by which a promotion was made, signed if the policy demands it. Any other one counts as a
/// verdict on nothing.
Result<registry::VerdictDocument> verdict_of(ObjectReader& store, const Becoming& becoming,
                                             const registry::LedgerRecord& promotion) {
  const registry::VerdictDocument nothing;
  auto record = registry::load_verdict(store, promotion.verdict);
  if (!record && is_lost(record.error())) return nothing;
  if (!record) return fail(std::move(record).error());
  auto document = registry::read_verdict(*record);
  if (!document || document->policy != becoming.policy.digest) return nothing;
  if (!misplaced(*document, promotion).empty()) return nothing;
  TRY(auto unsigned_by, unsigned_verdict(store, becoming.policy, promotion.verdict));
  return unsigned_by.empty() ? std::move(*document) : nothing;
}

Result<LetInBySet> let_in_by(ObjectReader& store, const Becoming& becoming,
                             const std::vector<registry::LedgerRecord>& promotions) {
  std::vector<registry::VerdictDocument> verdicts(promotions.size());
  TRY_DO(parallel_for(promotions.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(verdicts[i], verdict_of(store, becoming, promotions[i]));
    return {};
  }));
  LetInBySet let_in;
  for (const auto& verdict : verdicts) add_let_in(verdict, let_in);
  return let_in;
}

/// By their bytes, from the sets that were judged: whoever seals another one can write the same names into it.
Result<std::set<Sha256>> digests_let_in(ObjectReader& store, const LetInBySet& let_in) {
  std::vector<std::pair<SetDigest, std::set<std::string>>> list(let_in.begin(), let_in.end());
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
      if (list[i].second.contains(file.filename)) digests.insert(file.sha256);
  return digests;
}

} // namespace

std::string line_of(const registry::FileRecord& file, const SetDigest& set) {
  return fmt::format("{}  sha256 {}  set:{}", file.filename, file.sha256.hex(), set.short_hex());
}

Result<Past> past_of(ObjectReader& store, const registry::ChannelRecord& channel) {
  Past past;
  bool decided = false;
  for (auto digest = channel.ledger; !digest.empty();) {
    auto move = registry::load_ledger(store, digest);
    if (!move && is_lost(move.error())) break; // behind a lost move nobody knows what was decided
    if (!move) return fail(std::move(move).error());
    decided = decided || registry::breaks_protection(*move);
    if (!decided && registry::binds(*move)) {
      decided = true;
      past.is_bound = !registry::bound_by(*move).empty();
      if (past.is_bound) break;
    }
    digest = move->previous;
    if (move->action == registry::Action::promote && move->channel == channel.name && !move->verdict.empty())
      past.promotions.push_back(std::move(*move));
  }
  return past;
}

Result<std::set<Sha256>> trusted_of(ObjectReader& store, const Becoming& becoming,
                                    const std::vector<std::string>& words) {
  std::vector<registry::BlockedFile> shown;
  for (const auto& sealed : becoming.sets)
    for (const auto& file : sealed.set.files) shown.push_back({file.sha256, file.filename, "", 0, {}});
  std::set<Sha256> trusted;
  for (const auto& word : words) {
    auto left = shown; // a word before may have named the same file
    TRY(auto named, take_named(store, word, left));
    if (named.empty()) return not_shown(becoming.channel, word);
    for (const auto& file : named) trusted.insert(file.sha256);
  }
  return trusted;
}

Result<void> refuse_untested(ObjectReader& store, const Becoming& becoming, const Past& past,
                             const std::set<Sha256>& trusted) {
  std::set<Sha256> untested;
  for (const auto& sealed : becoming.sets)
    for (const auto& file : sealed.set.files)
      if (!trusted.contains(file.sha256)) untested.insert(file.sha256);
  if (untested.empty()) return {};
  TRY(auto let_in, let_in_by(store, becoming, past.promotions));
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
