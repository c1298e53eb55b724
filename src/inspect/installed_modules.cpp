#include "inspect/installed_modules.hpp"

#include "base/ascii.hpp"
#include <algorithm>

namespace quarry::inspect {

namespace {
void add_modules(std::string_view path, Modules& modules) {
  if (path.starts_with("../")) return;
  auto slash = path.rfind('/');
  auto directory = slash == path.npos ? std::string_view() : path.substr(0, slash);
  for (auto up = directory; !up.empty() && modules.emplace(up).second;)
    up = up.substr(0, up.rfind('/') == up.npos ? 0 : up.rfind('/'));
  bool module = path.ends_with(".py") || path.ends_with(".so") || path.ends_with(".pyd");
  auto dot = path.find('.', slash == path.npos ? 0 : slash + 1); // foo.cpython-312-x86_64-linux-gnu.so
  if (module) modules.emplace(path.substr(0, dot));
}
} // namespace

Modules modules_of(std::span<const WheelContents* const> wheels) {
  Modules modules;
  for (const auto* wheel : wheels)
    for (const auto& path : wheel->installed) add_modules(path, modules);
  return modules;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && !ascii::is_digit(name.front()) && std::ranges::all_of(name, [](char c) {
    return ascii::is_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; // letters of other scripts
  });
}

} // namespace quarry::inspect
