#include "gate/shipped.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "trial/suite.hpp"
#include <fmt/core.h>
#include <optional>
#include <vector>

namespace quarry::gate {

namespace {

constexpr std::uint64_t k_policy_bytes_max = 1u << 20; // the largest matrix known needs 20 kB

std::vector<std::string> shipped_policies(const Resources& resources) {
  std::vector<std::string> names;
  for (auto name : resources.list("data/policies/"))
    if (name.ends_with(".toml")) {
      name = name.substr(name.rfind('/') + 1);
      names.push_back(name.substr(0, name.size() - 5));
    }
  return names;
}

std::optional<std::string> shipped_policy(const Resources& resources, const std::string& named) {
  auto stem = named.substr(named.rfind('/') + 1);
  if (stem.ends_with(".toml")) stem.resize(stem.size() - 5);
  if (named != stem && named != "policies/" + stem + ".toml" && named != "data/policies/" + stem + ".toml")
    return std::nullopt;
  return resources.read("data/policies/" + stem + ".toml");
}

/// A required suite that data/suites defines counts by its definition alone. `any_command` is about the other names.
Result<Policy> bound(const Resources& resources, NamedText named) {
  TRY(auto policy, parse_policy(named));
  for (const auto& name : unbound_suites(policy)) {
    TRY(auto suite, trial::find_suite(resources, name), "while reading the suites of policy " + policy.name);
    if (suite) bind_suite(policy, name, suite->digest);
  }
  take_back_any_command(policy);
  return policy;
}

} // namespace

Result<Policy> find_policy(const Resources& resources, const std::string& named) {
  // A bare word is a shipped policy even where a file has that name (the repository has a program called demo).
  bool is_word = named.find_first_of("/.") == named.npos;
  auto shipped = shipped_policy(resources, named);
  if (is_word && shipped) return bound(resources, {*shipped, named});
  if (sys::exists(named) && !sys::is_directory(named)) {
    TRY(auto text, sys::read_file(named, k_policy_bytes_max));
    return bound(resources, {text, named});
  }
  if (shipped) return bound(resources, {*shipped, named});
  return fail(ErrorKind::not_found, "G007", fmt::format("the policy {} does not exist", named),
              fmt::format("name a file, or one of {}", text::join(shipped_policies(resources), ", ")));
}

} // namespace quarry::gate
