#pragma once
// Versions and version specifiers (PEP 440, as packaging 26 reads it).
#include "base/result.hpp"
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::dist {

/// PEP 440 sets no bound; a file name holds at most 255 bytes, the longest version ever seen has fewer than 100.
constexpr std::size_t k_version_bytes_max = 4096;
/// A Requires-Python of a real package stays below 200 bytes.
constexpr std::size_t k_specifiers_bytes_max = 8u << 10;

class Version {
public:
  Version() = default;                                 ///< "0"
  static Result<Version> parse(std::string_view text); ///< invalid_argument M004; accepts what PEP 440 normalises
  std::string str() const;                             ///< normal form
  std::string key() const; ///< equal versions have equal keys: normal form without trailing zeros of the release
  bool is_prerelease() const { return pre_.has_value() || dev_.has_value(); }
  bool is_postrelease() const { return post_.has_value(); }
  bool is_devrelease() const { return dev_.has_value(); }
  bool is_release_only() const { return !pre_ && !post_ && !dev_ && local_.empty(); }
  const std::string& local() const { return local_; }
  Version public_version() const; ///< without the local segment
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
  const std::vector<std::string>& release() const { return release_; }
  const std::string& epoch() const { return epoch_; }
  Version first_development_release() const; ///< 1.0 -> 1.0.dev0, 1.0.post1 -> 1.0.post1.dev0
  bool same_release_and_pre(const Version& other) const;
  Version base_version() const; ///< epoch and release alone

private:
  friend class VersionScanner;
  // Numbers are kept as decimal text without leading zeros: PEP 440 sets no bound, dates and build ids get long.
  std::string epoch_ = "0";
  std::vector<std::string> release_ = {"0"};
  std::optional<std::pair<std::string, std::string>> pre_; // "a" | "b" | "rc", number
  std::optional<std::string> post_, dev_;
  std::string local_;
};

/// A comma-separated set: ">=3.10, !=3.11.*". invalid_argument M005.
class Specifiers {
public:
  static Result<Specifiers> parse(std::string_view text);
  /// `prereleases`: whether pre-releases may match when no clause names one.
  bool contains(const Version& version, bool prereleases = true) const;
  std::string str() const;       ///< clauses sorted, duplicates dropped
  bool name_prereleases() const; ///< does a clause other than != name a pre-release?
  bool pin() const;              ///< is a clause === or == without .*? pip then takes a yanked version, too

private:
  struct Clause {
    std::string op, text;
    std::optional<Version> version; // absent for ===
    bool wildcard = false;
    bool same_as(const Clause& other) const;
  };
  static Result<Clause> parse_clause(std::string_view text);
  std::vector<Clause> clauses_;
};

} // namespace quarry::dist
