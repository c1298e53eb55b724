#include "inspect/text_leaks.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <cstring>

namespace quarry::inspect {

namespace {
using Words = std::initializer_list<std::string_view>;

/// A directory that only the machines of CI services and the builds of pip have: `rare` is searched for, and then for
/// `path`.
struct BuildPath {
  std::string_view path, rare;
};
/// GitHub (hosted runners, macOS, containers, tool cache), pip's temporary directories, conda-forge.
constexpr std::array<BuildPath, 10> k_build_paths = {{{"/home/runner/", "runner/"},
                                                      {"/Users/runner/", "runner/"},
                                                      {"/__w/", "/__w/"},
                                                      {"/github/workspace/", "/workspace/"},
                                                      {"/tmp/pip-", "/tmp/"},
                                                      {"/tmp/build-env-", "/tmp/"},
                                                      {"/feedstock_root/", "/feedstock_root/"},
                                                      {"C:\\hostedtoolcache", "hostedtoolcache"},
                                                      {"C:\\\\hostedtoolcache", "hostedtoolcache"},
                                                      {"C:/hostedtoolcache", "hostedtoolcache"}}};

bool ends_in(std::string_view name, Words endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}
bool is_one_of_names(std::string_view name, Words names) { return std::ranges::find(names, name) != names.end(); }

/// A header that a build writes: `config.h`, `torch_version.h`, `build_info.hpp`.
bool is_written_header(std::string_view name) {
  if (!ends_in(name, {".h", ".hpp"})) return false;
  auto lower = text::lower(name);
  return std::ranges::any_of(Words{"config", "version", "build"},
                             [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

bool is_credentials_file(std::string_view name) {
  return is_one_of_names(
      name, {".netrc", "_netrc", ".pypirc", ".git-credentials", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"});
}

/// memmem() is several times as fast as std::string_view::find() with text that holds the first letter often.
std::size_t find_from(std::string_view text, std::string_view word, std::size_t from) {
  if (from > text.size()) return text.npos;
  const void* found = ::memmem(text.data() + from, text.size() - from, word.data(), word.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.npos;
}

template <class Test> bool any_place(std::string_view text, std::string_view word, Test test) {
  for (auto at = find_from(text, word, 0); at != text.npos; at = find_from(text, word, at + word.size()))
    if (test(at)) return true;
  return false;
}

std::set<std::string> build_paths_in(std::string_view text) {
  std::set<std::string> found;
  std::string_view rare;
  bool is_present = false;
  for (const auto& one : k_build_paths) {
    if (rare != one.rare) is_present = find_from(text, rare = one.rare, 0) != text.npos;
    if (is_present && find_from(text, one.path, 0) != text.npos) found.emplace(one.path);
  }
  return found;
}

bool is_word_character(char c) { return ascii::is_alnum(c) || c == '_'; }
bool is_base64(char c) { return ascii::is_alnum(c) || c == '+' || c == '/' || c == '='; }

template <class Test> std::string_view run_of(std::string_view text, Test test) {
  auto end = std::ranges::find_if_not(text, test);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// Placeholders repeat themselves: `ghp_xxxxxxxx`.
bool looks_random(std::string_view word) {
  constexpr std::size_t k_different_min = 10;
  return std::set<char>(word.begin(), word.end()).size() >= k_different_min;
}

/// `-----BEGIN … PRIVATE KEY-----` with a key behind it: programs that read keys have the line alone. RFC 7468.
bool is_private_key(std::string_view text, std::size_t at) {
  constexpr std::string_view k_end = "PRIVATE KEY-----";
  constexpr std::size_t k_kind_max = 32, k_blanks_max = 16, k_key_line_min = 40; // "BEGIN ENCRYPTED ", lines have 64
  auto rest = text.substr(at + std::strlen("-----BEGIN "));
  auto kind = run_of(rest.substr(0, k_kind_max), [](char c) { return c == ' ' || (c >= 'A' && c <= 'Z'); });
  auto begin = rest.substr(0, kind.size() + k_end.size()).find(k_end);
  if (begin == rest.npos) return false;
  rest.remove_prefix(begin + k_end.size());
  for (std::size_t i = 0; i < k_blanks_max && !rest.empty(); ++i) { // a line break, as it is or as `\n` with quotes
    if (rest.starts_with("\\n"))
      rest.remove_prefix(2);
    else if (std::string_view("\r\n\t \"',+()b").find(rest.front()) != rest.npos)
      rest.remove_prefix(1);
    else
      break;
  }
  if (rest.starts_with("Proc-Type:")) return true;
  auto line = run_of(rest, is_base64);
  return line.size() >= k_key_line_min && looks_random(line);
}

/// A form of GitHub's tokens: `begin`, then words of so many letters and digits, with `_` between them. GitHub, "About
/// authentication to GitHub": of a person (classic and fine-grained), OAuth, of a user to an app, of an app, refresh.
struct TokenForm {
  std::string_view begin;
  std::size_t first, second; ///< 0: one word alone
};
constexpr std::array<TokenForm, 6> k_github_tokens = {
    {{"ghp_", 36, 0}, {"github_pat_", 22, 59}, {"gho_", 36, 0}, {"ghu_", 36, 0}, {"ghs_", 36, 0}, {"ghr_", 36, 0}}};

bool is_github_token(std::string_view text, std::size_t at, const TokenForm& form) {
  if (at > 0 && is_word_character(text[at - 1])) return false;
  auto token = run_of(text.substr(at + form.begin.size()), is_word_character);
  if (token.size() != form.first + (form.second ? 1 + form.second : 0)) return false;
  auto between = token.find('_');
  bool parted = form.second ? between == form.first && token.rfind('_') == between : between == token.npos;
  return parted && looks_random(token);
}

bool has_github_token(std::string_view text) {
  return std::ranges::any_of(k_github_tokens, [&](const TokenForm& form) {
    return any_place(text, form.begin, [&](std::size_t at) { return is_github_token(text, at, form); });
  });
}

/// `AKIA` and 16 capitals and digits, with a word of 40 characters close behind it: the secret.
bool is_aws_key(std::string_view text, std::size_t at) {
  constexpr std::size_t k_id_characters = 20, k_secret_characters = 40, k_distance_max = 256;
  if (at > 0 && is_word_character(text[at - 1])) return false;
  auto id = run_of(text.substr(at), is_word_character);
  bool capitals = std::ranges::none_of(id, [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); });
  if (id.size() != k_id_characters || !capitals || id.ends_with("EXAMPLE")) return false;
  auto rest = text.substr(at + id.size(), k_distance_max);
  while (!rest.empty()) {
    auto word = run_of(rest, [](char c) { return c != '=' && is_base64(c); }); // secret_key=…
    if (word.size() == k_secret_characters && looks_random(word) && word.find("EXAMPLE") == word.npos) return true;
    rest.remove_prefix(std::max<std::size_t>(word.size(), 1));
  }
  return false;
}
} // namespace

bool is_read_by_builds(std::string_view member) {
  auto name = path::basename(member);
  return ends_in(name, {".cmake", ".pc", ".la", ".pth", "-config"});
}

bool is_searched_text(std::string_view member) {
  auto name = path::basename(member);
  return is_read_by_builds(member) || is_credentials_file(name) || is_written_header(name) ||
         ends_in(name, {".py", ".pyi", ".json", ".cfg", ".ini", ".toml", ".yaml", ".yml", ".env", ".sh", ".txt", ".pem",
                        ".key"});
}

TextLeaks find_text_leaks(const TextFile& file) {
  const auto [member, text] = file;
  TextLeaks leaks;
  auto name = path::basename(member);
  bool has_paths = is_read_by_builds(member) || ends_in(name, {".py", ".json"}) || is_written_header(name);
  if (has_paths) leaks.build_paths = build_paths_in(text);
  if (is_credentials_file(name)) leaks.secrets.emplace("a file that holds credentials by its name");
  if (any_place(text, "-----BEGIN ", [&](std::size_t at) { return is_private_key(text, at); }))
    leaks.secrets.emplace("a private key");
  if (has_github_token(text)) leaks.secrets.emplace("a token of GitHub");
  if (any_place(text, "AKIA", [&](std::size_t at) { return is_aws_key(text, at); }))
    leaks.secrets.emplace("an access key of AWS with its secret");
  return leaks;
}

} // namespace quarry::inspect
