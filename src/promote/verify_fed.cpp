#include "promote/verify_fed.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/signers.hpp"
#include "pages/projection.hpp"
#include "promote/bound.hpp"
#include "promote/fed_moves.hpp"
#include "promote/feeding_law.hpp"
#include "promote/shown_by_moves.hpp"
#include "promote/unreached.hpp"
#include "publish/adoption.hpp"
#include "publish/shown.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <utility>

namespace quarry::promote {

using registry::Action;
using registry::DistributionRecord;
using registry::DistributionView;
using registry::DistributionViewDigest;
using registry::Feeder;
using store::ObjectReader;

namespace {

std::string words_of(const std::vector<Feeder>& feeders) {
  if (feeders.empty()) return "no protected channel feeds it";
  std::vector<std::string> parts;
  for (const auto& one : feeders)
    parts.push_back(fmt::format("channel {} is protected by policy {}", one.channel, one.policy.short_hex()));
  return text::join(parts, ", ");
}

/// What is wrong with a move, as long as nobody has answered for it.
struct Lacking {
  Finding finding;
  DistributionViewDigest digest;
  Action action;
  std::size_t at;      ///< in `moves`
  bool signature_only; ///< no signer was found, and nothing else is wrong
};

/// Walks the moves from the oldest to the newest.
class WalkThere {
public:
  WalkThere(ObjectReader& store, ObjectReader* source)
      : store_(store), signers_(store), feeding_(signers_, source), shown_(store) {}

  void begin_after(const DistributionView& move) {
    fed_.law = fed_.before = move.fed_by;
    shown_.begin_after(move);
  }
  Result<void> look_at(const DistributionView& move, const DistributionViewDigest& digest) {
    told_.moves.push_back({move.generation, std::string(move.move.action.text()), {}});
    bool found = move.move.action == Action::read("found") && move.previous.empty();
    if (!found) TRY_DO(judge(move, digest));
    shown_.note(move);
    return {};
  }

  /// Whether one of the policies that count now wants signed moves.
  Result<bool> wants_signatures() {
    TRY(auto wanting, signers_.wanting_in(fed_.law));
    return !wanting.empty();
  }
  const std::vector<Feeder>& law() const { return fed_.law; }

  /// `others` are findings about records that no walk reaches.
  VerifiedThere finish(Findings others) {
    VerifiedThere verified;
    for (auto& lacking : told_.lacking) verified.findings.push_back(std::move(lacking.finding));
    std::ranges::move(others, std::back_inserter(verified.findings));
    auto answered = std::stable_partition(verified.findings.begin(), verified.findings.end(),
                                          [&](const Finding& one) { return !told_.acknowledged.contains(one.place); });
    for (auto one = answered; one != verified.findings.end(); ++one) {
      one->severity = Severity::note;
      one->message += "; " + told_.acknowledged[one->place];
      one->fix.clear();
      verified.acknowledged.push_back(std::move(*one));
    }
    verified.findings.erase(answered, verified.findings.end());
    verified.moves.assign(told_.moves.rbegin(), told_.moves.rend());
    verified.lawful = fed_.law;
    return verified;
  }

private:
  Result<void> judge(const DistributionView& move, const DistributionViewDigest& digest) {
    const auto demanding = fed_.law.empty() ? move.fed_by : fed_.law;
    TRY(auto by, signers_.signer_by(demanding, move.move.action, digest));
    bool changes = move.fed_by != std::exchange(fed_.before, move.fed_by);
    bool feeds_anew = move.move.action == Action::promote && move.fed_by != fed_.law;
    std::string of_feeding, of_shown;
    if (feeds_anew) {
      TRY(of_feeding, feeding_.defect_of({fed_.law, move.fed_by}, digest));
      if (of_feeding.empty() && !by.defect.empty() && feeding_.can_look()) { // each feeder that changed has a signer
        TRY(by, signers_.signer_by(move.fed_by, move.move.action, digest));
      }
    } else if (changes && move.move.action != Action::promote) {
      TRY(bool wanted, wants_signatures());
      if (wanted) of_feeding = "changes who feeds the directory";
    }
    if (!demanding.empty()) {
      TRY(of_shown, shown_.defect_of(move));
    }
    told_.moves.back().by = by.name;
    const auto& defect = !by.defect.empty() ? by.defect : !of_feeding.empty() ? of_feeding : of_shown;
    if (!defect.empty())
      note_lacking(move, digest, defect, {changes || feeds_anew, of_feeding.empty() && of_shown.empty()});
    if (feeds_anew && by.defect.empty() && of_feeding.empty()) {
      fed_.law = move.fed_by;
      TRY_DO(look_again());
    }
    bool by_law = defect.empty() && !by.name.empty() && !fed_.law.empty();
    if (by_law && !move.move.acknowledges.empty())
      told_.acknowledged[registry::distribution_view_key(move.directory, move.move.acknowledges)] =
          fmt::format("acknowledged at {} by {}: {}", move.move.when, by.name, move.move.why);
    return {};
  }

