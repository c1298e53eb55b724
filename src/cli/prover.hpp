#pragma once
// The key with which this user's own wheels are recognised again (wheel/proof.hpp).
#include "cli/command.hpp"
#include <memory>

namespace quarry::wheel {
class Prover;
}

namespace quarry::cli {

/// The key below $XDG_STATE_HOME, or ~/.local/state, which is made on first use. Null where there is no home directory,
/// or the key cannot be used: then nothing is remembered, and every package is verified in full. A key that others can
/// read is not used, and the user is told (D015).
std::shared_ptr<const wheel::Prover> prover_of(Context& context);

} // namespace quarry::cli
