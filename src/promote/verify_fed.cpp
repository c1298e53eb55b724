#include "promote/verify_fed.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/signers.hpp"
#include "pages/projection.hpp"
#include "promote/bound.hpp"
#include "publish/adoption.hpp"
#include "publish/shown.hpp"
#include "registry/bound.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <utility>

namespace quarry::promote {

using registry::Action;
using registry::DistributionRecord;
using registry::DistributionView;
using registry::DistributionViewDigest;
using registry::Feeder;
using registry::PolicyDigest;
using store::ObjectReader;

namespace {

constexpr std::size_t k_moves_there_max = 100'000;

/// A policy has no word for those who may take files over or answer for a move.
std::string_view right_there(const Action& action) {
  if (action == Action::read("adopt")) return Action(Action::promote).text();
  return action == Action::acknowledge ? std::string_view("protect") : action.text();
}

std::string words_of(const std::vector<Feeder>& feeders) {
  if (feeders.empty()) return "no protected channel feeds it";
  std::vector<std::string> parts;
  for (const auto& one : feeders)
    parts.push_back(fmt::format("channel {} is protected by policy {}", one.channel, one.policy.short_hex()));
  return text::join(parts, ", ");
}

/// What the store of the channels says about `fed_by`.
class Channels {
public:
  explicit Channels(ObjectReader* source) : source_(source) {}

  /// Whether the channels were bound to these policies, as far as `before` did not have them; or, if there are none
  /// any more, whether the only one was unprotected.
  Result<bool> prove(const std::vector<Feeder>& before, const std::vector<Feeder>& now) {
    if (!source_) return false;
    if (now.empty()) return before.size() == 1 ? opened(before.front()) : Result<bool>(false);
    for (const auto& one : now) {
      if (std::ranges::find(before, one) != before.end()) continue;
      TRY(bool bound, is_bound(one));
      if (!bound) return false;
    }
    return true;
  }

private:
  using Chain = std::vector<registry::Stored<registry::LedgerRecord>>;
  Result<Chain> chain_of(const std::string& channel) {
    TRY(auto now, registry::read_channel(*source_, channel));
    if (!now) return Chain();
    return registry::ledger_chain(*source_, now->record);
  }
  Result<bool> is_bound(const Feeder& feeder) {
    TRY(auto chain, chain_of(feeder.channel));
    auto at = std::ranges::find(chain, feeder.move, &Chain::value_type::digest);
    if (at == chain.end()) return false;
    TRY(auto policy, registry::bound_after(*source_, at->record));
    return policy == feeder.policy;
  }
  Result<bool> opened(const Feeder& feeder) {
    TRY(auto chain, chain_of(feeder.channel)); // newest first
    auto at = std::ranges::find(chain, feeder.move, &Chain::value_type::digest);
    return at != chain.end() &&
           std::any_of(chain.begin(), at, [](const auto& one) { return one.record.action == Action::unprotect; });
  }

  ObjectReader* source_;
};

/// A move that lacks a signature, as long as no policy that became lawful later has it.
struct Lacking {
  Finding finding;
  DistributionViewDigest digest;
  Action action;
  std::size_t at; ///< in `moves`
};

/// Walks the moves from the oldest to the newest.
class WalkThere {
public:
  WalkThere(ObjectReader& store, ObjectReader* source) : store_(store), channels_(source) {}

