#include "sdk/dist_info.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::sdk {

std::string python_quote(std::string_view value) {
  bool utf8 = text::is_valid_utf8(value);
  std::string out = "\"";
  for (char c : value) {
    auto b = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (b < 0x20 || b == 0x7f || (b >= 0x80 && !utf8))
      out += fmt::format("\\x{:02x}", b);
    else
      out += c;
  }
  return out + "\"";
}

std::string python_bool(bool value) { return value ? "True" : "False"; }

std::string python_list(const std::vector<std::string>& literals) { return "[" + text::join(literals, ", ") + "]"; }

std::string python_texts(const std::vector<std::string>& values) {
  std::vector<std::string> literals;
  for (const auto& v : values) literals.push_back(python_quote(v));
  return python_list(literals);
}

std::string python_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::vector<std::string> parts;
  for (const auto& [name, literal] : items) parts.push_back(python_quote(name) + ": " + literal);
  return "{" + text::join(parts, ", ") + "}";
}

PythonModule::PythonModule(std::string_view docstring) : text_(fmt::format("\"\"\"{}\"\"\"\n\n", docstring)) {}
void PythonModule::text(std::string_view name, std::string_view value) { raw(name, python_quote(value)); }
void PythonModule::none(std::string_view name) { raw(name, "None"); }
void PythonModule::texts(std::string_view name, const std::vector<std::string>& values) {
  raw(name, python_texts(values));
}
void PythonModule::raw(std::string_view name, std::string literal) { text_ += fmt::format("{} = {}\n", name, literal); }

} // namespace quarry::sdk
