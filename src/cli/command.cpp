#include "cli/command.hpp"

#include <fmt/core.h>
#include <stdexcept>

namespace quarry::cli {

namespace {
using Fallback = std::optional<std::string>;

const Fallback& fallback_of(const Arguments& arguments, std::string_view flag) {
  auto known = arguments.fallbacks.find(flag);
  if (known == arguments.fallbacks.end())
    throw std::logic_error(fmt::format("a command reads {}, which its table lacks", flag));
  return known->second;
}
} // namespace

bool Arguments::has(std::string_view flag) const {
  fallback_of(*this, flag);
  return values.contains(flag);
}

std::optional<std::string> Arguments::find(std::string_view flag) const {
  const auto& fallback = fallback_of(*this, flag);
  auto given = values.find(flag);
  return given != values.end() && !given->second.empty() ? Fallback(given->second.back()) : fallback;
}

std::string Arguments::get(std::string_view flag) const { return find(flag).value_or(""); }

std::vector<std::string> Arguments::list(std::string_view flag) const {
  const auto& fallback = fallback_of(*this, flag);
  if (auto given = values.find(flag); given != values.end()) return given->second;
  return fallback ? std::vector<std::string>{*fallback} : std::vector<std::string>{};
}

} // namespace quarry::cli
