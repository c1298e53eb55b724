#pragma once
// Where logs come from: a file, the logs in a zip such as GitHub gives of a run, the `.txt` and `.log` files below a
// directory. Read in blocks, so that memory does not grow with the log.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "buildlog/lines.hpp"
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_inputs_max = 10'000;             ///< logs of one command; a run of 256 jobs has 256
constexpr std::uint64_t k_stream_bytes_max = 512u << 20; ///< of a pipe, which is kept in memory
constexpr std::size_t k_block_bytes = 256u << 10;        ///< stays in the second-level cache

struct Input {
  std::string name;    ///< "build.log", "logs.zip!0_build.txt"
  std::string variant; ///< what tables call it: the name without directories and ending
  std::uint64_t size = 0;
  /// Hands the log over in blocks; may be called again. Stops when the program is interrupted (D006).
  std::function<Result<void>(const std::function<void(std::string_view)>&)> read;
  std::uint64_t lines_before = 0; ///< in the file: a log of several jobs is one input for each
  bool labelled = false;          ///< the operand names the variant
};

/// The logs that `named` stands for: `FILE`, or `LABEL=FILE` if no file has the whole name. A run's zip gives the
/// logs of its jobs; the files of their steps repeat them. A file of `gh run view --log` gives one input for each job.
/// `-` is standard input; it and other pipes are read into memory, up to k_stream_bytes_max. Findings: defects of a
/// zip's framing that do not hide bytes, X518 (named like a zip), X519 (UTF-16). Errors: D001, X502 (no log in it, no
/// text, not a zip that can be read, nothing but empty logs, a label without a file), Zxxx. In a directory, too, the
/// files of steps are left out beside those of their jobs (`3_build.txt` beside `build/5_Compile.txt`).
Result<std::vector<Input>> find_inputs(const std::string& named, Findings& findings);

/// Logs of one name in different directories, or in different zips, get the names of these: `py3.11/build.log` and
/// `py3.12/build.log` are `py3.11` and `py3.12`. Labels stay. find_inputs() does it for the logs of one operand.
void tell_apart(std::vector<Input>& inputs);

/// Line by line. Errors: those of reading.
Result<void> read_lines(const Input& input, const std::function<void(const Line&)>& take);

} // namespace quarry::buildlog
