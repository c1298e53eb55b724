#include "workflow/verifiers.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <string>

namespace quarry::workflow {

namespace {
using Commands = std::vector<ShellCommand>;

bool has_any(const std::string& text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return text.find(part) != text.npos; });
}

/// Programs that print, copy or set what they are given: a digest's name in their words verifies nothing.
bool only_shows(std::string_view program) {
  static constexpr std::array<std::string_view, 24> k_words = {
      "",        "echo", "printf", "cat",        "ls",           "head",  "tail",  "rm",
      "mv",      "cp",   "mkdir",  "touch",      "curl",         "wget",  "chmod", "export",
      "command", "set",  "cd",     "write-host", "write-output", "which", "type",  "local"};
  return is_among(program, k_words);
}

bool is_hash_program(std::string_view name) {
  static constexpr std::array<std::string_view, 13> k_words = {
      "sha256sum", "sha512sum", "sha1sum", "sha384sum", "sha224sum",    "md5sum",  "b2sum",
      "b3sum",     "shasum",    "sha256",  "sha512",    "get-filehash", "certutil"};
  return is_among(name, k_words);
}

/// The index of the word that starts a program which prints digests; the program may be in a substitution, `$(…)`.
/// Returns the number of words if the command starts no such program.
std::size_t hash_program_at(const ShellCommand& command) {
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    auto names = text::split_any(text::lower(command.words[i].text), " \t\n|;()`$\"'={}<");
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (is_hash_program(path::basename(names[k]))) return i;
      bool next_word = i + 1 < command.words.size() && text::lower(command.words[i + 1].text) == "dgst";
      if (names[k] == "openssl" && (next_word || (k + 1 < names.size() && names[k + 1] == "dgst"))) return i;
    }
  }
  return command.words.size();
}

/// `sha256sum --check`, `shasum -a 256 -c`, `openssl dgst -verify`.
bool has_check_option(const ShellCommand& command, std::size_t at) {
  auto checks = [](std::string_view word) {
    bool letters = word.starts_with('-') && !word.starts_with("--") && word.size() <= 4;
    return word.starts_with("--check") || word == "-verify" || word == "-prverify" ||
           (letters && word.find('c') != word.npos);
  };
  if (text::lower(command.words[at].text).find("get-filehash") != std::string::npos) return false;
  for (const auto& part : text::split_any(command.words[at].text, " ()\"'|`")) // "$(sha256sum -c f)"
    if (part == "-c" || checks(part.starts_with("--") ? part : "")) return true;
  return std::any_of(command.words.begin() + static_cast<std::ptrdiff_t>(at), command.words.end(),
                     [&](const Word& word) { return checks(word.text); });
}

bool compares(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 9> k_programs = {"[",   "[[",   "test",    "case",     "diff",
                                                                 "cmp", "read", "mapfile", "readarray"};
  static constexpr std::array<std::string_view, 14> k_operators = {
      "==",   "!=",    "-eq",    "-ne",      "-ceq",      "-cne",      "-ieq",
      "-ine", "-like", "-match", "-notlike", "-notmatch", "-contains", "-in"};
  if (is_among(program_of(command), k_programs)) return true;
  return std::any_of(command.words.begin(), command.words.end(), [&](const Word& word) {
    auto lower = text::lower(word.text);
    return is_among(lower, k_operators) || lower.find(".equals(") != lower.npos;
  });
}

/// A file that other steps read: `$GITHUB_OUTPUT`.
bool is_handed_on(std::string_view file) {
  return file.find("GITHUB_OUTPUT") != file.npos || file.find("GITHUB_ENV") != file.npos;
}

/// Whether the text reads the variable: `$NAME`, `${NAME`, `$env:NAME`.
bool reads_variable(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    auto end = at + name.size();
    bool whole = end == text.size() || !(ascii::is_alnum(text[end]) || text[end] == '_');
    auto before = text.substr(0, at);
    if (whole && (before.ends_with('$') || before.ends_with("${") || before.ends_with("$env:"))) return true;
  }
  return false;
}

/// `actual=$(sha256sum f)`, `$hash = (Get-FileHash f).Hash`: the name.
std::string assigned_name(const ShellCommand& command, std::size_t at) {
  std::string_view word = command.words[at].text;
  if (auto equals = word.find('='); equals != word.npos && equals > 0)
    return std::string(word.substr(word.starts_with('$') ? 1 : 0, equals - (word.starts_with('$') ? 1 : 0)));
  if (at < 2 || command.words[at - 1].text != "=" || !command.words[at - 2].text.starts_with('$')) return {};
  return command.words[at - 2].text.substr(1);
}

/// The last command of the pipe that begins at `i`, as far as filters pass the text on.
std::size_t end_of_filters(const Commands& commands, std::size_t i) {
  while (i + 1 < commands.size() && commands[i + 1].piped_into && is_filter(program_of(commands[i + 1]))) ++i;
  return i;
}

