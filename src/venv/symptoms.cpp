#include "venv/symptoms.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {
constexpr std::size_t k_line_bytes_max = 300;

struct Sign {
  std::string_view text;
  ErrorKind kind;
  std::string_view reason;
};
constexpr Sign k_machine_signs[] = {
    {"No space left on device", ErrorKind::resource_exhausted, "no space left on device"},
    {"Disk quota exceeded", ErrorKind::resource_exhausted, "disk quota exceeded"},
    {"os error 28", ErrorKind::resource_exhausted, "no space left on device"},
    {"Read-only file system", ErrorKind::permission_denied, "read-only file system"},
    {"os error 30", ErrorKind::permission_denied, "read-only file system"},
    {"[Errno 13]", ErrorKind::permission_denied, "permission denied"},
    {"os error 13", ErrorKind::permission_denied, "permission denied"},
};

const Sign* sign_in(std::string_view text) {
  auto at = std::find_if(std::begin(k_machine_signs), std::end(k_machine_signs),
                         [&](const Sign& sign) { return text.find(sign.text) != text.npos; });
  return at == std::end(k_machine_signs) ? nullptr : at;
}
} // namespace

bool lacks_build_tools(std::string_view output) {
  static constexpr std::string_view k_signs[] = {"No module named 'setuptools'",
                                                 "invalid command 'bdist_wheel'",
                                                 "Cannot import 'setuptools.build_meta'",
                                                 "No matching distribution found for setuptools",
                                                 "No matching distribution found for wheel",
                                                 "setuptools was not found",
                                                 "wheel was not found"};
  return std::any_of(std::begin(k_signs), std::end(k_signs),
                     [&](std::string_view sign) { return output.find(sign) != output.npos; });
}

std::optional<MachineTrouble> machine_trouble(std::string_view output) {
  if (!sign_in(output)) return std::nullopt;
  // The last line with a sign: earlier ones may be of a build that failed and was tried otherwise.
  auto lines = text::lines(output);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const auto* sign = sign_in(*line))
      return MachineTrouble{sign->kind, std::string(text::trim(*line)).substr(0, k_line_bytes_max)};
  return std::nullopt;
}

Error machine_trouble_error(const MachineTrouble& trouble, std::string_view action) {
  const auto* sign = sign_in(trouble.line);
  bool full = trouble.kind == ErrorKind::resource_exhausted;
  return {trouble.kind,
          "V016",
          fmt::format("{}: {}", action, sign ? sign->reason : "the machine refused"),
          {trouble.line},
          {},
          full ? "free some space there and in TMPDIR, then run the same command again"
               : "choose a place that this user may write, or change its permissions"};
}

} // namespace quarry::venv
