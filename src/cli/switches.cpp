#include "cli/switches.hpp"

#include <fmt/core.h>

namespace quarry::cli {

namespace {
std::string negated(const std::string& name) { return "--no-" + name.substr(2); }
} // namespace

std::vector<Flag> both_ways(const std::string& name, const std::string& help) {
  return {{.name = name, .value = "", .help = help}, {.name = negated(name), .value = "", .help = "not " + name}};
}

Result<bool> switched(const Arguments& arguments, const std::string& name, bool fallback) {
  bool yes = arguments.has(name), no = arguments.has(negated(name));
  if (yes && no)
    return fail(ErrorKind::invalid_argument, "C042", fmt::format("{} and {} are both given", name, negated(name)),
                "use only one of them");
  return yes || (fallback && !no);
}

} // namespace quarry::cli
