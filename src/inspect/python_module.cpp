#include "inspect/python_module.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <utility>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_module_bytes_max = 1u << 20; // the largest of ROCm's has 20 KB

bool is_python_name(std::string_view text) {
  return !text.empty() && !ascii::is_digit(text[0]) &&
         std::ranges::all_of(text, [](char c) { return c == '_' || ascii::is_alnum(c); });
}

/// Without a comment behind it.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote && line[i] == '\\')
      ++i;
    else if (quote)
      quote = line[i] == quote ? '\0' : quote;
    else if (line[i] == '"' || line[i] == '\'')
      quote = line[i];
    else if (line[i] == '#')
      return text::trim(line.substr(0, i));
  }
  return text::trim(line);
}

/// A text in double quotes, or None, True, False or a number as it is; nullopt for anything else.
std::optional<std::string> one_literal(std::string_view text) {
  text = text::trim(text);
  if (text == "None" || text == "True" || text == "False") return std::string(text);
  if (!text.empty() && std::ranges::all_of(text, ascii::is_digit)) return std::string(text);
  bool quoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  if (!quoted) return std::nullopt;
  auto inside = text.substr(1, text.size() - 2);
  if (inside.find(text[0]) != inside.npos || inside.find('\\') != inside.npos) return std::nullopt;
  return fmt::format("\"{}\"", inside);
}

/// The literals of `[a, b]` or `(a, b)`; nullopt if it is not such a list.
std::optional<std::vector<std::string>> list_items(std::string_view text) {
  bool list = text.size() >= 2 && ((text[0] == '[' && text.back() == ']') || (text[0] == '(' && text.back() == ')'));
  if (!list) return std::nullopt;
  std::vector<std::string> items;
  for (const auto& part : text::split(text.substr(1, text.size() - 2), ',')) {
    if (text::trim(part).empty()) continue;
    auto item = one_literal(part);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
  }
  return items;
}

std::string list_text(std::vector<std::string> items) {
  std::ranges::sort(items);
  return "[" + text::join(items, ", ") + "]";
}

class ModuleReader {
public:
  PythonModule read(std::string_view text) {
    for (const auto& line : text::lines(text)) take(line);
    for (auto& [name, items] : lists_) {
      if (name == "__all__") {
        for (const auto& item : items) module_.exported.insert(item.substr(1, item.size() - 2));
      } else {
        module_.values[name] = list_text(std::move(items));
      }
    }
    return std::move(module_);
  }

private:
  void take(std::string_view line) {
    constexpr std::string_view k_document = "\"\"\"";
    auto mark = line.find(k_document);
    bool one_line = mark != line.npos && line.find(k_document, mark + k_document.size()) != line.npos;
    if (mark != line.npos && !one_line) in_document_ = !in_document_;
    if (in_document_ || mark != line.npos) return;
    auto code = without_comment(line);
    if (!open_.empty()) { // the lines of a list
      open_text_ += std::string(code) + " ";
      if (code.ends_with(']') || code.ends_with(')')) assign(std::exchange(open_, {}), text::trim(open_text_));
      return;
    }
    if (line.empty() || line[0] == ' ' || line[0] == '\t') return;
    if (auto append = code.find(".append("); append != code.npos && code.ends_with(')'))
      return add_item(code.substr(0, append), code.substr(append + 8, code.size() - append - 9));
    auto equals = code.find('=');
    if (equals == code.npos || equals + 1 == code.size() || code[equals + 1] == '=') return;
    auto name = text::trim(code.substr(0, std::min(code.find(':'), equals)));
    auto value = text::trim(code.substr(equals + 1));
    if (!is_python_name(name)) return;
    if ((value == "[" || value == "(")) {
      open_ = std::string(name);
      open_text_ = std::string(value);
      return;
    }
    assign(std::string(name), value);
  }

  void assign(const std::string& name, std::string_view value) {
    lists_.erase(name);
    module_.values.erase(name);
    if (auto items = list_items(value)) {
      lists_[name] = std::move(*items);
      return;
    }
    // `ALL_PACKAGES['core']` and "core" name the same entry.
    auto bracket = value.ends_with(']') ? value.find('[') : value.npos;
    bool entry = bracket != value.npos && is_python_name(value.substr(0, bracket));
    if (auto literal = one_literal(entry ? value.substr(bracket + 1, value.size() - bracket - 2) : value))
      module_.values[name] = std::move(*literal);
  }

  void add_item(std::string_view name, std::string_view value) {
    auto found = lists_.find(std::string(name));
    auto item = one_literal(value);
    if (found != lists_.end() && item) found->second.push_back(std::move(*item));
  }

  PythonModule module_;
  std::map<std::string, std::vector<std::string>> lists_;
  std::string open_, open_text_; ///< of a list that goes on: its name, its lines so far
  bool in_document_ = false;     ///< between `"""`
};

void add_values(const std::string& place, const PythonModule& left, const PythonModule& right,
                std::vector<Part>& parts) {
  for (const auto& [name, value] : left.values) {
    auto other = right.values.find(name);
    if (other == right.values.end())
      parts.push_back({place + "!value:" + name, Kind::only_left, value});
    else if (other->second != value)
      parts.push_back({place + "!value:" + name, Kind::content, value + " | " + other->second});
  }
  for (const auto& [name, value] : right.values)
    if (!left.values.contains(name)) parts.push_back({place + "!value:" + name, Kind::only_right, value});
}
} // namespace

PythonModule read_module(std::string_view text) { return ModuleReader().read(text); }

Result<std::vector<Part>> module_parts(const std::string& place, const content::Rope& left,
                                       const content::Rope& right) {
  std::vector<Part> parts;
  if (left.size() > k_module_bytes_max || right.size() > k_module_bytes_max) return parts;
  TRY(auto l, left.read_all(k_module_bytes_max));
  TRY(auto r, right.read_all(k_module_bytes_max));
  auto one = read_module(l), other = read_module(r);
  add_values(place, one, other, parts);
  for (const auto& name : one.exported)
    if (!other.exported.contains(name)) parts.push_back({place + "!exports:" + name, Kind::only_left, name});
  for (const auto& name : other.exported)
    if (!one.exported.contains(name)) parts.push_back({place + "!exports:" + name, Kind::only_right, name});
  parts.push_back({place + "!source", Kind::content, "the code of the module"});
  return parts;
}

} // namespace quarry::inspect
