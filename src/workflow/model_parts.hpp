#pragma once
// Private to the room.
// Private parts of reading a workflow: what expressions read, and who is called.
#include "workflow/model.hpp"

namespace quarry::workflow {

/// Fills `reads` and `reads_all_inputs`; an expression that cannot be parsed is a defect (Y104).
void collect_reads(File& file, std::vector<Located>& defects);

/// Fills `calls`: reusable workflows, composite actions, dispatches by an action, by programs (`gh`, `curl`) and
/// by JavaScript.
void collect_calls(File& file);

/// Sets the target and whether it is foreign, from the address of GitHub's API:
/// `[HOST/]repos/OWNER/REPO/actions/workflows/FILE/dispatches`. Without a repository before `/actions` the call is
/// unknown. Another address changes nothing.
void read_dispatch_address(const std::string& address, Call& call);

} // namespace quarry::workflow
