#include "dist/script_name.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <string>

namespace quarry::dist {

namespace {

/// "3", "3.12", "3.13t", "3.12_d": what may follow the interpreter's name.
bool is_interpreter_version(std::string_view text) {
  if (text.ends_with("_d")) text.remove_suffix(2);
  if (text.ends_with('t')) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_digit(c) || c == '.'; });
}

} // namespace

bool is_script_name(std::string_view name) {
  bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return (c >= 0 && c <= ' ') || c == 0x7f || std::string_view("/\\:*?\"<>|[]").find(c) != std::string_view::npos;
  });
  return plain && !name.empty() && name != "." && name != "..";
}

bool is_interpreter_name(std::string_view name) {
  auto lower = text::lower(name);
  std::string_view rest = lower;
  if (rest.ends_with(".exe")) rest.remove_suffix(4);
  for (std::string_view interpreter : {"pythonw", "python", "pypyw", "pypy"})
    if (rest.starts_with(interpreter)) return is_interpreter_version(rest.substr(interpreter.size()));
  return false;
}

std::string windows_script(std::string_view name) {
  auto dot = name.rfind('.');
  bool python = dot != name.npos && dot != 0 && name.substr(dot).starts_with(".py");
  return std::string(python ? name.substr(0, dot) : name) + ".exe";
}

bool is_interpreter_settings(std::string_view name) {
  auto lower = text::lower(name);
  return lower == "pyvenv.cfg" || lower.ends_with("._pth");
}

bool is_activation_name(std::string_view name) {
  auto lower = text::lower(name);
  auto stem = std::string_view(lower).substr(0, lower.find('.'));
  return stem == "activate" || stem == "activate_this" || stem == "deactivate";
}

} // namespace quarry::dist
