#pragma once
// Taking files out of a channel: a move to a view without them, which also blocks them. Nothing is deleted.
#include "base/finding.hpp"
#include "promote/guard.hpp"
#include "registry/registry.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::promote {

struct Withdrawal {
  registry::View view;                        ///< what the channel shows afterwards
  std::vector<registry::SetRecord> derived;   ///< what stays of sets that lose some of their files
  std::vector<registry::BlockedFile> blocked; ///< the files that leave, sorted by sha256
  registry::Channel expected;                 ///< what it was planned from
  std::vector<registry::SealedSet> stay = {}; ///< what the channel shows afterwards
  std::set<std::string> projects = {};        ///< of the files that leave
  /// Directories of the runs that they came from, with their names: whose pages list them on.
  std::map<std::string, std::set<std::string>> runs = {};

  bool moves() const { return view.digest != expected.record.view; } ///< not when all of it left before
};

/// What leaves a channel. `what` are `set:DIGEST`, names of files, or their sha256. A set leaves with those of its
/// files that are in no set that stays; a file leaves every set. What the channel does not show and blocks left before:
/// it changes nothing. not_found R015; O024 if the channel neither shows nor blocks anything of one of them. Reads the
/// view and two records for each of its sets; writes nothing.
Result<Withdrawal> plan_withdrawal(store::ObjectReader& store, const std::string& channel,
                                   const std::vector<std::string>& what);
/// What stays where files leave.
struct WhatStays {
  const std::vector<registry::SealedSet>& sets;
  const std::set<std::string>& projects; ///< of the files that leave
  std::string place;                     ///< "channel stable"
};
/// Warnings O051: packages that stay and cannot be installed any more, because they require a project that leaves.
/// Costs a read for each wheel that stays, sixteen at once.
Result<Findings> broken_by(store::ObjectReader& store, const WhatStays& rest);
Result<Findings> broken_by(store::ObjectReader& store, const Withdrawal& plan);
struct Withdrawn {
  registry::ChannelRecord channel;
  Findings notes; ///< of the merged index: P050, P053
};
/// Moves the channel, unless all of it left before, and writes its pages. The same command completes one that was
/// killed. precondition_failed R003 when somebody else moved it since it was planned: then nothing was changed.
Result<Withdrawn> withdraw(store::ObjectStore& store, const Withdrawal& plan, const Author& author);

} // namespace quarry::promote
