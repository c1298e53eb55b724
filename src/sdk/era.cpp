#include "sdk/era.hpp"

#include "base/text.hpp"
#include "sdk/split.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::sdk {

namespace {

/// The names of the artifacts that runtime packages take; what devel adds are headers, which prove nothing.
std::set<std::string> runtime_names(const Recipe& recipe) {
  std::set<std::string> names;
  for (const auto& package : recipe.packages)
    if (package.role == Role::runtime)
      for (const auto& selection : package.select) names.insert(selection.artifacts.begin(), selection.artifacts.end());
  return names;
}

/// Those of the artifacts that another of the program's recipes takes and this one does not.
std::vector<std::string> passed_over(const Recipe& recipe, const std::vector<Recipe>& all, const ArtifactTrees& trees) {
  auto own = runtime_names(recipe);
  std::set<std::string> any, missed;
  for (const auto& each : all) any.merge(runtime_names(each));
  for (const auto& name : trees.names())
    if (any.contains(name.name) && !own.contains(name.name)) missed.insert(name.name);
  return {missed.begin(), missed.end()};
}

struct Fitting {
  const Recipe* recipe = nullptr;
  std::string why; ///< "the artifacts …"
};

Fitting fitting(const std::vector<Recipe>& all, Form form, const ArtifactTrees& trees) {
  Fitting found;
  std::vector<std::string> missed;
  for (const auto& recipe : all) {
    if (!recipe.takes(form)) continue;
    found.recipe = &recipe;
    found.why = form == Form::split ? "the artifacts are split by GPU target"
                : missed.empty()    ? "it packages all of these artifacts"
                                    : fmt::format("it packages {}, too", text::first(missed, 5));
    missed = passed_over(recipe, all, trees);
    if (missed.empty()) break;
  }
  return found;
}

Unexpected cannot_package(const Recipe& recipe, Form form, const Recipe* other) {
  return fail(ErrorKind::unsupported, "S053",
              fmt::format("the artifacts are {}, and the recipe {} has no packages for such artifacts",
                          form == Form::split ? "split by GPU target" : "not split by GPU target", recipe.name),
              other ? fmt::format("omit --recipe, or say --recipe {}", other->name)
                    : "name a recipe whose `forms` has it (docs/formats/recipe.md)");
}

} // namespace

Result<Recipe> recipe_for(const RecipeChoice& choice, ArtifactTrees& trees) {
  TRY(auto form, form_of(trees));
  auto fit = fitting(choice.own, form, trees);
  if (!choice.asked && fit.recipe) return fit.recipe->in(form);
  if (!choice.asked) return cannot_package(choice.own.front(), form, nullptr);
  const auto& asked = *choice.asked;
  if (!asked.takes(form)) return cannot_package(asked, form, fit.recipe);
  bool own =
      std::any_of(choice.own.begin(), choice.own.end(), [&](const Recipe& r) { return r.digest == asked.digest; });
  if (own && fit.recipe && fit.recipe->digest != asked.digest && !trees.names().empty())
    return fail(
        ErrorKind::invalid_argument, "S060",
        fmt::format("the recipe {} is not for these artifacts: {} is ({})", asked.name, fit.recipe->name, fit.why),
        fmt::format("omit --recipe, or say --recipe {}", fit.recipe->name));
  return asked.in(form);
}

} // namespace quarry::sdk
