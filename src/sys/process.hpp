#pragma once
// Child processes: own process group, deadline, bounded capture; killed as a group so that no grandchild stays.
#include "base/result.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::sys {

struct ProcessSpec {
  std::vector<std::string> argv;                  ///< argv[0] is looked up in PATH of `environment`
  std::map<std::string, std::string> environment; ///< the whole environment; nothing is inherited
  std::string directory;                          ///< empty: the caller's
  std::optional<std::uint64_t> deadline_ms;       ///< SIGTERM to the group, then SIGKILL after 5 s
  std::uint64_t capture_bytes_max = 64u << 20;    ///< per stream; more is counted, not kept
  bool merge_stderr = false;                      ///< stderr goes into `out`
  /// Nothing that the child has started outlives it, also daemons outside of its group. Only where no other thread runs
  /// a process.
  bool ends_descendants = false;
  std::function<void(std::string_view)>
      on_output; ///< each chunk of out (and err), as it comes, from the calling thread
};

struct ProcessResult {
  int exit_code = 0; ///< 128 + signal when killed
  int signal = 0;
  bool timed_out = false;
  std::string out, err;
  std::uint64_t dropped_bytes = 0;
  double seconds = 0;
  std::uint64_t max_rss_bytes = 0;
};

/// Runs to the end. missing_program D007 when argv[0] cannot be found or executed; a non-zero exit is not an error
/// here. An interruption of ours ends the child's group and returns cancelled. With `ends_descendants` also
/// permission_denied D017 (nothing is started) and D018 (something could not be ended).
Result<ProcessResult> run_process(const ProcessSpec& spec);
/// The absolute path of `program` in a PATH value; empty when absent.
std::string find_program(std::string_view program, std::string_view path_value);

} // namespace quarry::sys