bool is_piped_on(const Commands& commands, std::size_t i) {
  if (i + 1 == commands.size() || !commands[i + 1].piped_into) return false;
  auto program = program_of(commands[i + 1]);
  return !program.starts_with("write-") && program != "echo";
}

std::string written_file(const Commands& commands, std::size_t begin, std::size_t end) {
  for (auto i = begin; i <= end; ++i)
    for (std::size_t word = 0; word < commands[i].words.size(); ++word)
      if (auto file = redirected_to(commands[i], word); !file.empty() && !file.starts_with("/dev/")) return file;
  return {};
}

/// Whether a later command uses the variable or the file, and does not only print it.
bool is_used_later(const Commands& commands, std::size_t after, const std::string& variable, const std::string& file) {
  for (auto i = after + 1; i < commands.size(); ++i) {
    auto said = words_of(commands[i]);
    bool uses = (!variable.empty() && reads_variable(said, variable)) ||
                (!file.empty() && said.find(path::basename(file)) != said.npos);
    if (!uses) continue;
    auto end = end_of_filters(commands, i);
    bool shows = only_shows(program_of(commands[i])) && !is_piped_on(commands, end);
    if (!shows || is_handed_on(written_file(commands, i, end))) return true;
  }
  return false;
}

/// Whether the script does something with the digest that the command at `i` prints.
bool is_output_used(const Commands& commands, std::size_t i, std::size_t word) {
  if (compares(commands[i])) return true;
  auto end = end_of_filters(commands, i);
  if (is_piped_on(commands, end)) return true;
  auto file = written_file(commands, i, end);
  if (is_handed_on(file)) return true;
  auto variable = assigned_name(commands[i], word);
  return (!variable.empty() || !file.empty()) && is_used_later(commands, end, variable, file);
}

bool is_verifier(const Commands& commands, std::size_t i) {
  const auto& command = commands[i];
  if (auto at = hash_program_at(command); at < command.words.size())
    return has_check_option(command, at) || is_output_used(commands, i, at);
  auto program = program_of(command);
  auto said = text::lower(words_of(command));
  if (program == "gpg" || program == "gpg2") return has_any(said, {" --verify", " --decrypt", " -d "});
  if (program == "minisign") return command.words.size() > 1 && words_of(command).find('V') != std::string::npos;
  if (is_among(program, std::array<std::string_view, 3>{"gpgv", "cosign", "slsa-verifier"})) return true;
  if (only_shows(program)) return false;
  return has_any(said, {"checksum", "sha256", "sha512", "hashlib", "attestation verify", "get-authenticodesignature"});
}

/// Whether a text names a file: not as a part of a longer name, but `f.tar.gz.sha256` names `f.tar.gz`.
bool names_file(std::string_view text, std::string_view file) {
  auto in_name = [](char c) { return ascii::is_alnum(c) || c == '_' || c == '-'; };
  for (auto at = text.find(file); at != text.npos && !file.empty(); at = text.find(file, at + 1)) {
    auto end = at + file.size();
    bool begins = at == 0 || (!in_name(text[at - 1]) && text[at - 1] != '.');
    if (begins && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

/// `SHA256SUMS`, `checksums.txt`: digests of any number of files.
bool is_digest_list(std::string_view file) {
  auto name = text::lower(path::basename(file));
  return name.find("sum") != name.npos || name.find("digest") != name.npos || name.starts_with("sha");
}

/// What one verifier covers, by its words and those of the pipe before it.
void mark_covered(const std::string& said, std::vector<Download>& downloads) {
  std::vector<Download*> named;
  bool list = false;
  for (auto& one : downloads)
    if (names_file(said, path::basename(one.file))) {
      named.push_back(&one);
      list |= is_digest_list(one.file);
    }
  for (const auto& word : text::split_any(said, " \n")) list |= is_digest_list(word) && word.find('.') != word.npos;
  list |= said.find("SHA256SUMS") != said.npos || said.find("SHA512SUMS") != said.npos;
  if (named.empty() || list)
    for (auto& one : downloads) one.verified = true;
  for (auto* one : named) one->verified = true;
}
} // namespace

void mark_verified(const Commands& commands, std::vector<Download>& downloads) {
  for (std::size_t i = 0; i < commands.size() && !downloads.empty(); ++i) {
    bool fetches =
        std::any_of(downloads.begin(), downloads.end(), [&](const Download& one) { return one.command == i; });
    if (fetches || !is_verifier(commands, i)) continue;
    auto said = words_of(commands[i]);
    for (auto k = i; k > 0 && commands[k].piped_into; --k) said += words_of(commands[k - 1]);
    mark_covered(said, downloads);
  }
}

} // namespace quarry::workflow
