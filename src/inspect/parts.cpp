#include "inspect/parts.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/requirement.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_json_bytes_max = 16u << 20; // a manifest of links of 50,000 files
constexpr std::string_view k_requires = "metadata:Requires-Dist";
constexpr std::string_view k_script = "script:";

using Strings = std::vector<std::string>;

const Strings& values_at(const Values& values, const std::string& place) {
  static const Strings k_none;
  auto found = values.find(place);
  return found == values.end() ? k_none : found->second;
}

Strings missing_in(const Strings& a, const Strings& b) {
  Strings out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// A requirement as `name` and the extra that asks for it, by which two of them are paired.
struct NamedRequirement {
  std::string name;        ///< `x`, `x; extra == "y"`
  std::string unmarked;    ///< "x[z]==1": what is required, without when
  std::string marker;      ///< when
  std::string requirement; ///< as the package says it
};

std::string extra_clause(const std::string& marker) {
  auto begin = marker.find("extra == \"");
  if (begin == marker.npos) return "";
  auto end = marker.find('"', begin + std::string_view("extra == \"").size());
  return end == marker.npos ? "" : "; " + marker.substr(begin, end + 1 - begin);
}

NamedRequirement named_requirement(const std::string& text) {
  auto parsed = dist::Requirement::parse(text);
  if (!parsed) return {text, text, "", text};
  auto semicolon = std::min(text.find(';'), text.size());
  return {parsed->project.str() + extra_clause(parsed->marker.str()), text.substr(0, semicolon), parsed->marker.str(),
          text};
}

/// By name: the requirements that one side alone has.
std::map<std::string, std::vector<NamedRequirement>> requirements_by_name(const Strings& texts) {
  std::map<std::string, std::vector<NamedRequirement>> found;
  for (const auto& text : texts) {
    auto one = named_requirement(text);
    found[one.name].push_back(std::move(one));
  }
  return found;
}

std::vector<Part> requirement_parts(const Strings& left, const Strings& right) {
  auto l = requirements_by_name(missing_in(left, right)), r = requirements_by_name(missing_in(right, left));
  std::vector<Part> parts;
  auto place = [](const std::string& name) { return std::string(k_requires) + ":" + name; };
  for (const auto& [name, ours] : l) {
    auto other = r.find(name);
    if (other != r.end() && ours.size() == 1 && other->second.size() == 1) {
      const auto &a = ours[0], &b = other->second[0];
      auto marker = a.unmarked == b.unmarked ? fmt::format("!marker:{}|{}", a.marker, b.marker) : std::string();
      parts.push_back({place(name) + marker, Kind::metadata, a.requirement + " | " + b.requirement});
      r.erase(other);
      continue;
    }
    for (const auto& each : ours) parts.push_back({place(name), Kind::only_left, each.requirement});
  }
  for (const auto& [name, theirs] : r)
    for (const auto& each : theirs) parts.push_back({place(name), Kind::only_right, each.requirement});
  return parts;
}

std::vector<Part> item_parts(const std::string& place, const Strings& left, const Strings& right) {
  std::vector<Part> parts;
  for (const auto& text : missing_in(left, right)) parts.push_back({place + ":" + text, Kind::only_left, text});
  for (const auto& text : missing_in(right, left)) parts.push_back({place + ":" + text, Kind::only_right, text});
  return parts;
}

bool has_program(const Entries& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
    auto base = path::basename(entry.first);
    return base == name || base == std::string(name) + ".exe";
  });
}

std::vector<Part> script_parts(const std::string& place, const Described& left, const Described& right) {
  const auto &l = values_at(left.values, place), &r = values_at(right.values, place);
  if (!l.empty() && !r.empty()) {
    bool same = text::replace_all(l[0], "_", "") == text::replace_all(r[0], "_", "");
    return same ? std::vector<Part>{{place + "!spelling", Kind::metadata, l[0] + " | " + r[0]}} : std::vector<Part>{};
  }
  auto name = std::string_view(place).substr(k_script.size());
  if (has_program(left.entries, name) || has_program(right.entries, name)) return {};
  return {{place + "!no-program", l.empty() ? Kind::only_right : Kind::only_left, l.empty() ? r[0] : l[0]}};
}

Json in_one_order(const Json& value) {
  if (!value.is_structured()) return value;
  Json sorted = value;
  for (auto& each : sorted) each = in_one_order(each);
  if (sorted.is_array()) std::sort(sorted.begin(), sorted.end());
  return sorted;
}

} // namespace

std::vector<Part> parts_of(const std::string& place, const Described& left, const Described& right) {
  if (place.starts_with(k_script)) return script_parts(place, left, right);
  const auto &l = values_at(left.values, place), &r = values_at(right.values, place);
  if (place == k_requires) return requirement_parts(l, r);
  if (place == "metadata:Provides-Extra") return item_parts(place, l, r);
  bool one_word = place == "wheel:Root-Is-Purelib" || place == "metadata:Requires-Python";
  if (!one_word || l.empty() || r.empty()) return {};
  return {{fmt::format("{}:{}|{}", place, l[0], r[0]), Kind::metadata, l[0] + " | " + r[0]}};
}

Result<bool> same_json(const content::Rope& left, const content::Rope& right) {
  if (left.size() > k_json_bytes_max || right.size() > k_json_bytes_max) return false;
  TRY(auto l, left.read_all(k_json_bytes_max));
  TRY(auto r, right.read_all(k_json_bytes_max));
  auto one = json::parse({l, "left"}), other = json::parse({r, "right"});
  return one && other && in_one_order(*one) == in_one_order(*other);
}

} // namespace quarry::inspect
