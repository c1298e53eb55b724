#include "promote/guard.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "promote/named_files.hpp"
#include "promote/planning.hpp"
#include "promote/signed_moves.hpp"
#include "promote/untested.hpp"
#include "publish/verify.hpp"
#include "registry/bound.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <set>

namespace quarry::promote {

using registry::BlockedFile;
using registry::Guard;
using store::ObjectReader;
using store::ObjectStore;

namespace {

publish::Reason reason_of(ObjectStore& store, registry::Action action, const Author& author) {
  publish::Reason reason;
  reason.action = action;
  reason.who = author.who;
  reason.identity = author.identity;
  reason.when = author.when;
  reason.why = author.why;
  sign_with(store, author.key, reason, author.called);
  return reason;
}

/// A file in a repository does not know that a key was revoked in the store, and would let its thief in again.
Result<void> check_revoked_stay(ObjectReader& store, const std::string& channel, const registry::PolicyDigest& bound,
                                const gate::Policy& policy) {
  if (bound.empty()) return {};
  auto was = stored_policy(store, bound);
  if (!was && registry::is_lost(was.error())) return {}; // a channel must not get stuck
  if (!was) return fail(std::move(was).error());
  for (const auto& old : was->signers)
    for (const auto& signer : policy.signers)
      if (!old.revoked.empty() && signer.key == old.key && signer.revoked.empty())
        return fail(ErrorKind::held, "O046",
                    fmt::format("policy {} counts the key of {} again, which channel {} has revoked: {}", policy.name,
                                signer.name, channel, old.revoked),
                    "nothing was changed; write `revoked = \"…\"` into its [[signer]], or remove it from the policy");
  return {};
}

/// Whether the author may bind this policy; a channel that has it already is not moved.
Result<void> check_binding(ObjectStore& store, const std::string& channel, const gate::Policy& policy,
                           const Author& author) {
  TRY(auto now, registry::read_channel(store, channel));
  registry::Bound bound; // by the moves: whoever writes the record could name a policy of before
  if (now) {
    TRY(bound, registry::bound_by_moves(store, now->record));
  }
  if (now && bound.differs.empty() && bound.policy.hex() == policy.digest) {
    TRY(bool already, registry::is_protected_by(store, now->record.ledger, bound.policy));
    if (already) return {};
    TRY_DO(registry::put_policy(store, {gate::canonical_json(policy)})); // whoever named it need not have stored it
  }
  TRY_DO(check_revoked_stay(store, channel, bound.policy, policy));
  return check_signer(store, now, {channel, registry::Action::protect, &policy, nullptr, author.called}, author.key);
}

/// That the bytes are what was sealed says nothing of who let them in: whoever writes the record can name any view.
Result<void> refuse_unproven(const std::string& channel, const registry::Bound& bound,
                             const std::vector<registry::SealedSet>& sets) {
  std::vector<std::string> files;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) files.push_back(line_of(file, sealed.digest));
  if (files.empty()) return {};
  auto count = files.size();
  return fail(
      Error::of(ErrorKind::corrupt, "O056",
                fmt::format("{}; protecting it would let in {} that no move shows", bound.differs,
                            units::things(count, "file")))
          .with_details(text::first_lines(std::move(files), k_files_told))
          .with_hint(fmt::format("nothing was changed; restore {} from a copy of the store; or, if all of these "
                                 "files belong there, `quarry channel protect {} --policy FILE --reason TEXT "
                                 "--trust-shown`",
                                 registry::ledger_key(bound.lost), channel)));
}

/// The policy that is bound, and what somebody answers for.
struct Answered {
  const gate::Policy& policy;
  const Binding& binding;
};

/// What a channel shows when it becomes protected counts as let in from then on, so a verdict must have let it in or
/// somebody answers for it, and it must be what was sealed. Whoever may write packages can also write the digest that a
/// store has recorded, so the bytes are read.
Result<void> check_shown(ObjectStore& store, const std::optional<registry::Channel>& now, publish::Hashed& hashed,
                         const Answered& answered) {
  if (!now) return {};
  TRY(auto bound, registry::bound_by_moves(store, now->record));
  TRY(auto past, past_of(store, now->record));
  bool was_protected = past.is_bound && bound.differs.empty();
  if (was_protected && answered.binding.trusted.empty()) return {};
  const auto& name = now->record.name;
  TRY(auto view, registry::load_view(store, now->record.view), "while reading channel " + name);
  TRY(auto sets, registry::load_all_sealed(store, view.sets), "while reading channel " + name);
  Becoming becoming{now->record, sets, answered.policy};
  TRY(auto trusted, trusted_of(store, becoming, answered.binding.trusted));
  if (was_protected) return {};
  if (!answered.binding.trust_shown) {
    if (!bound.lost.empty()) TRY_DO(refuse_unproven(name, bound, sets));
    // One that is protected by its moves, and not by its record, shows what its last move left: that was let in.
    if (!past.is_bound) TRY_DO(refuse_untested(store, becoming, past, trusted));
  }
  publish::VerifyOptions options{k_looks};
  options.hashed = &hashed;
  TRY(auto found, publish::verify_sets(store, sets, options));
  if (found.empty()) return {};
  return fail(ErrorKind::corrupt, "O003",
              fmt::format("channel {} shows a file that is not what was sealed: {} {}", name, found.front().place,
                          found.front().message),
              fmt::format("nothing was changed; {}; or take it out first: `quarry yank {} FILE --reason TEXT`",
                          found.front().fix, name));
}

Unexpected not_blocked(const std::string& channel, const std::string& word) {
  return fail(ErrorKind::not_found, "O013", fmt::format("channel {} blocks nothing of {}", channel, word),
              fmt::format("nothing was changed; `quarry channel show {0}` lists what is blocked; if this command was "
                          "interrupted, `quarry index repair channel:{0}` writes the pages",
                          channel));
}

} // namespace

