#include "cli/prover.hpp"

#include "cli/version.hpp"
#include "sys/path.hpp"
#include "wheel/proof.hpp"
#include <fmt/core.h>

namespace quarry::cli {

std::shared_ptr<const wheel::Prover> prover_of(Context& context) {
  auto home = context.variable("XDG_STATE_HOME");
  if (home.empty() && !context.variable("HOME").empty()) home = path::join(context.variable("HOME"), ".local/state");
  if (!path::is_absolute(home)) return nullptr;
  auto prover = wheel::Prover::open(path::join(home, "quarry/proof.key"),
                                    fmt::format("quarry {} {}", program_version(), build_commit()));
  if (prover) return std::make_shared<const wheel::Prover>(std::move(*prover));
  if (prover.error().code == "D015") context.out.warn(render(prover.error()));
  return nullptr;
}

} // namespace quarry::cli
