#include "dist/unpacking.hpp"

#include "base/json.hpp"
#include "dist/family.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::dist {

namespace {

constexpr std::string_view k_schema = "quarry.unpacking/1";
constexpr std::string_view k_incomplete = ".partial"; // python/rocm/src/rocm_sdk/_devel.py

bool fits(std::string_view pattern, std::string_view name) {
  auto star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  auto before = pattern.substr(0, star), after = pattern.substr(star + 1);
  return name.size() >= before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

/// Relative, and below site-packages: no component is empty, "." or "..".
bool is_below(std::string_view path) {
  while (true) {
    auto slash = path.find('/');
    auto component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}
bool is_name(std::string_view text) { return is_below(text) && text.find('/') == text.npos; }

/// The name up to the compression: "rocm_sdk_devel/_devel.tar" of "rocm_sdk_devel/_devel.tar.zst".
std::string_view uncompressed(std::string_view path) {
  auto tar = path.rfind(".tar");
  return tar == path.npos ? path : path.substr(0, tar + 4);
}

Unexpected refused(std::string_view key) {
  return fail(ErrorKind::corrupt, "M017", fmt::format("{}: `{}` does not name what is unpacked", k_unpacking_file, key),
              "the package was not made by `sdk build`, or was changed: build it again");
}

} // namespace

bool Unpacking::makes(std::string_view path) const {
  auto top = path.substr(0, path.find('/'));
  if (top.size() == path.size()) return false;
  if (fits(into, top)) return true;
  return top.ends_with(k_incomplete) && fits(into, top.substr(0, top.size() - k_incomplete.size()));
}

bool Unpacking::is_payload(std::string_view path) const {
  if (payload.empty()) return false;
  auto tar = uncompressed(payload);
  return path.starts_with(tar) && path.find('/', tar.size()) == path.npos;
}

bool Unpacking::may_stand_for(std::string_view top) const {
  return std::any_of(beside.begin(), beside.end(), [&](const auto& pattern) { return fits(pattern, top); });
}

std::string render(const Unpacking& unpacking) {
  Json out = {{"schema", k_schema}, {"into", unpacking.into}, {"beside", unpacking.beside}};
  if (!unpacking.payload.empty()) out["payload"] = unpacking.payload;
  return json::pretty(out);
}

Result<Unpacking> parse_unpacking(std::string_view text) {
  TRY(auto document, json::parse({text, k_unpacking_file}));
  TRY_DO(json::require_schema({document, k_unpacking_file}, k_schema));
  Unpacking found;
  found.payload = json::string_or(document, "payload", "");
  if (!found.payload.empty() && !is_below(found.payload)) return refused("payload");
  TRY(found.into, json::string_at({document, k_unpacking_file}, "into"));
  if (!is_name(found.into) || found.into.find('*') != found.into.npos) return refused("into");
  auto beside = document.find("beside");
  if (beside == document.end() || !beside->is_array()) return refused("beside");
  for (const auto& one : *beside) {
    if (!one.is_string() || !is_name(one.get<std::string>()) || one == "*") return refused("beside");
    found.beside.push_back(one.get<std::string>());
  }
  return found;
}

std::optional<Unpacking> unpacking_unsaid(std::string_view project) {
  // The names may end in what keeps several builds apart (`--version-suffix` of TheRock's scripts).
  Unpacking links{"", "_rocm_sdk_devel*", {"_rocm_sdk_libraries*"}};
  if (!target_of_device_code(project).empty()) return links;
  if (project != k_devel_project) return std::nullopt;
  links.payload = "rocm_sdk_devel/_devel.tar";
  return links;
}

} // namespace quarry::dist
