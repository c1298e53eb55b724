#pragma once
// The families file that a command means.
#include "base/finding.hpp"
#include "cli/command.hpp"
#include "matrix/families.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::cli {

Flag families_file_flag(); ///< `--families-file FILE`

/// A file, or the name of a table inside the program ("therock-2026-02"); empty: data/families.toml of the repository,
/// of share/quarry or inside the program. not_found F008, F00x.
Result<matrix::Families> load_families(const Context& context, const std::string& named);

/// Warning G008 for a flag whose family neither the families table nor its targets have; nothing if the table cannot be
/// read.
std::optional<Finding> unknown_family(const Context& context, std::string_view flag, const std::string& family);

} // namespace quarry::cli
