#pragma once
// Remembers the results of proofs of derived sets, so that one command proves a set only once. Thread-safe.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace quarry::gate {

class Proofs {
public:
  /// A set, and the sha256 of its derivation record.
  using Key = std::pair<registry::SetDigest, Sha256>;
  /// nullopt: there was no proof yet. An error: the proof failed with it.
  std::optional<Result<void>> find(const Key& key) const {
    std::lock_guard lock(mutex_);
    auto found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    return found->second ? Result<void>(fail(*found->second)) : Result<void>();
  }
  void add(const Key& key, std::optional<Error> defect) {
    std::lock_guard lock(mutex_);
    known_.emplace(key, std::move(defect));
  }

private:
  mutable std::mutex mutex_;
  std::map<Key, std::optional<Error>> known_;
};

} // namespace quarry::gate
