#include "buildlog/warnings.hpp"

#include "base/text.hpp"
#include "buildlog/lines.hpp"
#include "buildlog/noise.hpp"
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/core.h>

namespace quarry::buildlog {

namespace {
constexpr std::size_t k_subject_bytes_max = 240;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// 1 to 12 for "Mar" or "March"; 0 for another word.
unsigned month_of(std::string_view word) {
  static constexpr std::array<std::string_view, 12> k_names = {"january",   "february", "march",    "april",
                                                               "may",       "june",     "july",     "august",
                                                               "september", "october",  "november", "december"};
  auto lower = text::lower(word);
  for (unsigned i = 0; i < k_names.size(); ++i)
    if (lower == k_names[i] || lower == k_names[i].substr(0, 3)) return i + 1;
  return 0;
}

std::int64_t day_of(std::string_view year, unsigned month, std::string_view day) {
  if (month == 0 || year.size() != 4 || day.empty() || day.size() > 2) return -1;
  return days_of(fmt::format("{}-{:02}-{:0>2}", year, month, day));
}

/// Words and numbers of a text with the places where they begin.
struct Token {
  std::string_view text;
  std::size_t at = 0;
};

/// Without addresses, whose dates are those of pages, and the "nd" of "June 2nd".
std::vector<Token> words_of(std::string_view text) {
  constexpr std::size_t k_looked_at = 512; // a date behind it is not the point of the line
  std::vector<Token> words;
  text = text.substr(0, k_looked_at);
  auto is_ordinal = [&](std::string_view word, std::size_t at) {
    return at > 0 && is_digit(text[at - 1]) && (word == "st" || word == "nd" || word == "rd" || word == "th");
  };
  for (std::size_t i = 0; i < text.size();) {
    auto begin = i;
    if (text.substr(i).starts_with("http://") || text.substr(i).starts_with("https://")) {
      i = std::min(text.find_first_of(" )>]\"'", i), text.size());
      continue;
    }
    if (is_digit(text[i]))
      while (i < text.size() && is_digit(text[i])) ++i;
    else if (is_letter(text[i]))
      while (i < text.size() && is_letter(text[i])) ++i;
    if (i == begin)
      ++i;
    else if (!is_ordinal(text.substr(begin, i - begin), begin))
      words.push_back({text.substr(begin, i - begin), begin});
  }
  return words;
}

/// The subject's key: places, numbers and addresses differ between equal warnings.
std::string masked(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!is_digit(c))
      out += c;
    else if (out.empty() || out.back() != '0')
      out += '0';
  return out;
}

/// "Python 3.14" in "Python 3.14 will, by default, …", "pip 26.0" in "will be removed in pip 26.0", "version 9".
std::string version_deadline(std::string_view text) {
  auto is_version = [](std::string_view word) {
    return !word.empty() && is_digit(word.front()) &&
           std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
  };
  auto parts = text::split_any(text.substr(0, 1024), " \t,;()`'\"");
  bool announced = text.find(" will") != text.npos || text.find("removed in") != text.npos;
  for (std::size_t i = 1; announced && i < parts.size(); ++i) {
    auto number = std::string_view(parts[i]);
    while (number.ends_with('.')) number.remove_suffix(1);
    bool word = std::all_of(parts[i - 1].begin(), parts[i - 1].end(), is_letter);
    bool removal = parts[i - 1] == "in" && i > 1 && parts[i - 2] == "removed";
    if (!is_version(number) || !word || (number.find('.') == number.npos && parts[i - 1] != "version")) continue;
    return removal ? "version " + std::string(number) : parts[i - 1] + " " + std::string(number);
  }
  return {};
}

/// The category of "…/dist.py:759: SetuptoolsDeprecationWarning: message"; empty if the line is not such a warning.
std::string_view category_of(std::string_view text, std::size_t& message) {
  auto at = text.find("Warning: ");
  if (at == text.npos) return {};
  auto begin = at;
  while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '_')) --begin;
  message = at + 9;
  return text.substr(begin, at + 7 - begin);
}

