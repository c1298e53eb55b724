#pragma once
// Objects of a run that are copied to a bucket of releases under other names, each once.
#include "store/object_store.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::cli::compat {

/// All objects below `from` of the run whose names end with `suffix`; below `to` they keep the rest of their key.
struct CopyRule {
  std::string from, suffix, to;
};

struct ReleaseCopy {
  std::string from, to;
  std::uint64_t size = 0;
};

/// Lists what the rules mean, files before the pages of a package repository that name them. Fails with not_found
/// C048 if a rule finds nothing; the error says what the run has. One listing for each rule.
Result<std::vector<ReleaseCopy>> plan_copies(store::ObjectStore& source, const std::string& run,
                                             const std::vector<CopyRule>& rules);
/// Fails with already_exists (R009) if a name has other bytes in `target`, and with corrupt (A011, A012) if a file is
/// not what the checksum file beside it in the run says; writes nothing. A head and a get for each. Files with a
/// checksum file are read unless their digest is recorded; of names that exist without a recorded digest, both sides
/// are read.
Result<void> check_copies(store::ObjectStore& source, store::ObjectStore& target,
                          const std::vector<ReleaseCopy>& copies, unsigned workers);
/// Copies what is missing, on the server where both stores are of one service. Returns how many were written; fails as
/// store::copy_once() does. Run again, it completes what is missing.
Result<std::uint64_t> copy_all(store::ObjectStore& source, store::ObjectStore& target,
                               const std::vector<ReleaseCopy>& copies, unsigned workers);

} // namespace quarry::cli::compat
