#include "buildlog/pattern.hpp"

#include "base/text.hpp"
#include "buildlog/lines.hpp"
#include <algorithm>
#include <bit>
#include <cctype>
#include <map>

namespace quarry::buildlog {

namespace {
constexpr std::string_view k_number_begins = " 0123456789";
constexpr std::size_t k_blanks_max = 16; // before a number; "[   42/39600]" has 3

unsigned char lower(unsigned char c) { return static_cast<unsigned char>(std::tolower(c)); }
} // namespace

std::optional<Pattern> Pattern::parse(std::string_view text) {
  if (text.empty() || text.size() > k_pattern_bytes_max) return std::nullopt;
  Pattern pattern;
  pattern.text_ = text;
  auto& parts = pattern.parts_;
  bool solid = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '*' || c == '#') {
      if (c == '*' && !parts.empty() && parts.back().kind == Kind::any) continue;
      parts.push_back({c == '*' ? Kind::any : Kind::number, {}});
      solid = solid || c == '#';
      continue;
    }
    if (c == '\\') {
      if (++i == text.size()) return std::nullopt;
      c = text[i];
    }
    if (parts.empty() || parts.back().kind != Kind::literal) parts.push_back({Kind::literal, {}});
    parts.back().text += c;
    solid = true;
  }
  return solid ? std::optional(std::move(pattern)) : std::nullopt;
}

std::optional<std::size_t> Pattern::take(const Part& part, std::string_view line, std::size_t at) const {
  if (part.kind == Kind::literal) {
    const auto& text = part.text;
    bool fits = line.size() - at >= text.size() && line[at] == text[0] && line.compare(at, text.size(), text) == 0;
    return fits ? std::optional(at + text.size()) : std::nullopt;
  }
  for (std::size_t blanks = 0; blanks < k_blanks_max && at < line.size() && line[at] == ' '; ++blanks) ++at;
  auto begin = at;
  auto inside = [&](std::size_t i) {
    return is_digit(line[i]) || ((line[i] == ',' || line[i] == '.') && i + 1 < line.size() && is_digit(line[i + 1]));
  };
  if (at < line.size() && is_digit(line[at]))
    while (at < line.size() && inside(at)) ++at;
  return at > begin ? std::optional(at) : std::nullopt;
}

bool Pattern::matches(std::string_view line) const {
  constexpr auto k_none = static_cast<std::size_t>(-1);
  std::size_t part = 0, at = 0, star = k_none, mark = 0;
  while (true) {
    if (part < parts_.size() && parts_[part].kind == Kind::any) {
      if (part + 1 == parts_.size()) return true;
      star = part++;
      mark = at;
    } else {
      auto end = part < parts_.size() ? take(parts_[part], line, at)
                                      : (at == line.size() ? std::optional(at) : std::optional<std::size_t>());
      if (end) {
        if (part == parts_.size()) return true;
        at = *end;
        ++part;
        continue;
      }
      if (star == k_none || mark >= line.size()) return false;
      at = ++mark;
      part = star + 1;
    }
    const auto& following = parts_[part];
    if (following.kind != Kind::literal) continue;
    mark = line.find(following.text, at); // the next place where what stands behind the star can be
    if (mark == line.npos) return false;
    at = mark;
  }
}

bool Pattern::begins_anywhere() const { return parts_.front().kind == Kind::any; }

std::string_view Pattern::begin_characters() const {
  const auto& first = parts_.front();
  if (first.kind == Kind::literal) return std::string_view(first.text).substr(0, 1);
  return first.kind == Kind::number ? k_number_begins : std::string_view{};
}

std::string_view Pattern::longest() const {
  std::string_view best;
  for (const auto& part : parts_)
    if (part.text.size() > best.size()) best = part.text;
  return best;
}

// Finder

namespace {
struct Node {
  std::map<std::uint8_t, std::uint32_t> children;
  std::uint32_t fail = 0;
  std::uint64_t found = 0;
};
} // namespace

