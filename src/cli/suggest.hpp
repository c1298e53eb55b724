#pragma once
// What the user may have meant: the nearest of some names. Pure.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// Names at most a third of the word's length away (at least 1 edit is allowed), or that `word` begins; nearest first,
/// at most three.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> names);

/// "did you mean `a`, `b` or `c`?"; empty without names.
std::string meant(std::span<const std::string> names);

/// The same of the nearest names; empty when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

} // namespace quarry::cli
