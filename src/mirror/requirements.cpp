#include "mirror/requirements.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::mirror {

namespace {

struct Line {
  std::size_t number = 0;
  std::string text;
};

/// Continued lines are one; a comment begins at the line's start or behind a blank.
std::vector<Line> logical_lines(std::string_view text) {
  std::vector<Line> result;
  std::size_t number = 0;
  bool continued = false;
  for (auto line : text::lines(text)) {
    ++number;
    auto hash = line.find('#');
    while (hash != line.npos && hash > 0 && line[hash - 1] != ' ' && line[hash - 1] != '\t')
      hash = line.find('#', hash + 1);
    if (hash != line.npos) line.resize(hash);
    bool goes_on = line.ends_with('\\');
    if (goes_on) line.pop_back();
    if (continued)
      result.back().text += line;
    else
      result.push_back({number, line});
    continued = goes_on;
  }
  return result;
}

Unexpected error(const std::string& place, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "U001", fmt::format("{}: {}", place, why),
              "one requirement a line, such as numpy>=1.26,<3; name the index with --index-url");
}

Result<void> add_implied(std::vector<Asked>& asked) {
  for (const std::string name : {"setuptools", "wheel"}) {
    auto same = [&](const Asked& one) { return one.requirement.project.str() == name; };
    if (std::any_of(asked.begin(), asked.end(), same)) continue;
    TRY(auto requirement, dist::Requirement::parse(name));
    asked.push_back({std::move(requirement), "building source distributions"});
  }
  return {};
}

} // namespace

Result<std::vector<Asked>> parse_requirements(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  std::vector<Asked> asked;
  for (const auto& line : logical_lines(text)) {
    auto trimmed = text::trim(line.text);
    if (trimmed.empty()) continue;
    auto place = fmt::format("{}:{}", file, line.number);
    if (trimmed.starts_with('-') || trimmed.find(" --") != trimmed.npos)
      return error(place, fmt::format("options are not read here: {}", trimmed.substr(0, 100)));
    TRY(auto requirement, dist::Requirement::parse(trimmed), "in " + place);
    if (!requirement.url.empty())
      return error(place, fmt::format("{} is asked for by URL, not from the index", requirement.project.str()));
    if (asked.size() >= k_requirements_max) return error(place, "there are more than 10,000 requirements");
    asked.push_back({std::move(requirement), place});
  }
  if (asked.empty()) return error(file, "it names no project");
  TRY_DO(add_implied(asked));
  return asked;
}

} // namespace quarry::mirror