  struct About {
    bool feeding, signature_only;
  };
  void note_lacking(const DistributionView& move, const DistributionViewDigest& digest, const std::string& defect,
                    const About& about) {
    auto address = publish::address_of(store_, move.directory);
    auto message = fmt::format("{} of {}@{} {}", move.move.action.text(), move.directory, move.generation, defect);
    if (about.feeding) message += fmt::format("; it says that {}", words_of(move.fed_by));
    auto fix = fmt::format("find out who moved it; then `quarry channel acknowledge {0} {1} --reason TEXT --sign KEY` "
                           "answers for it, with the key of somebody who may sign `protect`; or go back: `quarry "
                           "rollback {0} --to GENERATION --reason TEXT --sign KEY`",
                           text::shell_word(address), move.generation);
    if (about.feeding && !feeding_.can_look())
      fix = fmt::format("the channels' own store proves it: `quarry channel verify {} --channels STORE`; else {}",
                        text::shell_word(address), fix);
    told_.lacking.push_back({{"O044", Severity::error, registry::distribution_view_key(move.directory, digest),
                              std::move(message), std::move(fix)},
                             digest,
                             move.move.action,
                             told_.moves.size() - 1,
                             about.signature_only});
  }

  /// A rollback of the channel takes the directory along, and is signed by the channel's newest policy, which the
  /// directory learns later.
  Result<void> look_again() {
    std::vector<Lacking> still;
    for (auto& lacking : told_.lacking) {
      gate::SignedBy by;
      if (lacking.action == Action::rollback && lacking.signature_only) {
        TRY(by, signers_.signer_by(fed_.law, lacking.action, lacking.digest));
      }
      if (by.name.empty() || !by.defect.empty())
        still.push_back(std::move(lacking));
      else
        told_.moves[lacking.at].by = by.name;
    }
    told_.lacking = std::move(still);
    return {};
  }