bool says_deprecated(std::string_view text, std::uint64_t words) {
  auto has = [&](Word word) { return (words >> word & 1) != 0; };
  if (has(k_removed) || has(k_unsupported) || has(k_end_of_life)) return true;
  return has(k_deprecated) && text.find(" deprecated") != text.npos; // not in -Wno-deprecated
}

bool is_deprecation(std::string_view category) {
  return category.find("Deprecat") != category.npos || category == "FutureWarning";
}

bool decorates(std::string_view line) {
  return line.find_first_not_of("*!=- ") == line.npos; // the frame that setuptools draws
}
/// "deprecated since March 20, 2026", "deprecated on", "announced", "as of 2026-03-20": from when on it has been so.
/// "Will be removed as of" and "will be deprecated on" are what will come.
bool is_past(const std::vector<Token>& words, std::size_t day, bool announced) {
  auto before = [&](std::size_t n) { return day >= n ? text::lower(words[day - n].text) : std::string(); };
  if (before(1) == "since" || before(2) == "since") return true;
  std::size_t verb = before(1) == "on" || before(1) == "in" ? 2 : 1;
  bool happened = before(verb) == "deprecated" || before(verb) == "announced" || before(verb) == "released";
  if (happened) return before(verb + 1) != "be";
  return !announced && before(1) == "of" && before(2) == "as";
}

/// "gpt-2026-12-10": a part of a name.
bool is_glued(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view k_joins = "-_/.";
  bool before = begin > 1 && k_joins.find(text[begin - 1]) != k_joins.npos && text[begin - 2] != ' ';
  bool after = end + 1 < text.size() && k_joins.find(text[end]) != k_joins.npos && is_letter(text[end + 1]);
  return before || after;
}

/// The day of the line itself: at its begin, or before a time of day. "By 2026-03-20 12:00" is a deadline.
bool is_stamp(std::string_view text, const std::vector<Token>& words, std::size_t day) {
  auto begin = words[day].at;
  if (text.find_first_not_of(" [(") == begin) return true;
  static constexpr std::array<std::string_view, 6> k_deadline = {"by", "until", "till", "before", "after", "on"};
  auto said = day > 0 ? text::lower(words[day - 1].text) : std::string();
  if (std::find(k_deadline.begin(), k_deadline.end(), said) != k_deadline.end()) return false;
  auto rest = text.substr(std::min(words[day + 2].at + words[day + 2].text.size(), text.size()));
  bool clock = rest.size() > 5 && (rest[0] == 'T' || rest[0] == ' ') && is_digit(rest[1]) && is_digit(rest[2]) &&
               rest[3] == ':' && is_digit(rest[4]);
  return clock;
}

/// "in March 2026", "by March 2026": its first day; "until March 2026", "the end of March 2026": its last one.
std::optional<NamedDay> find_month(std::string_view text, const std::vector<Token>& words, std::size_t at) {
  static constexpr std::array<std::string_view, 5> k_first = {"in", "by", "before", "from", "starting"};
  const auto &name = words[at], &year = words[at + 1];
  auto month = month_of(name.text);
  auto before = at > 0 ? text::lower(words[at - 1].text) : std::string();
  bool last = before == "until" || before == "after" || before == "through" ||
              (before == "of" && at > 1 && text::lower(words[at - 2].text) == "end");
  bool first = std::find(k_first.begin(), k_first.end(), before) != k_first.end();
  auto between = text.substr(name.at + name.text.size(), year.at - name.at - name.text.size());
  auto end = year.at + year.text.size();
  if (month == 0 || (!first && !last) || text::trim(between) != "" || is_glued(text, name.at, end)) return std::nullopt;
  if (first && is_past(words, at, text.find(" will ") != text.npos)) return std::nullopt;
  auto day = day_of(year.text, month, "1");
  if (day >= 0 && last) {
    auto number = text::parse_u64(year.text).value_or(0);
    day = month < 12 ? day_of(year.text, month + 1, "1") - 1 : day_of(std::to_string(number + 1), 1, "1") - 1;
  }
  if (day < 0) return std::nullopt;
  return NamedDay{std::string(text.substr(name.at, end - name.at)), day};
}
} // namespace

