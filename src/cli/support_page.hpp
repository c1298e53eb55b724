#pragma once
// What is supported where: project x platform x GPU family x Python x version, for people and for programs. Pure.
#include "base/json.hpp"
#include "gate/gate.hpp"
#include "matrix/families.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct SupportRow {
  std::string project; ///< "rocm", "torch"
  Platform platform;
  std::string family;
  std::string python;           ///< "3.12"; ">=3.10" for packages that are one for all
  std::string version;          ///< empty: no set brings it
  std::string state;            ///< "tested", "fails", "not tested", "not released", "built only"
  std::string note;             ///< the day of the result, or why
  std::string without_gpu = {}; ///< that the results were made without a GPU; empty: with one, or none decided
  std::string tested_on = {};   ///< "3.11, 3.12": of the results that decided, where `python` is more than that
};

struct SupportPage {
  std::string channel; ///< empty: what is built, without versions and results
  std::vector<SupportRow> rows;
};

/// What a recipe says of the packages that it makes.
struct SupportRecipe {
  std::string project, requires_python;
};

/// The families of the table, each on its platforms, with what `judged` and `input` (null: no channel) say of them: one
/// row for each cell of the verdict, and one for each family and platform that no cell names. Sorted by project,
/// platform, family, Python; the newest version first.
std::vector<SupportRow> support_rows(const matrix::Families& families, const SupportRecipe& recipe,
                                     const gate::Case* input, const gate::Verdict& judged);

std::string support_markdown(const SupportPage& page);
std::string support_html(const SupportPage& page);
Json support_json(const SupportPage& page); ///< quarry.support/1

} // namespace quarry::cli
