#pragma once
// Sealed sets copied to another store under a prefix of their own, as a repository that installers read: files, record
// and seal, pointer, pages. On one service no bytes come through us. Run again, it completes what is missing.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "digest/ed25519.hpp"
#include "pages/projection.hpp"
#include "publish/history.hpp"
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarry::publish {

/// Which prefix a channel's packages go to; docs/formats/distributions.md.
struct DistributionRules {
  std::string name;
  std::vector<std::pair<std::string, std::string>> rows; ///< channel or "*", prefix
  bool names(const std::string& channel) const;          ///< whether a row is for exactly this channel
  /// Returns the prefix of the first row for this channel or "*". Fails with not_found P040 if no row fits. Pure.
  Result<std::string> prefix_of(const std::string& channel) const;
};
/// Fails with invalid_argument P042, with file and line. Pure.
Result<DistributionRules> parse_distribution_rules(NamedText named);
/// Returns the rules that `named` means: a word is the name of shipped ones (data/distributions), if they exist; else
/// it is a file. Fails as parse_distribution_rules() and sys::read_file() do.
Result<DistributionRules> find_distribution_rules(const Resources& resources, const std::string& named);

/// Replaces "{family}" and "{platform}" in a prefix by those of the run that made a set. Fails with invalid_argument
/// (P041) if the run has none, or if the result is not a valid key, lies in a directory of a run, or is one that every
/// store uses itself. Pure.
Result<std::string> expand_prefix(const std::string& prefix, const registry::Origin& origin);

/// Fails with invalid_argument (P041) if `prefix` of the target is a directory that the source store uses itself: the
/// target may be opened inside the source, or around it, so that its own keys do not show that; or if the target is
/// opened inside a distribution or channel of any store on this machine. Looks at the paths of stores on this machine;
/// no request.
Result<void> refuse_inside(const store::ObjectReader& source, const store::ObjectReader& target,
                           const std::string& prefix);

/// A set as it will be in the other store.
struct Distributed {
  registry::SetDigest source; ///< the set that it is copied from
  registry::SetRecord set;    ///< with keys and directory below the prefix
  registry::SetDigest digest;
  std::vector<std::string> from;              ///< keys in the source store, parallel to set.files
  std::vector<registry::Remark> remarks = {}; ///< for the pages there
};
/// Returns the sets as they will be below `prefix`, in this order. Fails as placement_of() (placement.hpp) does. Pure.
Result<std::vector<Distributed>> plan_distribution(const std::vector<registry::SealedSet>& sets,
                                                   const std::string& prefix);

/// Returns the `source` of those sets that the other store does not show yet. What registry::read_distribution() costs,
/// for each directory.
Result<std::vector<registry::SetDigest>> not_there_yet(store::ObjectReader& target,
                                                       const std::vector<Distributed>& sets);

/// Returns all objects below a directory that is a repository or can become one. In another one, or around one, it
/// would overwrite its pages: fails with P041 for a directory that the store uses itself, and with already_exists P052,
/// also if the directory holds something else, such as the pages of a channel. One head for each directory above it,
/// one listing, and a read if there is a `pages.json`.
Result<std::vector<store::ObjectInfo>> check_place(store::ObjectReader& target, const std::string& directory);

/// Checks, before anything is moved, whether distribute() would succeed, and plans what it would take over of other
/// tools' packages, for each directory that has some or has notes about them; writes nothing. Fails with R009 if a name
/// that the copy needs has other bytes, R018 or R023 if two of the sets give a name two contents, R010 if a
/// directory has lost its pointer, P017 for a project of the target's base index, P121 for a page of another tool
/// that cannot be read, P052 if the directory is in or around another repository or holds something else, P090, P110,
/// P111 as plan_history() (history.hpp), held R022 if a distribution blocks a file, and R010 to R014 of sets there.
/// Costs a head for each file, sidecar and project, and a listing, two reads for each set and one for each page of the
/// directories; a file that exists without a recorded digest is read. `transfers` requests at the same time.
Result<std::vector<HistoryPlan>> check_distribution(store::ObjectStore& target, const std::vector<Distributed>& sets,
                                                    const HistoryOptions& options);
/// The same with all defaults.
Result<void> check_distribution(store::ObjectStore& target, const std::vector<Distributed>& sets, unsigned transfers);

/// The channels that bring sets, by directory.
using Feeders = std::map<std::string, std::vector<registry::Feeder>>;

struct DistributeOptions {
  sys::Timestamp now;     ///< of the seals
  unsigned transfers = 4; ///< copies on their way
  /// No digest that a store has recorded is believed for sets that the target does not show yet. A protected channel
  /// copies so: whoever may overwrite a wheel in the source can record the digest of the tested one with it.
  bool hash_bytes = false;
  Feeders feeders = {};                    ///< what comes from no channel does not get where a protected one feeds
  std::vector<HistoryPlan> histories = {}; ///< of check_distribution(): what is taken over first, as a move of its own
  std::string who = {}, why = {}, tool = {}; ///< for the moves
  /// Asked once, when everything is copied and sealed; an error ends the call before a directory shows it.
  std::function<Result<void>()> before_showing = {};
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the moves
};
struct DistributeReceipt {
  std::vector<std::string> directories; ///< sorted
  std::vector<std::string> merged;      ///< those of the merged indexes; none without a base index there
  Findings notes;                       ///< P050, P113
  std::uint64_t files = 0, writes = 0;
  std::uint64_t bytes_through_us = 0; ///< of the files' content: 0 when both stores are of one service
};
/// Copies the files of these sets, `options.transfers` at the same time, then writes and seals their records, then adds
/// them to what each directory shows (show_sets(), shown.hpp), and writes its pages. The policies of `options.feeders`
/// are copied, too: they say who may move the directory (promote/fed_moves.hpp). After an error the same call
/// completes it. Fails with R001 if a file is gone, R009 if a name has other bytes, R022 if a directory blocks one,
/// O055 if a directory does not admit the channels, P010 if other writers keep changing the pointer or the pages, and
/// the errors of both stores.
Result<DistributeReceipt> distribute(store::ObjectStore& source, store::ObjectStore& target,
                                     const std::vector<Distributed>& sets, const DistributeOptions& options);

} // namespace quarry::publish
