#pragma once
// How long which sets are kept (docs/formats/retention.md). Values without I/O.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "base/word.hpp"
#include "registry/records.hpp"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::retain {

struct ReleaseTypeWords {
  enum Kind : std::uint8_t { development, nightly, candidate, release };
  static constexpr std::array<std::string_view, 4> k_texts = {"development", "nightly", "candidate", "release"};
};
/// What a set is, by the versions of its files; in this order, a later one is kept longer.
using ReleaseType = WordOf<ReleaseTypeWords>;

struct RunKindWords {
  enum Kind : std::uint8_t { any, weekly };
  static constexpr std::array<std::string_view, 2> k_texts = {"any", "weekly"};
};
/// Which runs a rule is for. Weekly: the first of its place that was sealed in a week.
using RunKind = WordOf<RunKindWords>;

struct Rule {
  std::string name;
  std::vector<ReleaseType> release_types;
  RunKind runs = RunKind::any;
  std::optional<std::int64_t> keep_us; ///< nullopt: for ever
};
struct Rules {
  std::string name;
  std::int64_t grace_us = 0;
  std::vector<Rule> rules;
};

/// The least grace. A job that loaded a set before it was tombstoned may still name it; none runs for a day.
constexpr std::int64_t k_grace_min_us = 24LL * 3600 * 1'000'000;

/// Fails with invalid_argument O200, with file, line and key.
Result<Rules> parse_rules(const DataText& data);
/// "30d", "52w", "24h", "90m" or "0s" in microseconds; nullopt for anything else.
std::optional<std::int64_t> parse_period(std::string_view text);

/// By each file's version, or by that of the SDK in its local segment ("2.10.0+rocm7.12.0a20261120"): the type that is
/// kept longest. A set without a version that can be read is a release. Pure.
ReleaseType release_type_of(const registry::SetRecord& set);

} // namespace quarry::retain