  Result<void> look_at(const DistributionView& move, const DistributionViewDigest& digest) {
    moves_.push_back({move.generation, std::string(move.move.action.text()), {}});
    bool found = move.move.action == Action::read("found") && move.previous.empty();
    if (found) return {};
    TRY(auto by, signer_by(demanding(move), move.move.action, digest));
    bool changes = move.fed_by != std::exchange(fed_.before, move.fed_by), feeds_anew = move.fed_by != fed_.law;
    bool may_feed = move.move.action == Action::promote;
    if (feeds_anew && may_feed && !by.defect.empty()) {
      TRY(bool proven, channels_.prove(fed_.law, move.fed_by));
      if (proven) {
        TRY(by, signer_by(move.fed_by, move.move.action, digest));
      }
    }
    TRY(bool wanted, wants_signatures());
    bool lawful = by.defect.empty() && (may_feed || !changes || !wanted);
    moves_.back().by = by.name;
    if (!lawful) note_lacking(move, digest, by.defect, changes || (may_feed && feeds_anew));
    if (lawful && feeds_anew && may_feed) {
      fed_.law = move.fed_by;
      TRY_DO(look_again());
    }
    if (lawful && !by.name.empty() && !move.move.acknowledges.empty())
      acknowledged_[registry::distribution_view_key(move.directory, move.move.acknowledges)] =
          fmt::format("acknowledged at {} by {}: {}", move.move.when, by.name, move.move.why);
    return {};
  }

  /// Whether one of the policies that count now wants signed moves.
  Result<bool> wants_signatures() {
    TRY(auto wanting, wanting_in(fed_.law));
    return !wanting.empty();
  }

  VerifiedThere finish() {
    VerifiedThere verified;
    for (auto& lacking : lacking_) {
      auto known = acknowledged_.find(lacking.finding.place);
      if (known == acknowledged_.end()) {
        verified.findings.push_back(std::move(lacking.finding));
        continue;
      }
      lacking.finding.severity = Severity::note;
      lacking.finding.message += "; " + known->second;
      lacking.finding.fix.clear();
      verified.acknowledged.push_back(std::move(lacking.finding));
    }
    verified.moves.assign(moves_.rbegin(), moves_.rend());
    verified.lawful = fed_.law;
    return verified;
  }

private:
  Result<std::vector<const gate::Policy*>> wanting_in(const std::vector<Feeder>& feeders) {
    std::vector<const gate::Policy*> wanting;
    for (const auto& feeder : feeders) {
      auto known = policies_.find(feeder.policy);
      if (known == policies_.end()) {
        TRY(auto policy, stored_policy(store_, feeder.policy), "which protects channel " + feeder.channel);
        known = policies_.emplace(feeder.policy, std::move(policy)).first;
      }
      if (gate::wants_signed_moves(known->second)) wanting.push_back(&known->second);
    }
    return wanting;
  }

  const std::vector<Feeder>& demanding(const DistributionView& move) const {
    return fed_.law.empty() ? move.fed_by : fed_.law;
  }

  /// Each of the policies must let somebody sign it; the first defect counts. A promotion is that of one channel, and
  /// no record says which: one of their policies must.
  Result<gate::SignedBy> signer_by(const std::vector<Feeder>& feeders, const Action& action,
                                   const DistributionViewDigest& digest) {
    gate::SignedBy found;
    TRY(auto wanting, wanting_in(feeders));
    bool one_will_do = action == Action::promote;
    if (one_will_do && wanting.size() < feeders.size()) return found; // that of a channel that needs no key
    for (const auto* policy : wanting) {
      TRY(auto by, signer_of(store_, *policy, right_there(action), {"move", *digest.sha256()}));
      bool decides = one_will_do ? by.defect.empty() : !by.defect.empty();
      if (decides) return by;
      found = std::move(by);
    }
    return found;
  }

  void note_lacking(const DistributionView& move, const DistributionViewDigest& digest, const std::string& defect,
                    bool feeds_anew) {
    auto address = publish::address_of(store_, move.directory);
    auto message = fmt::format("{} of {}@{} {}", move.move.action.text(), move.directory, move.generation,
                               defect.empty() ? "changes who feeds the directory" : defect);
    if (feeds_anew) message += fmt::format("; it says that {}", words_of(move.fed_by));
    auto fix = fmt::format("find out who moved it; then `quarry channel acknowledge {0} {1} --reason TEXT --sign KEY` "
                           "answers for it, with the key of somebody who may sign `protect`; or go back: `quarry "
                           "rollback {0} --to GENERATION --reason TEXT --sign KEY`",
                           text::shell_word(address), move.generation);
    if (feeds_anew)
      fix = fmt::format("the channels' own store proves it: `quarry channel verify {} --channels STORE`; else {}",
                        text::shell_word(address), fix);
    lacking_.push_back({{"O044", Severity::error, registry::distribution_view_key(move.directory, digest),
                         std::move(message), std::move(fix)},
                        digest,
                        move.move.action,
                        moves_.size() - 1});
  }

