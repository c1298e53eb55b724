#pragma once
// `status --to-store`: whether distributions show what the channels give that feed them.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "release/fed.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::cli {

/// Without `--to-store` it does nothing.
class FedReport {
public:
  FedReport(Context& context, const Arguments& arguments) : context_(context), arguments_(arguments) {}
  /// Opens the store of `--to-store`. O008 for `--prefix` without it, O022 for `--prefix` without a channel.
  Result<void> open();
  /// Adds what a channel shows, `sets`, and what its last rollback took out. A channel that the rules of distributions
  /// do not have is left out, unless it is the one that was asked for: P040. Costs what by_last_rollback() does.
  Result<void> add(store::ObjectReader& store, const std::string& channel,
                   const std::vector<registry::SealedSet>& sets);
  /// The others are not known: a channel could not be read.
  void some_are_missing() { all_channels_ = false; }

  struct Told {
    std::vector<Json> rows;
    std::vector<std::string> help; ///< commands that would bring a distribution up to its channel
    Findings lost;                 ///< pointers that are missing or damaged
    bool altered = false;          ///< a move is not as it must be
  };
  /// Looks at each directory and prints its row. One that was never filled is left out where no channel was asked for.
  Result<Told> tell(store::ObjectReader& store);

private:
  Result<void> tell_one(store::ObjectReader& store, const release::FedDistribution& one,
                        const release::Feeding& feeding, Told& told) const;
  Result<std::string> help_for(store::ObjectReader& store, const release::FedDistribution& one,
                               const release::Feeding& feeding) const;
  Result<std::string> completing(store::ObjectReader& store, const registry::SetDigest& set, const std::string& channel,
                                 bool alone) const;
  std::string verifying(const std::string& address) const;

  Context& context_;
  const Arguments& arguments_;
  std::unique_ptr<store::ObjectStore> target_;
  release::Feedings feedings_;
  bool all_channels_ = false;
};

} // namespace quarry::cli
