#include "version/order.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::version {

namespace {
constexpr std::size_t k_commit_min = 7; // the shortest id that git prints

/// A dev build's local segment is its commit: its order says nothing about time.
bool is_commit(const std::string& local) {
  return local.size() >= k_commit_min && std::all_of(local.begin(), local.end(), ascii::is_lower_hex);
}

std::string why(const dist::Version& previous, const dist::Version& next) {
  if (previous.public_version() == next.public_version())
    return fmt::format(
        "the parts after + are compared piece by piece, and a piece with letters as text: +{} is below +{}",
        next.local(), previous.local());
  if (next.is_prerelease() && !previous.is_prerelease()) return "a pre-release sorts below its release";
  return "PEP 440 sorts it so";
}
} // namespace

Result<std::optional<std::string>> check_order(const dist::Version& previous, const dist::Version& next) {
  bool same_public = previous.public_version() == next.public_version();
  if (same_public && next.is_devrelease() && previous != next && is_commit(previous.local()) && is_commit(next.local()))
    return std::optional(
        fmt::format("{} and {} differ in the commit only: installers order them by its digits, not by time",
                    previous.str(), next.str()));
  if (next >= previous) return std::optional<std::string>();
  return fail(Error::of(ErrorKind::invalid_argument, "N008",
                        fmt::format("{} sorts below {}, which went out before it", next.str(), previous.str()))
                  .with_detail(why(previous, next))
                  .with_hint("raise the base version, or publish it into a channel of its own"));
}

} // namespace quarry::version
