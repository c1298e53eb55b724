#include "cli/prover.hpp"

#include "base/codes.hpp"
#include "cli/version.hpp"
#include "digest/sha256.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/proof.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_program_bytes_max = 1u << 30; // a debug build has 150 MB
} // namespace

std::shared_ptr<const wheel::Prover> prover_of(Context& context) {
  auto home = context.variable("XDG_STATE_HOME");
  if (home.empty() && !context.variable("HOME").empty()) home = path::join(context.variable("HOME"), ".local/state");
  if (!path::is_absolute(home)) return nullptr;
  // A build of a changed or unknown tree is told from others by its own bytes: their rules may differ.
  std::string build(build_commit());
  if (build.empty() || build.find('+') != build.npos) {
    auto program = sys::read_file("/proc/self/exe", k_program_bytes_max);
    if (!program) return nullptr;
    build = sha256(*program).hex();
  }
  auto prover = wheel::Prover::open(path::join(home, "quarry/proof.key"),
                                    {fmt::format("quarry {} {}", program_version(), build)});
  if (prover) return std::make_shared<const wheel::Prover>(std::move(*prover));
  if (prover.error().is(codes::secret_readable_by_others)) context.out.warn(render(prover.error()));
  return nullptr;
}

} // namespace quarry::cli
