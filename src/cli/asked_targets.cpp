#include "cli/asked_targets.hpp"

#include "base/text.hpp"
#include "cli/families.hpp"
#include "matrix/expand.hpp"

namespace quarry::cli {

Flag family_flag() {
  return {"--amdgpu-family", "A,B", "judge against the targets of these families, such as gfx94X-dcgpu"};
}

Result<inspect::Asked> asked_of(const Context& context, const Arguments& arguments) {
  inspect::Asked asked;
  auto said = arguments.find("--amdgpu-family");
  if (!said) return asked;
  auto names = text::split_any(*said, ",; ");
  if (names.empty())
    return fail(ErrorKind::invalid_argument, "F003", "--amdgpu-family names nothing",
                "name families such as gfx94X-dcgpu, or omit the flag");
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  TRY(asked.targets, matrix::expand_targets(families, names));
  asked.family = text::join(names, ",");
  return asked;
}

} // namespace quarry::cli