Result<publish::Guarded> protect(ObjectStore& store, const std::string& channel, const gate::Policy& policy,
                                 const Author& author, const Binding& binding) {
  TRY_DO(registry::check_channel_name(channel));
  if (policy.mode == gate::Mode::report_only)
    return fail(ErrorKind::invalid_argument, "O014",
                fmt::format("policy {} only reports: it would keep nothing out of channel {}", policy.name, channel),
                "set `mode = \"enforce\"` in it");
  TRY_DO(check_rebindable(policy));
  TRY_DO(registry::require_swappable(store, "channel " + channel));
  TRY_DO(check_binding(store, channel, policy, author));
  TRY(auto digest, registry::put_policy(store, {gate::canonical_json(policy)}));
  auto reason = reason_of(store, registry::Action::protect, author);
  reason.policy = digest;
  reason.answers_for_lost = binding.trust_shown;
  publish::Hashed hashed; // for another round, if somebody is faster
  reason.before_writing =
      [&, ask = std::move(reason.before_writing)](const std::optional<registry::Channel>& from,
                                                  const registry::LedgerRecord& entry) -> Result<void> {
    TRY_DO(ask(from, entry));
    registry::ChannelRecord none;
    none.name = channel;
    if (!from && !binding.trusted.empty()) return not_shown(none, binding.trusted.front());
    return check_shown(store, from, hashed, {policy, binding});
  };
  auto change = [&](const Guard& now) -> Result<Guard> {
    // An unknown outcome may have been a success: then the channel has this policy already.
    if (!binding.instead_of.empty() && now.policy != binding.instead_of && now.policy != digest)
      return fail(ErrorKind::precondition_failed, "P010",
                  fmt::format("somebody bound another policy to channel {} meanwhile", channel),
                  "run the same command again");
    return Guard{digest, now.blocked, now.keeps_from};
  };
  return publish::change_guard(store, channel, change, reason);
}

