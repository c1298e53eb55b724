#pragma once
// All checks of a fetch, with nothing written.
#include "artifact/source.hpp"
#include "artifact/unpack.hpp"
#include <vector>

namespace quarry::artifact {

struct VerifyOptions {
  bool allow_unverified = false;
  std::uint64_t max_ratio = 60; ///< see UnpackOptions
  unsigned jobs = 1;
  unsigned at_once = 0;                             ///< see FetchOptions
  bool remote = false;                              ///< likewise
  std::function<void(std::uint64_t)> on_bytes = {}; ///< archive bytes read since the last call, from any thread
};

struct Verdict {
  Name name;
  std::string file;
  bool exploded = false, verified = false; ///< verified: against its checksum file
  std::optional<Sha256> digest;
  std::uint64_t files = 0, bytes = 0;
  tar::CasePairs case_pairs; ///< see Unpacked
  std::optional<Error> error;
};

/// One verdict for each item, in their order; several at a time. Fails only when it is cancelled.
Result<std::vector<Verdict>> verify(const std::vector<SourceItem>& items, const VerifyOptions& options);
/// 0, or the exit code of the worst error (6 before the others).
int exit_code_of(const std::vector<Verdict>& verdicts);

} // namespace quarry::artifact
