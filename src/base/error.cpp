#include "base/error.hpp"

#include <array>

namespace quarry {

namespace {
// In the order of ErrorKind. Exit codes are a contract with scripts: docs/exit-codes.md.
constexpr std::array<ErrorTraits, 17> k_traits{{
    {"invalid_argument", false, 2, 400},
    {"not_found", false, 3, 404},
    {"already_exists", false, 7, 409},
    {"precondition_failed", true, 7, 412},
    {"corrupt", false, 6, 502},
    {"permission_denied", false, 12, 403},
    {"unauthenticated", false, 4, 401},
    {"unavailable", true, 5, 503},
    {"timed_out", true, 124, 504},
    {"cancelled", false, 130, 499},
    {"resource_exhausted", false, 12, 507},
    {"missing_program", false, 12, 500},
    {"unsupported", false, 1, 501},
    {"outcome_unknown", false, 8, 500},
    {"failed", false, 1, 500},
    {"held", false, 10, 409},
    {"internal", false, 11, 500},
}};
} // namespace

const ErrorTraits& traits(ErrorKind kind) { return k_traits.at(static_cast<std::size_t>(kind)); }

std::string render(const Error& error) {
  std::string text = "error";
  if (!error.code.empty()) text += "[" + error.code + "]";
  text += ": " + error.message + "\n";
  for (const auto& detail : error.details) text += "  " + detail + "\n";
  for (const auto& line : error.context) text += "  " + line + "\n";
  if (!error.hint.empty()) text += "\nhint: " + error.hint + "\n";
  return text;
}

} // namespace quarry