Result<publish::Guarded> unprotect(ObjectStore& store, const std::string& channel, const Author& author) {
  TRY_DO(registry::require_channel(store, channel));
  return publish::change_guard(
      store, channel, [](const Guard& now) -> Result<Guard> { return Guard{{}, now.blocked, now.keeps_from}; },
      reason_of(store, registry::Action::unprotect, author));
}

Result<Unblocked> unblock(ObjectStore& store, const std::string& channel, const std::vector<std::string>& what,
                          const Author& author) {
  TRY_DO(registry::require_channel(store, channel));
  Unblocked unblocked;
  auto change = [&](const Guard& now) -> Result<Guard> {
    Guard guard = now;
    unblocked.files.clear();
    for (const auto& word : what) {
      TRY(auto taken, take_named(store, word, guard.blocked));
      auto all = now.blocked; // a word before may have named the same file
      if (taken.empty()) {
        TRY(auto named, take_named(store, word, all));
        if (named.empty()) return not_blocked(channel, word);
      }
      std::ranges::move(taken, std::back_inserter(unblocked.files));
    }
    return guard;
  };
  TRY(unblocked.guarded,
      publish::change_guard(store, channel, change, reason_of(store, registry::Action::unblock, author)));
  return unblocked;
}

Result<Keep> parse_keep(std::string_view text, std::int64_t now_us) {
  auto bad = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument, "O048", fmt::format("`{}` is not how much to keep: {}", text, why),
                "give a number of views, at least 2, or an age such as 60d");
  };
  if (auto views = text::parse_u64(text)) {
    if (*views < 2) return bad("a rollback needs the view before the last move");
    return LastViews{*views};
  }
  auto age = gate::parse_age(text);
  if (!age)
    return bad(text.starts_with('0') && text.find_first_not_of('0') == text.size() - 1
                   ? "an age of zero keeps nothing"
                   : "it is neither a number nor an age");
  return ViewsSince{sys::Timestamp::from_us(now_us - *age)};
}

namespace {
/// The first generation that is kept: of the newest views, or of what was shown at that time and later.
std::uint64_t kept_from(const std::vector<registry::Stored<registry::LedgerRecord>>& newest_first, const Keep& keep) {
  const auto* last = std::get_if<LastViews>(&keep);
  const auto* since = std::get_if<ViewsSince>(&keep);
  std::set<registry::ViewDigest> views;
  std::uint64_t from = 0;
  for (const auto& [digest, move] : newest_first) {
    views.insert(move.to_view);
    if (last && views.size() > last->count) break;
    from = move.generation;
    if (since && move.when.us() <= since->time.us()) break;
  }
  return from > 1 ? from : 0;
}

std::uint64_t views_kept(const registry::ChannelRecord& channel,
                         const std::vector<registry::Stored<registry::LedgerRecord>>& moves) {
  std::set<registry::ViewDigest> views;
  for (const auto& move : moves)
    if (registry::keeps_view_of(channel, move.record)) views.insert(move.record.to_view);
  return views.size();
}
} // namespace

Result<Pruned> prune(ObjectStore& store, const std::string& channel, const Keep& keep, const Author& author,
                     bool dry_run) {
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto moves, registry::ledger_chain(store, now.record));
  auto next = now.record;
  next.guard.keeps_from = std::max(next.guard.keeps_from, kept_from(moves, keep));
  Pruned pruned{{next, false}, views_kept(now.record, moves) - views_kept(next, moves)};
  if (dry_run) return pruned;
  auto change = [&](const Guard& guard) -> Result<Guard> {
    auto changed = guard;
    changed.keeps_from = std::max(guard.keeps_from, next.guard.keeps_from);
    return changed;
  };
  TRY(pruned.guarded, publish::change_guard(store, channel, change, reason_of(store, registry::Action::prune, author)));
  return pruned;
}

} // namespace quarry::promote
