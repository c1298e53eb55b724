#include "cli/package_diff.hpp"

#include "base/units.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

using inspect::Difference;
using inspect::PackageDiff;

namespace {
std::string of_side(const std::optional<inspect::Side>& side, const std::string& text) { return side ? text : "-"; }

std::string header_of(const PackageDiff& package) {
  auto version = [](const auto& side) { return of_side(side, side ? side->version : ""); };
  auto size = [](const auto& side) { return of_side(side, side ? units::bytes(side->size) : ""); };
  return fmt::format("{}  {} | {}  {} | {}  {} agree\n", package.package, version(package.left), version(package.right),
                     size(package.left), size(package.right), units::count(package.equal));
}

std::string line_of(const Difference& difference) {
  auto line = fmt::format("  {:<10}  {}", to_string(difference.kind), difference.place);
  if (!difference.message.empty()) line += (difference.place.empty() ? "" : ": ") + difference.message;
  if (difference.allowed) line += fmt::format("  (expected: {})", difference.reason);
  return line + "\n";
}

Json side_json(const std::optional<inspect::Side>& side) {
  if (!side) return nullptr;
  return {{"file", side->file}, {"version", side->version}, {"size", side->size}, {"sha256", side->sha256.hex()}};
}

} // namespace

std::string text_of(const PackageDiff& package) {
  auto text = header_of(package);
  for (const auto& difference : package.differences) text += line_of(difference);
  return text;
}

Json package_json(const PackageDiff& package) {
  Json differences = Json::array();
  for (const auto& d : package.differences)
    differences.push_back({{"place", d.place},
                           {"kind", to_string(d.kind)},
                           {"message", d.message},
                           {"allowed", d.allowed},
                           {"reason", d.allowed ? Json(d.reason) : Json(nullptr)}});
  return {{"package", package.package},
          {"left", side_json(package.left)},
          {"right", side_json(package.right)},
          {"equal", package.equal},
          {"differences", differences}};
}

} // namespace quarry::cli
