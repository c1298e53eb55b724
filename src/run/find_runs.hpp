#pragma once
// Which runs of a store a locator means.
#include "run/layout.hpp"
#include "run/locator.hpp"
#include "store/object_store.hpp"
#include <vector>

namespace quarry::run {

/// All runs below the store that fit, sorted by prefix; empty when none does. `run:42` fits `42-linux/` and
/// `owner-repo/42-windows/`, never `421-linux/`. Lists the names at the root and one
/// level below it, not what the runs hold.
Result<std::vector<Layout>> find_runs(store::ObjectReader& store, const Locator& locator);
/// The one that is named with its platform and stands there, whatever else fits: only its prefix is listed. Else
/// exactly one of find_runs(): not_found L010; invalid_argument L011 naming each when there are several.
Result<Layout> find_run(store::ObjectReader& store, const Locator& locator);

} // namespace quarry::run
