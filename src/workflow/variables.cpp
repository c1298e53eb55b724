#include "workflow/variables.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/programs.hpp"
#include <algorithm>

namespace quarry::workflow {

namespace {
constexpr std::size_t k_value_bytes_max = 4'096; // an address; a value may have itself in it many times

bool continues_variable(char c) { return c == '_' || ascii::is_alnum(c); }

std::size_t name_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && continues_variable(text[length])) ++length;
  return length > 0 && !ascii::is_digit(text[0]) ? length : 0;
}

/// A variable at the beginning of a text, and how long it is written there; length 0: it begins with none.
struct Named {
  std::string name, other; ///< other: the name in PowerShell
  std::size_t length = 0;
};

Named variable_at(std::string_view text) {
  constexpr std::string_view k_expression = "${{", k_context = "env.", k_environment = "$env:";
  if (text.starts_with(k_expression)) {
    auto end = text.find("}}");
    auto inside = end == text.npos ? std::string_view() : text::trim(text.substr(3, end - 3));
    if (!inside.starts_with(k_context)) return {};
    auto name = inside.substr(k_context.size());
    return name_length(name) == name.size() ? Named{std::string(name), {}, end + 2} : Named{};
  }
  if (text::starts_with_ignore_case(text, k_environment)) {
    auto length = name_length(text.substr(k_environment.size()));
    return {
        std::string(text.substr(k_environment.size(), length)), {}, length == 0 ? 0 : k_environment.size() + length};
  }
  bool braces = text.starts_with("${");
  if (!text.starts_with('$')) return {};
  auto length = name_length(text.substr(braces ? 2 : 1));
  if (length == 0 || (braces && (2 + length >= text.size() || text[2 + length] != '}'))) return {};
  std::string name(text.substr(braces ? 2 : 1, length));
  return {name, "$" + text::lower(name), length + (braces ? 3 : 1)};
}

void set(const std::string& name, std::string_view text, Variables& variables) {
  auto value = expanded(text, variables);
  bool known = value.find_first_of("$`") == value.npos && value.size() <= k_value_bytes_max;
  if (known)
    variables[name] = std::move(value);
  else
    variables.erase(name);
}
} // namespace

Variables environment_of(const File& file, const Job& job, const Step& step) {
  Variables variables;
  for (const auto* node : {static_cast<const Node*>(&file.root), job.node, step.node}) {
    const auto* env = node->find("env");
    if (!env) continue;
    for (const auto& member : env->members)
      if (member.value.is_scalar()) set(member.key, member.value.text, variables);
  }
  return variables;
}

void assign(const ShellCommand& command, Variables& variables) {
  static constexpr std::array<std::string_view, 4> k_builtins = {"export", "local", "readonly", "declare"};
  const auto& words = command.words;
  if (words.size() >= 3 && words[0].text.starts_with('$') && words[1].text == "=") {
    auto named = variable_at(words[0].text);
    bool alone = named.length == words[0].text.size() && words.size() == 3;
    if (alone && !named.other.empty()) set(named.other, words[2].text, variables);
    return;
  }
  bool builtin = !words.empty() && is_among(words[0].text, k_builtins);
  for (std::size_t i = builtin ? 1 : 0; i < words.size(); ++i) {
    auto equals = words[i].text.find('=');
    auto name = words[i].text.substr(0, equals);
    bool assigns = equals != std::string::npos && name_length(name) == name.size() && !name.empty();
    if (!assigns && !builtin) return; // `NAME=value program`: for that program
    if (assigns && (builtin || program_at(command) == words.size()))
      set(name, std::string_view(words[i].text).substr(equals + 1), variables);
  }
}

std::string expanded(std::string_view word, const Variables& variables) {
  std::string out;
  for (std::size_t at = 0; at < word.size();) {
    auto named = word[at] == '$' ? variable_at(word.substr(at)) : Named{};
    auto found = named.length == 0 ? variables.end() : variables.find(named.name);
    if (found == variables.end() && !named.other.empty()) found = variables.find(named.other);
    bool fits = found != variables.end() && out.size() + found->second.size() <= k_value_bytes_max;
    auto length = std::max<std::size_t>(named.length, 1);
    out += fits ? found->second : std::string(word.substr(at, length));
    at += length;
  }
  return out;
}

} // namespace quarry::workflow
