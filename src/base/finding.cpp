#include "base/finding.hpp"

#include <algorithm>

namespace quarry {

std::string_view to_string(Severity severity) {
  switch (severity) {
  case Severity::note: return "note";
  case Severity::warning: return "warning";
  case Severity::error: return "error";
  }
  return "error";
}

bool has_errors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
}

std::string render(const Findings& findings) {
  std::string text;
  for (const auto& f : findings) {
    text += std::string(to_string(f.severity)) + "[" + f.code + "]: " + (f.place.empty() ? "" : f.place + ": ") +
            f.message + "\n";
    for (const auto& detail : f.details) text += "  " + detail + "\n";
    if (!f.fix.empty()) text += "  hint: " + f.fix + "\n";
  }
  return text;
}

} // namespace quarry
