#pragma once
// The families of a job of today's CI: a table, with the machines of CI_CONFIG_PATH and what EXTERNAL_FAMILY_OVERRIDES
// sets laid over it.
#include "cli/command.hpp"
#include "matrix/families.hpp"
#include <map>
#include <string>

namespace quarry::cli::compat {

/// load_families(), with the machines that `runner-config-v2.json` or `runner-config.json` in the directory
/// CI_CONFIG_PATH names. Only data is read: the Python code beside it is not run. Without such a directory the machines
/// are those of the table; a directory without either file is a warning. F010, B002: a file that cannot be understood.
Result<matrix::Families> load_families_of_ci(Context& context, const std::string& named);

/// What EXTERNAL_FAMILY_OVERRIDES sets. `test_labels_for_family` is not of the table, but passed on as it is. An empty
/// text, `null` and `{}` set nothing. B002: the variable is not JSON.
struct FamilyOverrides {
  std::string table;                              ///< JSON; empty: nothing is set
  std::map<std::string, std::string> test_labels; ///< "gfx94x.linux" -> JSON
  /// Null: nothing is set for this family.
  const std::string* labels_of(const std::string& family, const Platform& platform) const;
};
Result<FamilyOverrides> family_overrides(const Context& context);

/// Warns about what has no effect. F002, F010.
Result<matrix::Families> with_overrides(Context& context, matrix::Families families, const FamilyOverrides& overrides);

} // namespace quarry::cli::compat
