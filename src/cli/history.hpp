#pragma once
// Packages of other tools that are taken over as untested history, for people and for programs.
#include "base/json.hpp"
#include "publish/history.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// "history     12 files of other tools in v2/g, 3.2 GB: untested history, sha256 of 4 known", and what is given up.
std::string history_text(const publish::HistoryPlan& history, bool dry_run);
Json history_json(const publish::HistoryPlan& history);
Json histories_json(const std::vector<publish::HistoryPlan>& histories);

} // namespace quarry::cli
