#include "closure/pylock.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::closure {

namespace {

/// A basic string of TOML; JSON escapes what TOML wants escaped.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const auto& text : texts) all.push_back(quoted(text));
  return "[" + text::join(all, ", ") + "]";
}

std::string fields_of(const LockedFile& file) {
  return fmt::format("name = {}, url = {}, {}hashes = {{sha256 = {}}}", quoted(file.name), quoted(file.url),
                     file.size ? fmt::format("size = {}, ", file.size) : "", quoted(file.sha256));
}

} // namespace

std::string marker_of(const mirror::Target& target) {
  bool windows = target.platform == Platform::windows;
  return fmt::format("python_version == \"{}\" and sys_platform == \"{}\" and platform_machine == \"{}\"",
                     fmt::format("3.{}", target.minor), windows ? "win32" : "linux", windows ? "AMD64" : "x86_64");
}

std::string to_pylock(const Lock& lock) {
  auto text = fmt::format("lock-version = \"1.0\"\ncreated-by = \"quarry\"\nenvironments = {}\n",
                          quoted_list(lock.environments));
  for (const auto& project : lock.projects) {
    text += fmt::format("\n[[packages]]\nname = {}\nversion = {}\n", quoted(project.name), quoted(project.version));
    if (!project.marker.empty()) text += fmt::format("marker = {}\n", quoted(project.marker));
    if (!project.requires_python.empty())
      text += fmt::format("requires-python = {}\n", quoted(project.requires_python));
    if (project.sdist) text += fmt::format("sdist = {{{}}}\n", fields_of(*project.sdist));
    if (project.wheels.empty()) continue;
    text += "wheels = [\n";
    for (const auto& wheel : project.wheels) text += fmt::format("    {{{}}},\n", fields_of(wheel));
    text += "]\n";
  }
  return text + fmt::format("\n[tool.quarry]\nsource = {}\nsets = {}\n", quoted(lock.source), quoted_list(lock.sets));
}

} // namespace quarry::closure