  /// A rollback of the channel takes the directory along, and is signed by the channel's newest policy, which the
  /// directory learns later.
  Result<void> look_again() {
    std::vector<Lacking> still;
    for (auto& lacking : lacking_) {
      bool follows = lacking.action == Action::rollback;
      gate::SignedBy by{{}, "not looked at"};
      if (follows) {
        TRY(by, signer_by(fed_.law, lacking.action, lacking.digest));
      }
      if (!by.defect.empty())
        still.push_back(std::move(lacking));
      else
        moves_[lacking.at].by = by.name;
    }
    lacking_ = std::move(still);
    return {};
  }

  ObjectReader& store_;
  Channels channels_;
  std::map<PolicyDigest, gate::Policy> policies_;
  struct {
    std::vector<Feeder> law, before; ///< what counts; what the move before had
  } fed_;
  std::vector<SignedMove> moves_;
  std::vector<Lacking> lacking_;
  std::map<std::string, std::string> acknowledged_; ///< by the key of the move's record
};

/// The pointer repeats what its last move left, and nobody signs it.
void compare_pointer(ObjectReader& store, const DistributionRecord& now, const DistributionView& last,
                     Findings& findings) {
  bool same_feeders = last.fed_by.empty() || last.fed_by == now.fed_by; // earlier versions did not write them
  if (now.shown == last.shown && same_feeders) return;
  findings.push_back(
      {"O044", Severity::error, registry::distribution_key(now.directory),
       fmt::format("{}@{} {} than its last move left: somebody wrote to the store without Quarry", now.directory,
                   now.generation, now.shown == last.shown ? "is fed by others" : "shows or blocks something else"),
       fmt::format("restore the pointer from an older version of the object; or `quarry rollback {} "
                   "--to GENERATION --reason TEXT`",
                   text::shell_word(publish::address_of(store, now.directory)))});
}

Finding cut_short(const DistributionRecord& now, const DistributionView& oldest, const DistributionViewDigest& digest) {
  return {"O044", Severity::error, registry::distribution_view_key(now.directory, digest),
          fmt::format("{} of {}@{} names no move before it: somebody wrote to the store without Quarry",
                      oldest.move.action.text(), now.directory, oldest.generation),
          "restore the pointer from an older version of the object"};
}

Result<void> add_without_move(ObjectReader& store, const std::string& directory, Severity severity,
                              Findings& findings) {
  TRY(auto records, publish::without_move(store, directory));
  for (const auto& record : records)
    findings.push_back(
        {"P125", severity, registry::history_prefix(directory),
         fmt::format("{} of another tool, such as {}, {} taken over at {} without a move: the run was killed, or "
                     "somebody wrote the record without Quarry",
                     units::things(record.files.size(), "file"), record.files.front().filename,
                     record.files.size() == 1 ? "was" : "were", record.time),
         fmt::format(
             "if they belong there: `quarry set adopt {}` writes the move; else remove the record of that time, "
             "then `quarry index repair {}`",
             text::shell_word(publish::address_of(store, directory)),
             text::shell_word(publish::address_of(store, directory)))});
  return {};
}

std::vector<DistributionViewDigest> digests_of(const DistributionRecord& now,
                                               const std::vector<DistributionView>& moves) {
  std::vector<DistributionViewDigest> digests;
  for (std::size_t i = 0; i < moves.size(); ++i) digests.push_back(i == 0 ? now.view : moves[i - 1].previous);
  return digests;
}

Result<void> check_lawful_there(ObjectReader& store, const VerifiedThere& moves, const Author& author) {
  auto held = [](const std::string& message) {
    return fail(ErrorKind::held, "O041", message,
                "nothing was changed; sign it: --sign KEY, with the key of a [[signer]] of `protect` in the policy of "
                "each channel that feeds the directory");
  };
  bool signed_by_law = false;
  for (const auto& feeder : moves.lawful) {
    TRY(auto policy, stored_policy(store, feeder.policy), "which protects channel " + feeder.channel);
    if (!gate::wants_signed_moves(policy)) continue;
    auto defect =
        gate::defect_of_key(policy, "protect", author.key ? std::optional(author.key->public_key()) : std::nullopt);
    if (!defect.empty())
      return held(fmt::format("an acknowledgement is signed by who may sign `protect`, and this one {}", defect));
    signed_by_law = true;
  }
  if (!signed_by_law) return held("no policy that counts here says who may acknowledge a move");
  return {};
}

} // namespace

Result<VerifiedThere> verify_moves_there(ObjectReader& store, const DistributionRecord& now, ObjectReader* source) {
  Findings of_pointer;
  if (now.view.empty()) {
    auto whole = registry::refuse_lost_pointer(store, now.directory);
    if (!whole && whole.error().kind != ErrorKind::corrupt) return fail(std::move(whole).error());
    if (!whole)
      of_pointer.push_back(
          {whole.error().code, Severity::error, registry::distribution_key(now.directory),
           fmt::format("{}@{} names no move, and there are records of moves", now.directory, now.generation),
           whole.error().hint});
  }
  TRY(auto moves, registry::distribution_moves(store, now, k_moves_there_max));
  auto digests = digests_of(now, moves);
  WalkThere walk(store, source);
  for (auto i = moves.size(); i-- > 0;) TRY_DO(walk.look_at(moves[i], digests[i]));
  if (!moves.empty()) compare_pointer(store, now, moves.front(), of_pointer);
  if (!moves.empty() && moves.back().generation != 1)
    of_pointer.push_back(cut_short(now, moves.back(), digests.back()));
  TRY(bool wants, walk.wants_signatures());
  TRY_DO(add_without_move(store, now.directory, wants ? Severity::error : Severity::warning, of_pointer));
  auto verified = walk.finish();
  verified.findings.insert(verified.findings.end(), of_pointer.begin(), of_pointer.end());
  return verified;
}

Result<AcknowledgedThere> acknowledge_there(store::ObjectStore& store, const std::string& directory,
                                            std::uint64_t generation, const Author& author) {
  TRY(auto now, registry::require_distribution(store, directory));
  TRY(auto moves, registry::distribution_moves(store, now.record, k_moves_there_max));
  TRY(auto verified, verify_moves_there(store, now.record));
  AcknowledgedThere done;
  DistributionViewDigest digest;
  auto digests = digests_of(now.record, moves);
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (moves[i].generation == generation) digest = digests[i];
  for (const auto& finding : verified.findings)
    if (!digest.empty() && finding.place == registry::distribution_view_key(directory, digest))
      done.findings.push_back(finding);
  if (done.findings.empty()) {
    auto address = text::shell_word(publish::address_of(store, directory));
    return fail(
        ErrorKind::not_found, "O052",
        fmt::format("nothing is wrong with the move that made {}@{}", directory, generation),
        fmt::format("nothing was changed; `quarry channel verify {}` lists the moves that lack a signature", address));
  }
  TRY_DO(check_lawful_there(store, verified, author));
  TRY(done.record,
      publish::move_signed(store, now, now.record.shown,
                           {Action::acknowledge, {}, author.who, author.when, author.why, digest}, author.key));
  TRY_DO(pages::project_distribution(store, directory)); // pages.json names the generation
  return done;
}

} // namespace quarry::promote