  ObjectReader& store_;
  SignersThere signers_;
  FeedingLaw feeding_;
  ShownByMoves shown_;
  struct {
    std::vector<Feeder> law, before; ///< what counts; what the move before had
  } fed_;
  struct {
    std::vector<SignedMove> moves;
    std::vector<Lacking> lacking;
    std::map<std::string, std::string> acknowledged; ///< by the key of the move's record
  } told_;
};

/// The pointer repeats what its last move left, and nobody signs it.
void compare_pointer(ObjectReader& store, const DistributionRecord& now, const DistributionView& last,
                     Findings& findings) {
  bool same_feeders = last.fed_by.empty() || last.fed_by == now.fed_by; // earlier versions did not write them
  auto shown = now.shown;
  bool same_waivers = std::ranges::includes(shown.revoked, last.shown.revoked); // they kept them in the pointer alone
  shown.revoked = last.shown.revoked;
  bool same_shown = shown == last.shown && same_waivers;
  if (same_shown && same_feeders) return;
  findings.push_back({"O044", Severity::error, registry::distribution_key(now.directory),
                      fmt::format("{}@{} {}: somebody wrote to the store without Quarry", now.directory, now.generation,
                                  same_shown ? "names other feeding channels than its last move"
                                             : "shows or blocks something else than its last move left"),
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

/// Pages are written after the pointer, so they are ahead only of an older one; unless it has moved since it was read.
Result<void> add_put_back(ObjectReader& store, const DistributionRecord& now, Findings& findings) {
  TRY(auto pages, pages::projected_distribution(store, now.directory));
  if (pages <= now.generation) return {};
  TRY(auto present, registry::read_distribution(store, now.directory));
  if (!present || present->record.generation >= pages) return {};
  findings.push_back({"O044", Severity::error, registry::distribution_key(now.directory),
                      fmt::format("{}@{} is older than its pages, which show generation {}: somebody put the pointer "
                                  "back",
                                  now.directory, now.generation, pages),
                      "restore the newest version of the pointer from a copy of the store"});
  return {};
}

Result<void> add_without_move(ObjectReader& store, const std::string& directory, Severity severity,
                              Findings& findings) {
  TRY(auto records, publish::without_move(store, directory));
  for (const auto& [digest, record] : records)
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

/// What is wrong with the move of this record.
Findings findings_about(const VerifiedThere& verified, const std::string& directory,
                        const DistributionViewDigest& digest) {
  Findings found;
  for (const auto& finding : verified.findings)
    if (!digest.empty() && finding.place == registry::distribution_view_key(directory, digest))
      found.push_back(finding);
  return found;
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

Findings lost_sets(const DistributionRecord& now, const std::vector<registry::SealedSet>& found) {
  Findings lost;
  for (const auto& one : now.shown.sets) {
    if (std::ranges::find(found, one.set, &registry::SealedSet::digest) != found.end()) continue;
    lost.push_back({"R010", Severity::error, registry::set_key(one.set),
                    fmt::format("{}@{} shows this set, and its record or its seal is gone: its packages are not listed "
                                "any more",
                                now.directory, now.generation),
                    "restore them from a copy of the store; or promote the set again with `--to-store`"});
  }
  return lost;
}

Result<VerifiedThere> verify_moves_there(ObjectReader& store, const DistributionRecord& now, ObjectReader* source,
                                         std::size_t newest) {
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
  bool all = newest >= registry::k_all_distribution_moves;
  TRY(auto moves, registry::distribution_moves(store, now, all ? newest : newest + 1));
  WalkThere walk(store, source);
  bool whole = moves.size() <= newest;
  if (!whole) {
    walk.begin_after(moves.back());
    moves.pop_back();
  }
  auto digests = digests_of(now, moves);
  for (auto i = moves.size(); i-- > 0;) TRY_DO(walk.look_at(moves[i], digests[i]));
  if (!moves.empty()) compare_pointer(store, now, moves.front(), of_pointer);
  TRY_DO(add_put_back(store, now, of_pointer));
  if (whole && !moves.empty() && moves.back().generation != 1)
    of_pointer.push_back(cut_short(now, moves.back(), digests.back()));
  TRY(bool wants, walk.wants_signatures());
  if (whole) TRY_DO(add_without_move(store, now.directory, wants ? Severity::error : Severity::warning, of_pointer));
  Findings unreached;
  if (whole && !now.view.empty()) { // else R010 says it
    TRY(auto others, unreached_moves(store, now, digests));
    TRY(unreached, findings_of(store, now, others, walk.law()));
  }
  auto verified = walk.finish(std::move(unreached));
  verified.findings.insert(verified.findings.end(), of_pointer.begin(), of_pointer.end());
  return verified;
}

Result<AcknowledgedThere> acknowledge_there(store::ObjectStore& store, const std::string& directory,
                                            std::uint64_t generation, const Author& author) {
  TRY(auto now, registry::require_distribution(store, directory));
  TRY(auto moves, registry::distribution_moves(store, now.record, registry::k_all_distribution_moves));
  TRY(auto verified, verify_moves_there(store, now.record));
  AcknowledgedThere done;
  DistributionViewDigest digest;
  auto digests = digests_of(now.record, moves);
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (moves[i].generation == generation) digest = digests[i];
  done.findings = findings_about(verified, directory, digest);
  TRY(auto others, unreached_moves(store, now.record, digests));
  for (const auto& other : others) {
    if (!done.findings.empty()) break;
    if (other.record.generation != generation) continue;
    digest = other.digest;
    done.findings = findings_about(verified, directory, digest);
  }
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