Finder::Finder(std::span<const std::string> words) {
  std::uint32_t count = 1; // class 0: in no word
  for (const auto& word : words)
    for (unsigned char c : word)
      if (auto& slot = class_[lower(c)]; slot == 0) slot = static_cast<std::uint8_t>(count++);
  for (unsigned c = 'A'; c <= 'Z'; ++c) class_[c] = class_[lower(static_cast<unsigned char>(c))];
  shift_ = static_cast<unsigned>(std::bit_width(count - 1));
  std::vector<Node> nodes(1);
  for (std::size_t i = 0; i < words.size() && i < k_words_max; ++i) {
    std::uint32_t state = 0;
    for (unsigned char c : words[i]) {
      auto [child, is_new] = nodes[state].children.emplace(class_[lower(c)], static_cast<std::uint32_t>(nodes.size()));
      state = child->second;
      if (is_new) nodes.emplace_back();
    }
    if (state != 0) nodes[state].found |= std::uint64_t{1} << i;
  }
  next_.assign(nodes.size() << shift_, 0);
  found_.resize(nodes.size());
  std::vector<std::uint32_t> order{0}; // breadth first: what a state falls back to is complete before it
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto state = order[i], fail = nodes[state].fail;
    nodes[state].found |= nodes[fail].found;
    found_[state] = nodes[state].found;
    for (std::uint32_t c = 0; c < count; ++c)
      next_[(state << shift_) + c] = state == 0 ? 0 : next_[(fail << shift_) + c];
    for (auto [c, child] : nodes[state].children) {
      nodes[child].fail = state == 0 ? 0 : next_[(fail << shift_) + c] >> shift_;
      next_[(state << shift_) + c] = child << shift_;
      order.push_back(child);
    }
  }
}

std::uint64_t Finder::scan(std::string_view line) const {
  if (next_.empty()) return 0;
  std::uint64_t found = 0;
  std::uint32_t state = 0;
  for (char c : line) {
    state = next_[state + class_[static_cast<unsigned char>(c)]];
    if (state != 0) found |= found_[state >> shift_];
  }
  return found;
}

// PatternSet

PatternSet::PatternSet(std::vector<std::string> watch) : words_(std::move(watch)), watched_(words_.size()) {}

bool PatternSet::add(Pattern pattern, int rule) {
  if (entries_.size() >= UINT16_MAX) return false;
  auto number = static_cast<std::uint16_t>(entries_.size());
  std::uint64_t bit = 0;
  if (pattern.begins_anywhere()) {
    auto word = text::lower(pattern.longest());
    auto known = std::find(words_.begin(), words_.end(), word);
    if (known == words_.end()) {
      if (word.empty() || words_.size() >= k_words_max) return false;
      known = words_.insert(words_.end(), word);
    }
    bit = std::uint64_t{1} << (known - words_.begin());
    anywhere_words_ |= bit;
    anywhere_.push_back(number);
  }
  for (char c : pattern.begin_characters()) by_first_[static_cast<unsigned char>(c)].push_back(number);
  entries_.push_back({std::move(pattern), rule, bit});
  return true;
}

void PatternSet::compile() { finder_ = Finder(words_); }

std::uint64_t PatternSet::watched_in(std::string_view line) const {
  return watched_ == 0 ? 0 : finder_.scan(line) & (~std::uint64_t{0} >> (k_words_max - watched_));
}

PatternSet::Match PatternSet::match(std::string_view line) const {
  if (line.empty()) return {};
  for (auto number : by_first_[static_cast<unsigned char>(line.front())])
    if (entries_[number].pattern.matches(line)) return {entries_[number].rule, 0};
  auto words = finder_.scan(line);
  Match match{-1, watched_ == 0 ? 0 : words & (~std::uint64_t{0} >> (k_words_max - watched_))};
  if ((words & anywhere_words_) == 0) return match;
  for (auto number : anywhere_)
    if ((entries_[number].word & words) != 0 && entries_[number].pattern.matches(line)) {
      match.rule = entries_[number].rule;
      break;
    }
  return match;
}

} // namespace quarry::buildlog
