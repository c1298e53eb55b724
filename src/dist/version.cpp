#include "dist/version.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/characters.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

bool is_word(char c) { return is_digit(c) || ascii::is_lower(c); }

/// The white space that Python's str.strip() takes off: ASCII's, the C0 separators, and Unicode's in UTF-8.
constexpr std::string_view k_space[] = {" ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",
                                        "\x1e",   "\x1f",   "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
                                        "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                        "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

std::string_view stripped(std::string_view text) {
  auto at_front = [&](std::string_view space) {
    return text.starts_with(space) && (text.remove_prefix(space.size()), true);
  };
  auto at_back = [&](std::string_view space) {
    return text.ends_with(space) && (text.remove_suffix(space.size()), true);
  };
  while (std::any_of(std::begin(k_space), std::end(k_space), at_front)) {
  }
  while (std::any_of(std::begin(k_space), std::end(k_space), at_back)) {
  }
  return text;
}

std::string without_leading_zeros(std::string_view digits) {
  auto first = digits.find_first_not_of('0');
  return first == digits.npos ? "0" : std::string(digits.substr(first));
}

std::strong_ordering compare_numbers(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

bool is_number(std::string_view segment) { return std::all_of(segment.begin(), segment.end(), is_digit); }

std::strong_ordering compare_local_segments(const std::string& a, const std::string& b) {
  bool a_number = is_number(a), b_number = is_number(b);
  if (a_number != b_number) return a_number <=> b_number;
  return a_number ? compare_numbers(a, b) : a.compare(b) <=> 0;
}

std::strong_ordering compare_locals(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return !a.empty() <=> !b.empty();
  auto left = text::split(a, '.'), right = text::split(b, '.');
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (auto order = compare_local_segments(left[i], right[i]); order != 0) return order;
  return left.size() <=> right.size();
}

std::strong_ordering compare_releases(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  static const std::string k_zero = "0";
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (auto order = compare_numbers(i < a.size() ? a[i] : k_zero, i < b.size() ? b[i] : k_zero); order != 0)
      return order;
  return std::strong_ordering::equal;
}

} // namespace

/// PEP 440's grammar, appendix B, as a scanner: every step is greedy, which is exact because no later step can use what
/// an earlier one took.
class VersionScanner {
public:
  explicit VersionScanner(std::string_view text) : lower_(text::lower(stripped(text))) {}

  std::optional<Version> scan() {
    Version v;
    take("v");
    if (!scan_release(v)) return std::nullopt;
    scan_pre(v);
    scan_post(v);
    scan_dev(v);
    if (!scan_local(v) || at_ != lower_.size()) return std::nullopt;
    return v;
  }

private:
  bool take(std::string_view word) {
    if (lower_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::string_view digits() {
    auto begin = at_;
    while (at_ < lower_.size() && is_digit(lower_[at_])) ++at_;
    return std::string_view(lower_).substr(begin, at_ - begin);
  }
  bool digit_at(std::size_t at) const { return at < lower_.size() && is_digit(lower_[at]); }

  bool scan_release(Version& v) {
    if (!digit_at(at_)) return false;
    v.release_ = {without_leading_zeros(digits())};
    if (digit_at(at_ + 1) && take("!")) {
      v.epoch_ = v.release_[0];
      v.release_ = {without_leading_zeros(digits())};
    }
    while (digit_at(at_ + 1) && take(".")) v.release_.push_back(without_leading_zeros(digits()));
    return true;
  }

  /// `[._-]? word [._-]? digits?`: the word's normal form and the number, "0" when there is none; otherwise nothing is
  /// taken.
  struct Word {
    std::string_view spelling, normal;
  };
  std::optional<std::pair<std::string, std::string>> labelled(std::initializer_list<Word> words) {
    auto start = at_;
    if (at_ < lower_.size() && is_separator(lower_[at_])) ++at_;
    for (const auto& word : words)
      if (take(word.spelling)) {
        if (at_ < lower_.size() && is_separator(lower_[at_])) ++at_;
        return std::pair{std::string(word.normal), without_leading_zeros(digits())};
      }
    at_ = start;
    return std::nullopt;
  }

  void scan_pre(Version& v) {
    v.pre_ = labelled({{"alpha", "a"},
                       {"beta", "b"},
                       {"preview", "rc"},
                       {"pre", "rc"},
                       {"rc", "rc"},
                       {"a", "a"},
                       {"b", "b"},
                       {"c", "rc"}});
  }
  void scan_post(Version& v) {
    if (digit_at(at_ + 1) && take("-"))
      v.post_ = without_leading_zeros(digits());
    else if (auto post = labelled({{"post", "post"}, {"rev", "post"}, {"r", "post"}}))
      v.post_ = post->second;
  }
  void scan_dev(Version& v) {
    if (auto dev = labelled({{"dev", "dev"}})) v.dev_ = dev->second;
  }

  bool scan_local(Version& v) {
    if (!take("+")) return true;
    for (;;) {
      auto begin = at_;
      while (at_ < lower_.size() && is_word(lower_[at_])) ++at_;
      if (at_ == begin) return false;
      std::string segment = lower_.substr(begin, at_ - begin);
      v.local_ += is_number(segment) ? without_leading_zeros(segment) : segment;
      if (at_ == lower_.size() || !is_separator(lower_[at_])) return true;
      v.local_ += '.';
      ++at_;
    }
  }

  std::string lower_;
  std::size_t at_ = 0;
};

Result<Version> Version::parse(std::string_view text) {
  std::optional<Version> version;
  if (text.size() <= k_version_bytes_max) version = VersionScanner(text).scan();
  if (!version)
    return fail(ErrorKind::invalid_argument, "M004", fmt::format("{:?} is not a version", text.substr(0, 100)),
                "write it as PEP 440 does, for example 7.12.0.dev0 or 2.10.0+rocm7.10");
  return *version;
}

std::string Version::str() const {
  std::string out = epoch_ == "0" ? "" : epoch_ + "!";
  out += text::join(release_, ".");
  if (pre_) out += pre_->first + pre_->second;
  if (post_) out += ".post" + *post_;
  if (dev_) out += ".dev" + *dev_;
  if (!local_.empty()) out += "+" + local_;
  return out;
}

std::string Version::key() const {
  Version v = *this;
  while (v.release_.size() > 1 && v.release_.back() == "0") v.release_.pop_back();
  return v.str();
}

Version Version::public_version() const {
  Version v = *this;
  v.local_.clear();
  return v;
}

Version Version::base_version() const {
  Version v;
  v.epoch_ = epoch_;
  v.release_ = release_;
  return v;
}

Version Version::first_development_release() const {
  Version v = public_version();
  v.dev_ = "0";
  return v;
}

bool Version::same_release_and_pre(const Version& other) const {
  return epoch_ == other.epoch_ && compare_releases(release_, other.release_) == 0 && pre_ == other.pre_;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (auto order = compare_numbers(epoch_, other.epoch_); order != 0) return order;
  if (auto order = compare_releases(release_, other.release_); order != 0) return order;
  // 1.0.dev1 comes before 1.0a1, and 1.0a1 before 1.0: the rank says where a missing pre-release stands.
  auto pre_rank = [](const Version& v) { return v.pre_ ? 1 : !v.post_ && v.dev_ ? 0 : 2; };
  if (auto order = pre_rank(*this) <=> pre_rank(other); order != 0) return order;
  if (pre_) {
    if (auto order = pre_->first.compare(other.pre_->first) <=> 0; order != 0) return order;
    if (auto order = compare_numbers(pre_->second, other.pre_->second); order != 0) return order;
  }
  if (auto order = post_.has_value() <=> other.post_.has_value(); order != 0) return order;
  if (post_)
    if (auto order = compare_numbers(*post_, *other.post_); order != 0) return order;
  if (auto order = !dev_.has_value() <=> !other.dev_.has_value(); order != 0) return order;
  if (dev_)
    if (auto order = compare_numbers(*dev_, *other.dev_); order != 0) return order;
  return compare_locals(local_, other.local_);
}

} // namespace quarry::dist
