#include "workflow/claims_text.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <array>

namespace quarry::workflow {

namespace {
/// A line that goes on in the next one, as in commit messages: the next begins like the middle of a sentence.
bool goes_on(std::string_view line, std::string_view next) {
  if (line.empty() || next.empty() || line.ends_with('.') || line.ends_with(':') || line.ends_with(';')) return false;
  return ascii::is_lower(next[0]) || next[0] == '`' || next[0] == '(';
}

bool is_list_item(std::string_view line) {
  auto digits = line.find_first_not_of("0123456789");
  return line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") ||
         (digits != line.npos && digits > 0 && (line[digits] == '.' || line[digits] == ')'));
}

/// Titles of parts that tell what is seen or what is still to be done, not what the change does.
bool is_aside_title(std::string_view title) {
  static constexpr std::array<std::string_view, 20> k_titles = {
      "rollout",     "roll-out",   "roll out", "deployment", "next step",  "follow-up",    "follow up",
      "followup",    "future",     "todo",     "test plan",  "testing",    "migration",    "after merg",
      "before merg", "post-merge", "symptom",  "reproduc",   "background", "rollback plan"};
  auto lower = text::lower(title);
  return std::any_of(k_titles.begin(), k_titles.end(), [&](auto part) { return lower.find(part) != lower.npos; });
}

/// Whether the lines of a description stand in such a part.
class AsideParts {
public:
  bool contains(const std::string& line) {
    auto level = title_level(line);
    bool ends = level > 0 ? level <= level_ : level_ == k_label && blank_ && !line.empty() && !is_list_item(line);
    if (ends) level_ = 0;
    if (level > 0 && level_ == 0 && is_aside_title(line)) level_ = level;
    blank_ = line.empty();
    return level_ > 0;
  }

private:
  static constexpr std::size_t k_bold = 7, k_label = 8, k_label_words = 6;

  /// 1 to 6 for `#` to `######`, k_bold for `**Title**`, k_label for `Title:`; 0 for other lines.
  static std::size_t title_level(const std::string& line) {
    auto marks = line.find_first_not_of('#');
    if (line.starts_with('#') && marks != line.npos && line[marks] == ' ') return std::min<std::size_t>(marks, 6);
    bool bold = line.starts_with("**") && line.size() > 4 && (line.ends_with("**") || line.ends_with("**:"));
    if (bold && line.find("**", 2) >= line.size() - 3) return k_bold;
    bool label = line.ends_with(':') && !is_list_item(line) && line.find('`') == line.npos &&
                 text::split_any(line, " ").size() <= k_label_words;
    return label ? k_label : 0;
  }
  std::size_t level_ = 0; ///< of the title of the part; 0: outside
  bool blank_ = false;    ///< the line before
};
} // namespace

std::vector<std::string_view> statements_of(std::string_view line) {
  std::vector<std::string_view> found;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '`') quoted = !quoted;
    bool ends = (line[at] == '.' || line[at] == ';') && (at + 1 == line.size() || line[at + 1] == ' ');
    if (quoted || !ends) continue;
    found.push_back(line.substr(begin, at - begin));
    begin = at + 1;
  }
  if (begin < line.size()) found.push_back(line.substr(begin));
  return found;
}

std::vector<Paragraph> paragraphs_of(std::string_view text) {
  std::vector<Paragraph> found;
  std::uint32_t number = 0;
  bool code = false;
  AsideParts asides;
  std::string last; // the line before, empty if it does not count
  for (const auto& line : text::lines(text)) {
    ++number;
    auto trimmed = std::string(text::trim(line));
    if (trimmed.starts_with("```")) code = !code;
    bool quiet = trimmed.starts_with('#') || trimmed.starts_with('>') || trimmed.starts_with('|') ||
                 trimmed.starts_with("- [ ]");
    bool aside = !code && asides.contains(trimmed);
    if (code || quiet || aside || trimmed.starts_with("```") || trimmed.starts_with("<!--")) trimmed.clear();
    if (goes_on(last, trimmed))
      found.back().text += " " + trimmed;
    else if (!trimmed.empty())
      found.push_back({trimmed, number});
    last = std::move(trimmed);
  }
  return found;
}

} // namespace quarry::workflow
