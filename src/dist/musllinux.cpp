#include "dist/musllinux.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"

namespace quarry::dist {

std::string Musllinux::tag(std::string_view machine) const {
  return "musllinux_" + text::replace_all(newest, ".", "_") + "_" + std::string(machine);
}

std::set<std::string> Musllinux::libraries_of(std::string_view machine) const {
  auto own = libc.find(std::string(machine));
  if (own == libc.end()) return {};
  auto out = libraries;
  out.insert(own->second);
  return out;
}

Result<Musllinux> parse_musllinux(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto root, TomlTable::parse({text, file}, {"M015", "M015", "data/musllinux.toml"}));
  Musllinux out;
  std::string schema;
  std::vector<std::string> libraries;
  std::map<std::string, std::vector<std::string>> hidden;
  TRY_DO(root.choice("schema", schema, {"quarry.musllinux/1"}, true));
  TRY_DO(root.text("newest", out.newest, true));
  auto dot = out.newest.find('.');
  if (dot == out.newest.npos || !text::parse_u64(out.newest.substr(0, dot)) ||
      !text::parse_u64(out.newest.substr(dot + 1)))
    return root.error("newest", out.newest + " is not a version such as 1.2");
  TRY_DO(root.texts("libraries", libraries));
  out.libraries = {libraries.begin(), libraries.end()};
  std::vector<std::pair<std::string, std::string>> machines;
  TRY_DO(root.text_map("libc", machines));
  if (machines.empty()) return root.error("libc", "it names no machine");
  out.libc = {machines.begin(), machines.end()};
  TRY_DO(root.texts_map("private", hidden));
  for (const auto& [library, symbols] : hidden) out.private_symbols[library] = {symbols.begin(), symbols.end()};
  TRY_DO(root.finish());
  return out;
}

} // namespace quarry::dist
