#pragma once
// A release as text, for `release show` and `release notes`. Pure.
#include "release/shown.hpp"
#include <string>

namespace quarry::cli {

/// "rocm-sdk on linux gfx1153, …, by ann: no lab machine (asked for by bob), revoked since: fixed".
std::string text_of_waiver(const release::ShownWaiver& waiver);
/// Markdown.
std::string release_notes(const release::Shown& release);

} // namespace quarry::cli
