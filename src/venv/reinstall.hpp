#pragma once
// Private to the room.
// The command that installs an environment again, for the hints of V031 and V032.
#include "base/error.hpp"
#include "venv/environment.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <string>
#include <vector>

namespace quarry::venv {

struct Reinstall {
  std::string directory, locator, store; ///< store: of a sealed source
  std::vector<std::string> packages;
};
/// `quarry venv install DIR --clean --from LOCATOR …`. Pure.
std::string reinstall_command(const Reinstall& again);

/// `error` with that command as its hint, if it is V031 or V032. Without `packages`, those of the environment's receipt
/// are named, or else the projects of the source that are installed.
Error with_reinstall(Error error, const Environment& environment, const Source& source,
                     std::vector<std::string> packages);
Error with_reinstall(Error error, const Environment& environment, const Receipt& receipt);

} // namespace quarry::venv
