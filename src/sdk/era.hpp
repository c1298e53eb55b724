#pragma once
// Private to the room.
// Which recipe fits the artifacts of a build.
#include "base/result.hpp"
#include "sdk/build.hpp"
#include "sdk/view.hpp"

namespace quarry::sdk {

/// The recipe to build with, reduced to the packages for the artifacts' form: the first of the program's own that can
/// package the form and that takes every artifact that any of them takes. A recipe that was asked for is
/// taken as it is, unless it is one of the program's and another one fits: invalid_argument S060. unsupported S053: a
/// recipe that cannot package the form. Errors of form_of().
Result<Recipe> recipe_for(const RecipeChoice& choice, ArtifactTrees& trees);

} // namespace quarry::sdk
