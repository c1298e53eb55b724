#pragma once
// The families file that a command means.
#include "cli/command.hpp"
#include "matrix/families.hpp"
#include <string>

namespace quarry::cli {

Flag families_file_flag(); ///< `--families-file FILE`

/// A file, or the name of a table inside the program ("therock-2026-02"); empty: data/families.toml of the repository,
/// of share/quarry or inside the program. not_found F008, F00x.
Result<matrix::Families> load_families(const Context& context, const std::string& named);

} // namespace quarry::cli
