#include "cli/job_files.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <array>
#include <fmt/core.h>
#include <span>

namespace quarry::cli {

namespace {
/// What cannot be read at its end (it is new, or a pipe) has no line to end.
bool ends_inside_a_line(const std::string& path) {
  auto file = sys::File::open_read(path);
  auto size = file ? file->size() : Result<std::uint64_t>(0);
  if (!size || *size == 0) return false;
  std::array<std::byte, 1> last{};
  auto read = file->read_at(*size - 1, last);
  return read && *read == 1 && last[0] != std::byte{'\n'};
}
} // namespace

Result<void> append_for_job(std::string_view variable, const std::string& path, const std::string& lines) {
  if (path.empty() || lines.empty()) return {};
  auto begin = ends_inside_a_line(path) ? "\n" : "";
  TRY(auto file, sys::File::open_append(path), fmt::format("while writing {}", variable));
  TRY_DO(file.write(begin + lines), fmt::format("while writing {}", variable));
  return {};
}

Result<void> append_summary(const Context& context, const std::string& markdown) {
  auto page = context.variable("GITHUB_STEP_SUMMARY"), directory = context.variable("RUNNER_TEMP");
  TRY_DO(append_for_job("GITHUB_STEP_SUMMARY", page, markdown));
  if (page.empty() || directory.empty()) return {};
  return append_for_job("RUNNER_TEMP", path::join(directory, k_job_summary), markdown);
}

} // namespace quarry::cli
