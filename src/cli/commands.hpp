#pragma once
// Every room's commands; one file each in commands/.
#include "cli/command.hpp"
#include <string_view>
#include <vector>

namespace quarry::cli {
std::vector<Command> artifact_commands();   // find, fetch, list, pack, tarball, verify
std::vector<Command> sdk_commands();        // build
std::vector<Command> wheel_commands();      // pack, unpack, verify, metadata, retag, thin, check, diff, …
std::vector<Command> elf_commands();        // show, edit
std::vector<Command> gpu_commands();        // gpu list
std::vector<Command> index_commands();      // index build, check, repair, rebuild; gc
std::vector<Command> publish_commands();    // publish
std::vector<Command> set_commands();        // set show, verify, check, adopt; channel verify
std::vector<Command> mirror_commands();     // mirror sync
std::vector<Command> set_diff_commands();   // set diff
std::vector<Command> shadow_commands();     // shadow
std::vector<Command> channel_commands();    // channel show, log, protect, unprotect, unblock; index repair, rebuild; gc
std::vector<Command> gate_commands();       // gate, waive; waiver list, revoke
std::vector<Command> promote_commands();    // promote, rollback, yank
std::vector<Command> key_commands();        // key create, show, revoke
std::vector<Command> release_commands();    // release create, list, show, notes, finalize
std::vector<Command> status_commands();     // status
std::vector<Command> support_commands();    // support
std::vector<Command> venv_commands();       // venv create, install
std::vector<Command> test_commands();       // test; evidence expect, record, list, show, log
std::vector<Command> suite_commands();      // suite list, show
std::vector<Command> lock_commands();       // lock
std::vector<Command> retain_commands();     // retain plan, apply, undo
std::vector<Command> log_commands();        // log report, diff
std::vector<Command> time_commands();       // time report, compare
std::vector<Command> matrix_commands();     // matrix expand, targets, show, check, import
std::vector<Command> workflow_commands();   // workflow lint, graph, review
std::vector<Command> run_commands();        // run locate, upload
std::vector<Command> version_commands();    // version compute, write
std::vector<Command> store_commands();      // store put, get (hidden)
std::vector<Command> compat_commands();     // compat SCRIPT
std::vector<Command> list_commands();       // channel list, set list, run list
std::vector<Command> everyday_commands();   // version, doctor, explain, docs, config
std::vector<Command> completion_commands(); // completion, complete

Command channel_protect_command();        // commands/channel_guard.cpp; in channel_commands()
Command channel_unprotect_command();      // commands/channel_guard.cpp
Command channel_prune_command();          // commands/channel_guard.cpp
Command channel_acknowledge_command();    // commands/channel_acknowledge.cpp
Command channel_unblock_command();        // commands/channel_guard.cpp
Command set_check_command();              // commands/set_check.cpp; in set_commands()
Command adopt_command();                  // commands/adopt.cpp; in set_commands()
Command release_finalize_command();       // commands/release_finalize.cpp; in release_commands()
Command rollback_command();               // commands/rollback.cpp; in promote_commands()
Command yank_command();                   // commands/yank.cpp; in promote_commands()
Command waive_command();                  // commands/waive.cpp; in gate_commands()
Command waiver_list_command();            // commands/waiver.cpp; in gate_commands()
Command waiver_revoke_command();          // commands/waiver.cpp
Command wheel_metadata_command();         // commands/wheel_metadata.cpp; in wheel_commands()
Command wheel_retag_command();            // commands/wheel_retag.cpp; in wheel_commands()
Command wheel_check_command();            // commands/wheel_check.cpp; in wheel_commands()
Command wheel_diff_command();             // commands/wheel_diff.cpp; in wheel_commands()
Command wheel_edit_command();             // commands/wheel_edit.cpp; in wheel_commands()
Command wheel_inspect_command();          // commands/wheel_inspect.cpp; in wheel_commands()
Command wheel_thin_command();             // commands/wheel_thin.cpp; in wheel_commands()
Command channel_log_command();            // commands/channel_log.cpp; in channel_commands()
Command expect_command();                 // commands/expect.cpp; in test_commands()
std::vector<Command> evidence_commands(); // commands/evidence.cpp; in test_commands()
Command test_report_command();            // commands/test_report.cpp; in test_commands()
Command workflow_graph_command();         // commands/workflow_graph.cpp; in workflow_commands()
Command workflow_review_command();        // commands/workflow_review.cpp; in workflow_commands()

/// The whole table, in the order of the rooms (registry.cpp).
std::vector<Command> all_commands();

/// What a command line that begins with `word` needs of the table, in the same order: the rooms that have commands with
/// this noun, or the whole table if no room has. Making the whole table is a third of the time of a short command.
std::vector<Command> commands_near(std::string_view word);
} // namespace quarry::cli
