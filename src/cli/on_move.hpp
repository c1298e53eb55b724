#pragma once
// `--on-move COMMAND`: other programs are told what a command moved. They cannot stop it any more.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "store/object_store.hpp"
#include <string>

namespace quarry::cli {

Flag on_move_flag();

/// What has moved: the command, and the document that it prints with --json.
struct Moved {
  std::string action; ///< "promote"
  const Json& document;
};
/// Runs each command of --on-move with a `quarry.move/1` on its standard input, one after the other, for at most ten
/// minutes each. It gets the variables that programs need to run, and no credential. Returns the exit code of the whole
/// command: 1 if one of them failed, which is told as O300.
Result<int> tell_what_moved(Context& context, const Arguments& arguments, const store::ObjectReader& store,
                            const Moved& moved);
/// The same for a command that fails after the move, whose error decides the exit code.
void tell_before_error(Context& context, const Arguments& arguments, const store::ObjectReader& store,
                       const Moved& moved);

} // namespace quarry::cli
