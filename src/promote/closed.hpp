#pragma once
// Private to the room.
// What moves without the rest must be installable where it goes: each requirement and each extra of each package, for
// each Python and platform, in the channel, among what moves, or in the base index. No installer is run.
#include "closure/closure_rules.hpp"
#include "promote/plan.hpp"
#include "registry/empty_extras.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::promote {

/// What the channel shows and what the release makes. Reads a project's shard when the search comes to it, and METADATA
/// when it tries a version.
class ChannelPackages final : public closure::Surroundings {
public:
  /// All outlive it.
  ChannelPackages(store::ObjectReader& store, const registry::ViewRecord& view, const Request& request);
  Result<std::vector<closure::Package>> packages(const std::string& project) const override;
  /// A package that is not there whole cannot be installed, and is not an error: the channel showed it before.
  Result<const closure::Package*> with_requirements(const closure::Package& package) const override;
  bool owns(const std::string& project) const override;

private:
  store::ObjectReader& store_;
  const registry::ViewRecord& view_;
  const Request& request_;
  std::set<std::string> ours_; ///< projects that the release makes, also what of them is held
  mutable std::map<std::string, registry::FileRecord> met_; ///< by file name
  mutable std::map<std::string, closure::Package> read_;
};

/// Asks again as less and less moves.
class Closed {
public:
  /// The request and the view outlive it.
  Closed(store::ObjectReader& store, const Request& request, const registry::ViewRecord& shown);
  /// Holds the cells whose files could not be installed if just these sets moved. Returns whether one is held now that
  /// was ready. Costs a read for each wheel the first time, 16 at once.
  Result<bool> hold(const std::vector<registry::SealedSet>& moving, gate::Verdict& verdict);
  /// The extras that the policy lists and that cannot be installed, by the last question.
  const std::vector<registry::EmptyExtra>& empty_extras() const { return empty_extras_; }
  /// O028, if a dependency was not looked for because no base index was named.
  Findings notes() const;

private:
  Result<std::vector<closure::Package>> packages_of(const std::vector<registry::SealedSet>& moving);
  bool may_be_empty(const closure::Package& package, const closure::Unmet& unmet);

  store::ObjectReader& store_;
  const Request& request_;
  ChannelPackages channel_;
  std::map<Sha256, closure::Package> read_;
  std::vector<registry::EmptyExtra> empty_extras_;
  std::set<std::string> taken_as_given_;
};

} // namespace quarry::promote
