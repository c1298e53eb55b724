#include "inspect/module_names.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <array>
#include <cctype>

namespace quarry::inspect {

namespace {
// With these a module can get names that its text does not spell. `update` is left out: it needs globals() or vars().
constexpr std::array<std::string_view, 23> k_makers{
    "globals",  "locals",       "vars",      "exec",       "eval",      "compile",       "setattr",   "modules",
    "__dict__", "__getattr__",  "__class__", "__import__", "f_globals", "f_locals",      "_getframe", "__setattr__",
    "__path__", "__builtins__", "__spec__",  "__loader__", "importlib", "import_module", "ModuleType"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What stands before the word at the end of `text`, without blanks.
std::string_view before_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Somebody who gets the module's name can find the module in sys.modules and add to it. Comparing it with "__main__"
/// and naming a logger are what most modules do with it.
bool is_harmless_name(std::string_view before, std::string_view behind) {
  behind = text::trim(behind.substr(0, behind.find('\n')));
  return behind.starts_with("==") || before_blanks(before).ends_with("==") ||
         (before.ends_with("getLogger(") && behind.starts_with(')'));
}
} // namespace

bool surely_lacks(std::string_view source, std::string_view name) {
  auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::ranges::all_of(source, is_ascii) || !std::ranges::all_of(name, is_ascii)) return false;
  if (name.empty() || name.starts_with("__")) return false; // each module has __name__, __doc__ and more
  for (std::size_t at = 0; at < source.size();) {
    if (!is_word(source[at])) {
      if (source[at] == '*' && before_blanks(source.substr(0, at)).ends_with("import")) return false;
      ++at;
      continue;
    }
    auto end = at;
    while (end < source.size() && is_word(source[end])) ++end;
    auto word = source.substr(at, end - at);
    if (word == name || std::ranges::find(k_makers, word) != k_makers.end()) return false;
    if (word == "__name__" && !is_harmless_name(source.substr(0, at), source.substr(end))) return false;
    at = end;
  }
  return true;
}

} // namespace quarry::inspect
