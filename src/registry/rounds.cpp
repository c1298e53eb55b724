#include "registry/rounds.hpp"

#include "base/codes.hpp"
#include <fmt/core.h>

namespace quarry::registry {

Result<void> Rounds::another(Error error) {
  bool faster = error.is(codes::overtaken);
  bool unknown = error.is(codes::write_unconfirmed);
  if (unknown) ++unknown_;
  if (!faster && !(unknown && unknown_ < k_unknown_outcomes_max)) return fail(std::move(error));
  if (++rounds_ < k_rebase_max) return {};
  return fail(ErrorKind::precondition_failed, "P010",
              fmt::format("other writers changed {} {} times meanwhile", what_, k_rebase_max),
              "run the same command again; what it wrote so far is kept");
}

} // namespace quarry::registry
