#pragma once
// Which of many tarballs of whole SDKs are meant: `--newest`, `--sdk-version` and `--date`.
#include "artifact/source.hpp"
#include "cli/command.hpp"
#include <vector>

namespace quarry::cli {

/// Returns the tarballs that the flags let pass, other items as they are: versions that fit `--sdk-version`, those with
/// the date of `--date`, and with `--newest` the highest version of each family for `--platform`, as packaging orders
/// versions. A version that is not one sorts below all others. Fails with not_found A049 if there were tarballs and
/// none passes, which names versions that exist, and invalid_argument A049 for a date that is not YYYYMMDD. Pure.
Result<std::vector<artifact::SourceItem>> chosen_tarballs(std::vector<artifact::SourceItem> items,
                                                          const Arguments& arguments);

} // namespace quarry::cli
