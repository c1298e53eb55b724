// Downloads that nobody verifies.
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {

struct Download {
  std::string url;
  std::string file;    ///< as the script names it; empty where it is not kept
  std::size_t command; ///< its index in the script
  bool runs = false;   ///< an interpreter reads it from a pipe
  bool piped = false;  ///< an interpreter or tar does: what is used is not a file that can be compared
  bool verified = false;
};

bool is_interpreter(std::string_view word) {
  static constexpr std::array k_words = {"sh", "bash", "python", "python3", "sudo", "zsh", "pwsh"};
  return std::find(k_words.begin(), k_words.end(), word) != k_words.end();
}

std::string name_in_url(std::string_view url) {
  return std::string(path::basename(url.substr(0, url.find_first_of("?#"))));
}

/// What a curl or wget command writes to a file or a pipe; an empty URL when it only asks.
Download curl_download(const ShellCommand& command, const ShellCommand* next) {
  Download found{};
  std::size_t first = 0;
  while (first < command.words.size() && command.words[first].text == "sudo") ++first;
  if (first == command.words.size()) return found;
  const auto& program = command.words[first].text;
  if (program != "curl" && program != "wget") return found;
  bool saved = program == "wget", asks = false;
  for (std::size_t i = first + 1; i < command.words.size(); ++i) {
    const auto& word = command.words[i].text;
    if (word.find("://") != word.npos && !word.starts_with("-H")) found.url = word;
    bool letters = word.starts_with('-') && !word.starts_with("--");
    if (program == "curl" &&
        (word == "--output" || word == "--remote-name" || (letters && word.find_first_of("oO") != word.npos)))
      saved = true;
    bool named = word == "--output" || word == "--output-document" || word == ">" ||
                 (letters && word.ends_with(program == "curl" ? 'o' : 'O'));
    if (named && i + 1 < command.words.size()) found.file = command.words[i + 1].text;
    for (std::string_view verb : {"-X", "--request", "--data", "-d", "-I", "--head", "-T", "--spider", "-fsI"})
      asks |= word == verb || (verb.size() > 2 && word.starts_with(verb));
    if (word == "/dev/null" || word.find("api.github.com") != word.npos) asks = true;
  }
  found.runs = next && next->piped_into && is_interpreter(next->words[0].text);
  found.piped = found.runs || (next && next->piped_into && next->words[0].text == "tar");
  if ((!saved && !found.piped) || asks) found.url.clear();
  if (found.file.empty()) found.file = name_in_url(found.url);
  return found;
}

/// A package that pip or uv installs from an address without a digest.
Download pip_download(const ShellCommand& command) {
  Download found{};
  bool pip = false, install = false;
  for (const auto& word : command.words) {
    auto program = path::basename(word.text);
    pip |= program == "pip" || program == "pip3";
    install |= word.text == "install";
    if (word.text == "--require-hashes") return {};
    auto address = std::string_view(word.text);
    if (auto at = address.find("http"); at != address.npos) address.remove_prefix(at); // "NAME @ https://…"
    auto file = name_in_url(address);
    bool archive = file.ends_with(".whl") || file.ends_with(".tar.gz") || file.ends_with(".zip");
    bool remote = address.starts_with("https://") || address.starts_with("http://");
    if (pip && install && archive && remote && address.find("#sha256=") == address.npos) found.url = address;
  }
  found.piped = true; // nobody sees the file before it is installed
  return found;
}

// verifiers

bool is_verifier(const std::string& text) {
  static constexpr std::array k_words = {"sha256sum",
                                         "sha512sum",
                                         "shasum",
                                         "sha256",
                                         "gpg ",
                                         "gpgv",
                                         "cosign",
                                         "minisign",
                                         "openssl dgst",
                                         "b3sum",
                                         "Get-FileHash",
                                         "checksum",
                                         "attestation verify",
                                         "md5sum"};
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

std::string words_of(const ShellCommand& command) {
  std::string text;
  for (const auto& word : command.words) text += word.text + " ";
  return text;
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

/// What one command verifies: the downloads that it or the pipe before it names; all of them if it names none, such as
/// in a loop, or a list of digests.
void mark_verified(const std::string& said, std::vector<Download>& downloads) {
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

void check_script_downloads(const Rules& rules, const File& file, const Step& step, const std::string& where) {
  const auto& script = step.run->text;
  auto has = [&](std::string_view word) { return script.find(word) != script.npos; };
  if (!has("curl") && !has("wget") && !has("pip")) return;
  const auto& commands = step.commands;
  std::vector<Download> downloads;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto* next = i + 1 < commands.size() ? &commands[i + 1] : nullptr;
    for (auto found : {curl_download(commands[i], next), pip_download(commands[i])}) {
      if (found.url.empty()) continue;
      found.command = i;
      downloads.push_back(std::move(found));
    }
  }
  for (std::size_t i = 0; i < commands.size() && !downloads.empty(); ++i) {
    auto said = words_of(commands[i]);
    bool fetches =
        std::any_of(downloads.begin(), downloads.end(), [&](const Download& one) { return one.command == i; });
    if (fetches || !is_verifier(said)) continue;
    for (auto k = i; k > 0 && commands[k].piped_into; --k) said += words_of(commands[k - 1]);
    mark_verified(said, downloads);
  }
  for (const auto& one : downloads)
    if (!one.verified || one.piped)
      rules.add(
          file, position_in(*step.run, commands[one.command].words[0].offset), "Y140", Severity::warning,
          fmt::format("{} downloads {}{} and nobody verifies its bytes", where, one.url, one.runs ? ", runs it," : ""),
          "compare with a recorded digest: `echo \"DIGEST  FILE\" | sha256sum --check`");
}
} // namespace

void check_downloads(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (std::size_t j = 0; j < file->jobs.size(); ++j)
      for (std::size_t s = 0; s < file->jobs[j].steps.size(); ++s)
        if (file->jobs[j].steps[s].run)
          check_script_downloads(rules, *file, file->jobs[j].steps[s],
                                 step_name(*file, static_cast<int>(j), static_cast<int>(s)));
}

} // namespace quarry::workflow
