#pragma once
// Private to the room.
// Private parts of reading a workflow: what expressions read, and who is called.
#include "workflow/model.hpp"

namespace quarry::workflow {

/// Fills `reads` and `reads_all_inputs`; an expression that cannot be parsed is a defect (Y104).
void collect_reads(File& file, std::vector<Located>& defects);

/// Fills `calls`: reusable workflows, composite actions, dispatches by an action, by `gh workflow run` and by `gh api`.
void collect_calls(File& file);

} // namespace quarry::workflow
