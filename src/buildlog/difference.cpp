#include "buildlog/difference.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "buildlog/lines.hpp"
#include "buildlog/noise.hpp"
#include <algorithm>
#include <functional>
#include <unordered_map>

namespace quarry::buildlog {

namespace {
using ascii::is_lower_hex;
bool is_name(char c) { return is_digit(c) || ascii::is_letter(c) || c == '_' || c == '-'; }

/// Digests, commits and addresses: 8 or more hexadecimal digits, one of them a decimal one.
std::size_t digest_length(std::string_view text) {
  constexpr std::size_t k_digest_min = 8;
  std::size_t length = 0, digits = 0;
  while (length < text.size() && is_lower_hex(text[length])) digits += is_digit(text[length++]);
  bool ends = length == text.size() || !is_name(text[length]);
  return length >= k_digest_min && digits > 0 && ends ? length : 0;
}

std::uint64_t hash_of(std::string_view line) { return std::hash<std::string>{}(comparable(line)); }

/// A sorted set that grows by merging: 8 bytes for each line.
class Known {
public:
  void add(std::uint64_t hash) {
    fresh_.push_back(hash);
    if (fresh_.size() >= k_merge_at) merge();
  }
  void merge() {
    std::sort(fresh_.begin(), fresh_.end());
    std::vector<std::uint64_t> merged(all_.size() + fresh_.size());
    std::merge(all_.begin(), all_.end(), fresh_.begin(), fresh_.end(), merged.begin());
    all_ = std::move(merged);
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
    fresh_.clear();
    if (all_.size() <= k_known_max) return;
    all_.resize(k_known_max);
    complete_ = false;
  }
  bool has(std::uint64_t hash) const { return std::binary_search(all_.begin(), all_.end(), hash); }
  bool complete() const { return complete_; }

private:
  static constexpr std::size_t k_merge_at = 1u << 18;
  std::vector<std::uint64_t> all_, fresh_;
  bool complete_ = true;
};

class Comparer {
public:
  Comparer(const Rules& rules) : rules_(rules), failures_(rules) {}

  void good(const Line& line) {
    ++out_.good_lines;
    auto text = text::trim(line.text);
    auto rule = rules_.lines.match(line.text).rule;
    bool noise = rule >= 0 && rule < rules_.failure_base;
    if (!noise && !text.empty()) known_.add(hash_of(text));
  }
  void between() { known_.merge(); }

  void bad(const Line& line) {
    ++out_.bad_lines;
    auto text = text::trim(line.text);
    if (text.empty()) return;
    auto rule = rules_.lines.match(line.text).rule;
    if (rule >= 0 && rule < rules_.failure_base) return;
    bool failure = rule >= rules_.failure_base && rule < rules_.passing_base;
    failures_.take(line, failure ? rule - rules_.failure_base : -1);
    if (line.text.starts_with("##[group]Run ")) failures_.begin_step(line.number);
    auto hash = hash_of(text);
    bool known = known_.has(hash), indented = line.text.front() == ' ' || line.text.front() == '\t';
    if (!indented) head_.assign(known ? text : std::string_view());
    if (known) return;
    ++out_.fresh_lines;
    auto [at, is_new] = places_.try_emplace(hash, out_.fresh.size());
    if (!is_new) {
      if (at->second < out_.fresh.size()) ++out_.fresh[at->second].count;
      return;
    }
    if (out_.fresh.size() < k_fresh_max) {
      out_.fresh.push_back({shown(text), line.number, 1, failure, indented ? shown(head_) : std::string()});
    } else {
      places_.erase(at);
      ++out_.left_out;
    }
  }

  LogDifference finish() {
    out_.all_known = known_.complete();
    out_.failure = failures_.first();
    return std::move(out_);
  }

private:
  const Rules& rules_;
  LogDifference out_;
  Known known_;
  FailureFinder failures_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::string head_; ///< the last line that is not indented, if both logs have it
};
} // namespace

std::string comparable(std::string_view line) {
  std::string out;
  bool name_before = false;
  for (std::size_t i = 0; i < line.size();) {
    if (line.substr(i).starts_with("/tmp/")) {
      out += "/tmp/*";
      for (i += 5; i < line.size() && (is_name(line[i]) || line[i] == '.');) ++i;
      continue;
    }
    if (auto length = name_before ? 0 : digest_length(line.substr(i)); length > 0) {
      out += '#';
      i += length;
    } else if (is_digit(line[i])) {
      while (i < line.size() && is_digit(line[i])) ++i;
      out += '#';
    } else {
      out += line[i++];
    }
    name_before = is_name(line[i - 1]);
  }
  return out;
}

Result<LogDifference> compare_logs(const Input& good, const Input& bad, const Rules& rules) {
  Comparer comparer(rules);
  TRY_DO(read_lines(good, [&](const Line& line) { comparer.good(line); }));
  comparer.between();
  TRY_DO(read_lines(bad, [&](const Line& line) { comparer.bad(line); }));
  return comparer.finish();
}

} // namespace quarry::buildlog