std::optional<NamedDay> find_day(std::string_view text) {
  auto words = words_of(text);
  bool announced = text.find(" will ") != text.npos;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (auto month = find_month(text, words, i)) return month;
    if (i + 2 == words.size()) break;
    const auto &a = words[i], &b = words[i + 1], &c = words[i + 2];
    std::int64_t day = -1;
    auto between = text.substr(a.at + a.text.size(), b.at - a.at - a.text.size());
    bool alike = text.substr(b.at + b.text.size(), c.at - b.at - b.text.size()) == between;
    bool dashed = alike && (between == "-" || between == "/");
    if (dashed && is_letter(b.text.front()))
      day = day_of(a.text, month_of(b.text), c.text);
    else if (dashed && b.text.size() == 2 && a.text.size() == 4 && c.text.size() == 2)
      day = days_of(fmt::format("{}-{}-{}", a.text, b.text, c.text));
    else if (!dashed && is_letter(a.text.front()))
      day = day_of(c.text, month_of(a.text), b.text);
    else if (!dashed && is_letter(b.text.front()))
      day = day_of(c.text, month_of(b.text), a.text);
    if (day >= 0 && !is_past(words, i, announced) && !is_stamp(text, words, i) &&
        !is_glued(text, a.at, c.at + c.text.size()))
      return NamedDay{std::string(text.substr(a.at, c.at + c.text.size() - a.at)), day};
  }
  return std::nullopt;
}

void WarningCounter::compiler(const Line& line) {
  close();
  constexpr std::string_view k_sign = ": warning: ";
  auto sign = line.text.find(k_sign);
  auto bracket = line.text.rfind("[-W");
  if (sign == line.text.npos || bracket == line.text.npos || bracket < sign + k_sign.size()) return;
  auto flag = line.text.substr(bracket + 1);
  flag = flag.substr(0, flag.find(']'));
  auto place = line.text.substr(0, sign);
  auto message = text::trim(line.text.substr(sign + k_sign.size(), bracket - sign - k_sign.size()));
  count(std::string(flag) + '\n' + std::string(place) + '\n' + masked(message.substr(0, k_subject_bytes_max)),
        {shown(flag), shown(message), shown(place), 0, line.number});
}

void WarningCounter::count(const std::string& key, Warning fresh) {
  if (warnings_.size() >= k_warnings_max && !warnings_.contains(key)) {
    ++uncounted_;
    return;
  }
  ++warnings_.try_emplace(key, std::move(fresh)).first->second.count;
}

void WarningCounter::by_rule(const Line& line, const WarningRule& rule) {
  close();
  auto text = text::trim(line.text);
  if (rule.below) {
    headed_ = Warning{rule.name, {}, shown(text), 0, line.number};
    return;
  }
  // What stands before the word is the place, if it looks like one: "a.cpp(12)", "/usr/bin/ld", "src/x.c:3".
  std::string_view place;
  constexpr std::string_view k_words = ": warning";
  if (auto sign = text.find(k_words); sign != text.npos && text.substr(0, sign).find(' ') == text.npos) {
    place = text.substr(0, sign);
    text = text::trim(text.substr(std::min(text.find(':', sign + 1) + 1, text.size())));
  }
  for (std::string_view sign : {"##[warning]", "WARNING: ", "Warning: ", "warning: "})
    if (text.starts_with(sign)) text = text::trim(text.substr(sign.size()));
  if (text.empty()) return;
  count(rule.name + '\n' + masked(text.substr(0, k_subject_bytes_max)),
        {rule.name, shown(text), shown(place), 0, line.number});
}

void WarningCounter::close_headed(std::string_view message) {
  auto warning = std::move(*headed_);
  headed_.reset();
  warning.message = shown(message.empty() ? std::string_view(warning.place) : message);
  auto key = warning.flag + '\n' + masked(warning.message) + '\n' + warning.place;
  count(key, std::move(warning));
}

