#pragma once
// How far a word is from another one, to tell what a typing error was meant to be. Pure.
#include <cstddef>
#include <string_view>

namespace quarry::text {

/// Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other. The work is the
/// product of the lengths: the caller bounds them.
std::size_t edit_distance(std::string_view from, std::string_view to);

} // namespace quarry::text
