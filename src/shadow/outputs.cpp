#include "shadow/outputs.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <vector>

namespace quarry::shadow {

namespace {
constexpr const char* k_upload = "upload"; // GITHUB_ENV of the script that decided about releases

/// Where a URL begins that leads to the position.
std::size_t begin_of_url(const std::string& value, std::size_t position) {
  auto begin = value.find_last_of(" \t\n,;\"'()", position);
  return begin == value.npos ? 0 : begin + 1;
}

/// "https://any/place/42-linux/python" becomes "{run}/python".
std::string without_place(std::string value, const std::string& run) {
  if (run.empty()) return value;
  for (std::size_t at = 0; (at = value.find("/" + run, at)) != value.npos;) {
    auto end = at + 1 + run.size();
    auto begin = begin_of_url(value, at);
    bool whole = end == value.size() || value[end] == '/' || value[end] == ' ';
    if (!whole || value.find("://", begin) >= at) {
      at = end;
      continue;
    }
    value.replace(begin, end - begin, "{run}");
    at = begin + 5;
  }
  return value;
}

Unexpected not_outputs(const std::string& place, const std::string& what) {
  return fail(ErrorKind::invalid_argument, "Q502", fmt::format("{}: {}", place, what),
              "name the files that GITHUB_OUTPUT or GITHUB_ENV of the jobs led to");
}

struct Lines {
  std::vector<std::string> all;
  std::size_t next = 0;
};

/// The value of "NAME<<END": the lines up to END.
Result<std::string> value_of_lines(Lines& lines, const std::string& end, const std::string& place) {
  std::string value;
  while (lines.next < lines.all.size()) {
    const auto& line = lines.all[lines.next++];
    if (line == end) return value;
    value += (value.empty() ? "" : "\n") + line;
  }
  return not_outputs(place, fmt::format("the line {} that ends the value is missing", end));
}

Section one_difference(Difference difference, const Table& table) {
  difference.reason = table.reason(difference.topic, difference.place);
  return {0, {std::move(difference)}};
}

std::string upload_in(const Outputs& outputs) {
  auto found = outputs.find(k_upload);
  return found == outputs.end() ? "" : text::lower(found->second);
}
} // namespace

Result<void> read_outputs(NamedText source, const std::string& run, Outputs& outputs) {
  const auto file = source.name;
  Lines lines{text::lines(source.text)};
  while (lines.next < lines.all.size()) {
    auto place = fmt::format("{}:{}", file, lines.next + 1);
    const auto line = lines.all[lines.next++];
    if (text::trim(line).empty()) continue;
    auto equals = line.find('='), heredoc = line.find("<<");
    if (equals == line.npos && heredoc == line.npos) return not_outputs(place, "the line is not NAME=VALUE");
    bool several = heredoc < equals;
    auto name = line.substr(0, several ? heredoc : equals);
    auto value = several ? std::string() : line.substr(equals + 1);
    if (several) {
      TRY(value, value_of_lines(lines, line.substr(heredoc + 2), place));
    }
    value = without_place(std::move(value), run);
    auto [known, fresh] = outputs.try_emplace(name, value);
    if (!fresh && known->second != value) return not_outputs(place, fmt::format("{} has another value already", name));
  }
  return {};
}

Section compare_outputs(const JobOutputs& outputs, const Table& table) {
  const auto& [ours, theirs] = outputs;
  Section section;
  auto differs = [&](std::string place, std::string left, std::string right) {
    Difference difference{Topic::outputs, std::move(place), std::move(left), std::move(right)};
    difference.reason = table.reason(Topic::outputs, difference.place);
    section.differences.push_back(std::move(difference));
  };
  for (const auto& [name, value] : ours) {
    if (name == k_upload) continue;
    auto other = theirs.find(name);
    if (other == theirs.end())
      differs(name + "!ours", value, "");
    else if (other->second != value)
      differs(name, value, other->second);
    else
      ++section.equal;
  }
  for (const auto& [name, value] : theirs)
    if (name != k_upload && !ours.contains(name)) differs(name + "!theirs", "", value);
  return section;
}

Section compare_verdicts(const JobOutputs& outputs, const std::string& verdict, const Table& table) {
  auto left = verdict.empty() ? upload_in(outputs.ours) : verdict == "ready" ? "true" : "false";
  auto right = upload_in(outputs.theirs);
  if (left.empty() && right.empty()) return {};
  if (left == right) return {1, {}};
  return one_difference({Topic::verdicts, k_upload, verdict.empty() ? left : verdict, right}, table);
}

} // namespace quarry::shadow
