#pragma once
// The files that a recipe names: those beside a recipe of the user's own first, then the program's.
#include "base/resources.hpp"
#include "sdk/recipe.hpp"
#include <string>

namespace quarry::sdk {

/// Names are looked for below `directory`, then in `program`, which must outlive this. A directory that exists below
/// `directory` hides the program's of that name. Names that lead outside are not looked for there.
class RecipeFiles final : public Resources {
public:
  RecipeFiles(std::string directory, const Resources& program) : directory_(std::move(directory)), program_(program) {}
  std::vector<std::string> list(std::string_view prefix) const override;
  std::optional<std::string> read(std::string_view name) const override;
  std::string origin(std::string_view name) const override;

private:
  std::string own(std::string_view name) const; ///< path, or empty
  std::string directory_;
  const Resources& program_;
};

/// Every file and tree that the recipe names must be there: invalid_argument S003 with "file:line: key".
Result<void> check_files(const Recipe& recipe, const Resources& resources);

} // namespace quarry::sdk
