#pragma once
// What the scripts that make matrices share: their files of data, and rows as the workflows read them.
#include "cli/compat/script.hpp"
#include "matrix/frameworks.hpp"
#include <vector>

namespace quarry::cli::compat {

extern const Flag k_frameworks_file, k_families_file;

/// The file of --frameworks-file, or the shipped one. F030.
Result<matrix::Frameworks> load_frameworks(const Context& context, const Arguments& arguments);

Json pytorch_json(const std::vector<matrix::FrameworkRow>& rows);
Json jax_json(const std::vector<matrix::FrameworkRow>& rows);

} // namespace quarry::cli::compat