bool WarningCounter::words(const Line& line, std::uint64_t words) {
  if (open_ && line.text.starts_with(' ') && line.text.find("Warning: ") == line.text.npos) {
    other(line);
    return true;
  }
  close();
  std::size_t message = 0;
  auto category = category_of(line.text, message);
  bool deprecated = is_deprecation(category) || says_deprecated(line.text, words);
  if (!deprecated && category.size() <= std::string_view("Warning").size()) return false; // "Warning: " names no kind
  auto said = text::trim(message > 0 ? line.text.substr(message) : line.text);
  if (said.starts_with("##[warning]")) said.remove_prefix(11);
  if (!deprecated) {
    auto place = shown(text::trim(line.text.substr(0, message - 9 - (category.size() - 7))));
    count(std::string(category) + '\n' + masked(said.substr(0, k_subject_bytes_max)),
          {std::string(category), shown(said), place, 0, line.number});
    return true;
  }
  Deprecation found;
  found.subject = (category.empty() ? "" : std::string(category) + ": ") + shown(said, k_subject_bytes_max);
  found.count = 1;
  found.first = line.number;
  if (auto day = find_day(said)) {
    found.deadline = day->text;
    found.day = day->day;
  } else {
    found.deadline = version_deadline(said);
  }
  open_ = std::move(found);
  open_lines_ = 0;
  framed_ = false;
  if (category.empty()) close(); // a sentence alone: nothing below explains it
  return true;
}

void WarningCounter::other(const Line& line) {
  if (headed_) {
    if (text::trim(line.text).empty()) return;
    return close_headed(line.text.starts_with(' ') ? text::trim(line.text) : std::string_view());
  }
  if (!open_) return;
  auto text = text::trim(line.text);
  framed_ = framed_ || text == "!!";
  bool inside = text.empty() || line.text.starts_with(' ') || decorates(text);
  if (!inside || ++open_lines_ > k_block_lines_max) return close();
  if (text.empty() || decorates(text)) return;
  if (framed_ && detail_.empty()) detail_ = shown(text, k_subject_bytes_max);
  if (open_->day >= 0) return;
  if (auto day = find_day(text)) {
    open_->deadline = day->text;
    open_->day = day->day;
  }
}

void WarningCounter::close() {
  if (headed_) close_headed({});
  if (!open_) return;
  auto found = std::move(*open_);
  open_.reset();
  if (!detail_.empty()) found.subject += " " + detail_;
  detail_.clear();
  // The subject is masked, so that the date in it does not count: one subject may have several deadlines.
  auto undated = masked(found.subject) + '\n';
  auto key = undated + found.deadline;
  auto at = found.deadline.empty() ? deprecations_.lower_bound(undated) : deprecations_.find(key);
  if (at != deprecations_.end() && at->first.starts_with(undated)) {
    ++at->second.count;
    return;
  }
  if (auto node = deprecations_.extract(undated)) { // seen before without its deadline
    node.key() = std::move(key);
    ++node.mapped().count;
    node.mapped().deadline = found.deadline;
    node.mapped().day = found.day;
    deprecations_.insert(std::move(node));
  } else if (deprecations_.size() < k_warnings_max) {
    deprecations_.emplace(std::move(key), std::move(found));
  } else {
    ++uncounted_;
  }
}

void WarningCounter::finish() { close(); }

std::vector<Warning> WarningCounter::warnings() const {
  std::vector<Warning> sorted;
  for (const auto& [key, warning] : warnings_) sorted.push_back(warning);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return sorted;
}

std::vector<Deprecation> WarningCounter::deprecations() const {
  std::vector<Deprecation> sorted;
  for (const auto& [key, deprecation] : deprecations_) sorted.push_back(deprecation);
  auto order = [](const Deprecation& d) { return d.day >= 0 ? d.day : INT64_MAX - (d.deadline.empty() ? 0 : 1); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return sorted;
}

} // namespace quarry::buildlog
