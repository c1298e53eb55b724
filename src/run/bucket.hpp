#pragma once
// Which bucket holds a run's outputs, and below which repository's name: the rules of both incumbent eras as one pure
// function (docs/formats/run-layout.md, "Buckets"). Nothing is read, nothing is looked up. Thread-safe.
#include "base/result.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::run {

/// Whose rules: ours (buckets as aug, package directories of our own), TheRock's of February 2026, of August 2026.
enum class Era : std::uint8_t { quarry, feb, aug };
/// "quarry", "feb", "aug". invalid_argument L024.
Result<Era> parse_era(std::string_view text);
std::string_view to_string(Era era);

/// "owner/name" as GitHub allows it. invalid_argument L022.
Result<void> check_repository(std::string_view repository);
/// GitHub compares names of repositories without regard to case.
bool same_repository(std::string_view a, std::string_view b);

constexpr std::string_view k_home_repository = "ROCm/TheRock"; ///< whose own runs need no prefix

/// What decides, gathered by the caller.
struct Origin {
  std::string repository{k_home_repository}; ///< the one whose workflow ran
  bool fork = false;                         ///< the run builds a fork's branch
  std::string release_type;                  ///< empty: not said
  std::optional<std::int64_t> updated_at_us; ///< of a known run; feb moved its buckets on a day
};

struct Bucket {
  std::string name;
  std::string external_repo;        ///< "owner-name/" or empty
  std::vector<std::string> reasons; ///< which facts decided, for people
};

/// The release types that an era knows, for messages and choices.
const std::vector<std::string>& release_types(Era era);

/// `named` is a bucket that somebody asked for, or empty. invalid_argument L022 (repository), L023 (release type), L027
/// (no name of a bucket).
Result<Bucket> choose_bucket(const Origin& origin, Era era, std::string_view named = {});

} // namespace quarry::run
