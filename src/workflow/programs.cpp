#include "workflow/programs.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>

namespace quarry::workflow {

namespace {
/// Words before a program that do not change which one it is.
bool stands_before_program(std::string_view word) {
  static constexpr std::array<std::string_view, 16> k_words = {"if",    "elif",    "then", "else",  "while", "until",
                                                               "do",    "!",       "{",    "(",     "time",  "exec",
                                                               "nohup", "builtin", "&",    "return"};
  return is_among(word, k_words);
}

/// `f()` and the pattern of a case, `a)`.
bool is_head(std::string_view word) {
  return word.ends_with("()") || (word.size() > 1 && word.ends_with(')') && word.find_first_of("($") == word.npos);
}

bool is_assignment(std::string_view word) {
  auto equals = word.find('=');
  if (equals == word.npos || equals == 0 || ascii::is_digit(word[0])) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return c == '_' || ascii::is_alnum(c); });
}

/// Behind the options of `sudo -u user -E`, `timeout -k 5 60`, `env -u A`.
std::size_t after_options(const ShellCommand& command, std::size_t at) {
  auto program = command.words[at++].text;
  auto with_operand = program == "sudo" ? "ugpC" : program == "timeout" ? "ks" : program == "nice" ? "n" : "u";
  while (at < command.words.size() && command.words[at].text.starts_with('-')) {
    const auto& option = command.words[at++].text;
    if (option.size() == 2 && std::string_view(with_operand).find(option[1]) != std::string_view::npos) ++at;
  }
  return program == "timeout" ? at + 1 : at;
}

std::string plain_name(std::string_view word) {
  if (auto equals = word.find('='); word.starts_with('$') && equals != word.npos) word.remove_prefix(equals + 1);
  word = word.substr(std::min(word.find_first_not_of("({&"), word.size()));
  auto name = text::lower(path::basename(word));
  if (name.ends_with(".exe")) name.resize(name.size() - 4);
  return name;
}

bool is_shell(std::string_view program) {
  static constexpr std::array<std::string_view, 6> k_shells = {"sh", "bash", "zsh", "dash", "ksh", "fish"};
  return is_among(program, k_shells);
}

bool is_powershell(std::string_view program) { return program == "pwsh" || program == "powershell"; }

/// Options behind which the program's text stands, in the command line or in a module.
bool has_own_program(std::string_view option, std::string_view program) {
  if (!option.starts_with('-') || option.starts_with("--")) return false;
  auto letters = is_shell(program) ? "c" : program.starts_with("python") ? "cm" : "enpr";
  return option.find_first_of(letters) != option.npos;
}
} // namespace

std::size_t program_at(const ShellCommand& command) {
  const auto& words = command.words;
  std::size_t at = 0;
  while (at < words.size()) {
    const auto& word = words[at].text;
    if (stands_before_program(word) || is_assignment(word) || is_head(word))
      ++at;
    else if (word.starts_with('$') && at + 1 < words.size() && words[at + 1].text == "=")
      at += 2;
    else if (is_among(word, std::array<std::string_view, 5>{"sudo", "env", "timeout", "nice", "doas"}))
      at = after_options(command, at);
    else
      break;
  }
  return std::min(at, words.size());
}

std::string program_of(const ShellCommand& command) {
  auto at = program_at(command);
  return at < command.words.size() ? plain_name(command.words[at].text) : std::string();
}

bool is_interpreter(std::string_view program) {
  static constexpr std::array<std::string_view, 5> k_words = {"perl", "ruby", "node", "php", "cmd"};
  return is_shell(program) || is_powershell(program) || program.starts_with("python") || is_among(program, k_words);
}

bool is_command_option(std::string_view word) {
  auto lower = text::lower(word);
  if (lower == "-command" || lower == "/c") return true;
  bool letters = word.starts_with('-') && !word.starts_with("--") && word.size() <= 4;
  return letters && word.ends_with('c');
}

bool executes_input(const ShellCommand& command) {
  auto program = program_of(command);
  if (program == "iex" || program == "invoke-expression") return true;
  if (!is_interpreter(program) || program == "cmd") return false;
  if (is_powershell(program)) return words_of(command).find(" - ") != std::string::npos || command.words.size() == 1;
  for (auto i = program_at(command) + 1; i < command.words.size(); ++i) {
    const auto& word = command.words[i].text;
    if (word.find('>') != word.npos) {
      if (word.ends_with('>')) ++i; // the next word is the file
    } else if (word == "-" || word == "/dev/stdin" || (is_shell(program) && word == "-s")) {
      return true;
    } else if (has_own_program(word, program)) {
      return false;
    } else if (is_shell(program) && (word == "-o" || word == "+o" || word == "-O")) {
      ++i; // `bash -o pipefail`
    } else if (!word.starts_with('-') && !word.starts_with('<') && word != ")") {
      return false; // a script, and the pipe is its data
    }
  }
  return true;
}

bool is_filter(std::string_view program) {
  static constexpr std::array<std::string_view, 21> k_words = {
      "cut",  "awk",    "sed", "head", "tail",   "tr",   "tee",  "cat",           "sort",   "gunzip",     "zcat",
      "gzip", "column", "xz",  "zstd", "base64", "uniq", "gawk", "select-object", "select", "format-list"};
  return is_among(program, k_words) || program.starts_with("out-") || program.starts_with("format-");
}

std::string words_of(const ShellCommand& command) {
  std::string text;
  for (const auto& word : command.words) text += word.text + " ";
  return text;
}

std::string redirected_to(const ShellCommand& command, std::size_t word) {
  std::string_view text = command.words[word].text;
  if (text.starts_with('1') || text.starts_with('&')) text.remove_prefix(1);
  if (!text.starts_with('>')) return {};
  text.remove_prefix(std::min(text.find_first_not_of(">|"), text.size()));
  if (text.empty()) return word + 1 < command.words.size() ? command.words[word + 1].text : std::string();
  return text.starts_with('&') ? std::string() : std::string(text); // `>&2` is a stream
}

} // namespace quarry::workflow
