#pragma once
// What a store holds, as far as retention decides about it: a value.
#include "base/finding.hpp"
#include "registry/retired.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::retain {

/// A set that is sealed, or that retention retired.
struct Entry {
  registry::SetDigest digest;
  registry::SetRecord set;
  std::string seal;           ///< its bytes; empty: it is not sealed
  std::int64_t sealed_us = 0; ///< when it was sealed, or written into this store, whichever is later
  std::optional<registry::Retired> retired;

  bool sealed() const { return !seal.empty(); }
  bool is(registry::Retirement::Kind state) const { return retired && retired->record.state == state; }
  std::uint64_t bytes() const;
};

struct Inventory {
  std::vector<Entry> entries;                       ///< sorted by digest
  std::map<registry::SetDigest, std::string> named; ///< by what: "channel stable"; such sets stay
  Findings notes;                                   ///< P080, R021
};

} // namespace quarry::retain
