#pragma once
// Families for people and for programs. Pure.
#include "base/json.hpp"
#include "matrix/expand.hpp"
#include "matrix/families.hpp"
#include <string>

namespace quarry::matrix {

/// The page of supported GPUs, Markdown (docs/families.md).
std::string support_page(const Families& families);
/// The whole file as a document: name, tiers, triggers, targets, variants, build_runners, families.
Json families_json(const Families& families);
/// One line a cell, aligned, with a heading.
std::string cells_table(const Expansion& expansion);

} // namespace quarry::matrix
