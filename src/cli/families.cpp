#include "cli/families.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_families_bytes_max = 4u << 20; // the incumbent's table has 20 kB

Result<matrix::Families> parse_shipped(const Context& context, const std::string& name, const std::string& text) {
  auto origin = context.resources.origin(name);
  return matrix::parse_families({text, origin == "embedded" ? name : origin});
}

std::vector<std::string> shipped_names(const Context& context) {
  std::vector<std::string> names;
  for (auto name : context.resources.list("data/families/"))
    if (name.ends_with(".toml")) {
      name = name.substr(name.rfind('/') + 1);
      names.push_back(name.substr(0, name.size() - 5));
    }
  return names;
}
} // namespace

Flag families_file_flag() {
  return {"--families-file",
          "FILE",
          "a families file, or the name of a shipped table (default: data/families.toml)",
          {},
          {},
          "QUARRY_FAMILIES"};
}

Result<matrix::Families> load_families(const Context& context, const std::string& named) {
  bool is_word = named.find_first_of("/.") == named.npos;
  auto name = named.empty() ? std::string("data/families.toml") : "data/families/" + named + ".toml";
  auto shipped = is_word ? context.resources.read(name) : std::nullopt;
  if (shipped) return parse_shipped(context, name, *shipped);
  if (!named.empty() && sys::exists(named) && !sys::is_directory(named)) {
    TRY(auto text, sys::read_file(named, k_families_bytes_max), "while reading --families-file");
    return matrix::parse_families({text, named});
  }
  return fail(ErrorKind::not_found, "F008", fmt::format("there is no families file {}", named.empty() ? name : named),
              fmt::format("name a file, or one of {}", text::join(shipped_names(context), ", ")));
}

std::optional<Finding> unknown_family(const Context& context, std::string_view flag, const std::string& family) {
  auto families = load_families(context, "");
  if (!families || !families->targets_of(family).empty()) return std::nullopt;
  return Finding{"G008", Severity::warning, std::string(flag),
                 fmt::format("the families table has neither a family nor a target {}", family),
                 "`quarry matrix targets` lists them"};
}

} // namespace quarry::cli
