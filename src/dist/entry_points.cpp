#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/metadata.hpp"
#include "dist/script_name.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace quarry::dist {

namespace {

/// Far above any real distribution; each point costs about 150 bytes of memory, however short its line.
constexpr std::size_t k_points_max = 100'000;

bool is_identifier(std::string_view text) {
  auto letter = [](char c) { return ascii::is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; };
  auto word = [&](char c) { return letter(c) || ascii::is_digit(c); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), word);
}
bool is_dotted_name(std::string_view text) {
  auto parts = text::split(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) { return is_identifier(part); });
}

bool is_script_group(std::string_view group) { return group == "console_scripts" || group == "gui_scripts"; }

/// Characters at which Python's str.splitlines breaks a line and a line-by-line reader does not.
bool has_odd_line_break(std::string_view text) {
  if (text.find_first_of("\v\f\x1c\x1d\x1e") != text.npos) return true;
  return text.find("\xc2\x85") != text.npos || text.find("\xe2\x80\xa8") != text.npos ||
         text.find("\xe2\x80\xa9") != text.npos;
}

/// entry_points.txt as both of its common readers see it: importlib.metadata (each line for itself, `#` comments) and
/// configparser (`#` and `;` comments, indented lines continue a value, sections and names only once).
class EntryPointReader {
public:
  Result<std::vector<EntryPoint>> read(std::string_view text) {
    if (text.size() > k_entry_points_bytes_max) return error("it is larger than 16 MiB");
    if (text.find('\0') != text.npos) return error("it holds a NUL byte");
    if (!text::is_valid_utf8(text)) return error("it is not UTF-8");
    if (has_odd_line_break(text)) return error("it holds a control character at which some readers break the line");
    for (const auto& line : text::lines(text)) {
      ++line_;
      TRY_DO(take(line));
    }
    return std::move(points_);
  }

private:
  Result<void> take(std::string_view line) {
    if (line.find('\r') != line.npos) return error("a carriage return is alone");
    auto content = text::trim(line);
    if (content.empty() || content[0] == '#') return {};
    if (content[0] == ';') return error("a line after ';' is a comment to some readers and an entry to others");
    auto indent = line.find_first_not_of(" \t");
    if (in_value_ && indent > indent_) return error("an indented line continues a value for some readers only");
    indent_ = indent;
    return content[0] == '[' ? section(content) : entry(content);
  }

  Result<void> section(std::string_view content) {
    in_value_ = false;
    if (!content.ends_with(']') || content.size() < 3) return error("a group is written as [name]");
    group_ = content.substr(1, content.size() - 2);
    if (group_ == "DEFAULT") return error("the group DEFAULT means all groups to some readers");
    if (group_.find(']') != group_.npos || text::trim(group_) != group_) return error("a group is written as [name]");
    if (!groups_.insert(group_).second) return error(fmt::format("the group {} appears twice", group_));
    names_.clear();
    return {};
  }

  Result<void> entry(std::string_view content) {
    in_value_ = true;
    if (group_.empty()) return error("an entry comes before the first group");
    auto equals = content.find('=');
    if (equals == content.npos) return error("an entry is written as name = module:attribute");
    std::string name(text::trim(content.substr(0, equals)));
    if (name.empty()) return error("an entry has no name");
    if (!names_.insert(name).second) return error(fmt::format("{:?} appears in {} twice", name, group_));
    if (points_.size() == k_points_max) return error(fmt::format("it has more than {} entries", k_points_max));
    TRY(auto point, parse_value(std::move(name), text::trim(content.substr(equals + 1))));
    points_.push_back(std::move(point));
    return {};
  }

  Result<EntryPoint> parse_value(std::string name, std::string_view value) {
    EntryPoint point{group_, std::move(name), std::string(value), ""};
    auto reference = value;
    if (reference.ends_with(']'))
      reference = text::trim(reference.substr(0, reference.find('['))); // extras: deprecated, ignored
    auto colon = reference.find(':');
    auto module = text::trim(reference.substr(0, colon));
    auto attribute = colon == reference.npos ? "" : text::trim(reference.substr(colon + 1));
    bool is_reference = is_dotted_name(module) && (colon == reference.npos || is_dotted_name(attribute));
    if (is_reference) point.module = module, point.attribute = attribute;
    if (is_script_group(group_)) TRY_DO(check_script(point, is_reference));
    return point;
  }

  Result<void> check_script(const EntryPoint& point, bool is_reference) {
    if (!is_reference || point.attribute.empty())
      return error(fmt::format("{} = {:?} does not name a function as module:attribute", point.name, point.module));
    if (!is_script_name(point.name)) return error(fmt::format("{:?} cannot be the name of a script", point.name));
    if (is_interpreter_settings(point.name))
      return error(fmt::format("a script called {} would be read as settings of the interpreter", point.name));
    if (is_interpreter_name(point.name) || is_interpreter_name(windows_script(point.name)))
      return error(fmt::format("a script called {} would replace the interpreter", point.name));
    return {};
  }

  Unexpected error(std::string_view why) const {
    std::string place = line_ ? fmt::format("line {}: ", line_) : "";
    return fail(ErrorKind::corrupt, "M009", fmt::format("entry_points.txt: {}{}", place, why),
                "fix the entry points and build the wheel again");
  }

  std::vector<EntryPoint> points_;
  std::set<std::string> groups_, names_;
  std::string group_;
  std::size_t line_ = 0, indent_ = 0;
  bool in_value_ = false;
};

} // namespace

bool EntryPoint::is_reference() const {
  std::string_view value = module;
  if (value.ends_with(']')) value = text::trim(value.substr(0, value.find('[')));
  auto colon = value.find(':');
  auto is_path = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return ascii::is_alnum(c) || c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    });
  };
  return is_path(text::trim(value.substr(0, colon))) &&
         (colon == value.npos || is_path(text::trim(value.substr(colon + 1))));
}

Result<std::vector<EntryPoint>> parse_entry_points(std::string_view text) { return EntryPointReader().read(text); }

std::string render_entry_points(const std::vector<EntryPoint>& points) {
  auto sorted = points;
  std::sort(sorted.begin(), sorted.end());
  std::string out, group;
  for (const auto& point : sorted) {
    if (point.group != group) {
      group = point.group;
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", group);
    }
    out += fmt::format("{} = {}{}{}\n", point.name, point.module, point.attribute.empty() ? "" : ":", point.attribute);
  }
  return out;
}

} // namespace quarry::dist
