#include "workflow/downloads.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace quarry::workflow {

namespace {
std::string name_in_url(std::string_view url) {
  return std::string(path::basename(url.substr(0, url.find_first_of("?#"))));
}

/// `https://example.org/f)` without what the shell has around it.
std::string url_in(std::string_view word) {
  auto at = word.find("://");
  if (at == word.npos) return {};
  while (at > 0 && word[at - 1] >= 'a' && word[at - 1] <= 'z') --at;
  word.remove_prefix(at);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word.substr(i).starts_with("${{")) i = std::min(word.find("}}", i), word.size() - 1);
    if (word[i] == '(') ++depth;
    bool closes = word[i] == ')' && depth == 0;
    if (word[i] == ')' && depth > 0) --depth;
    if (closes || std::string_view(" \t\n'\"`;|").find(word[i]) != std::string_view::npos)
      return std::string(word.substr(0, i));
  }
  return std::string(word);
}

bool asks_only(std::string_view url) {
  static constexpr std::array<std::string_view, 8> k_hosts = {
      "://localhost",   "://127.0.0.1",   "://[::1]",       "://0.0.0.0",
      "api.github.com", "GITHUB_API_URL", "github.api_url", "ACTIONS_ID_TOKEN_REQUEST_URL"};
  return std::any_of(k_hosts.begin(), k_hosts.end(), [&](auto host) { return url.find(host) != url.npos; });
}

bool unpacks_input(const ShellCommand& command) {
  auto program = program_of(command);
  return program == "tar" || program == "bsdtar";
}

/// Whether a later command runs, unpacks or installs the file.
bool is_run_later(const std::vector<ShellCommand>& commands, std::size_t after, const std::string& file) {
  static constexpr std::array<std::string_view, 9> k_users = {"chmod", "source", ".",   "tar",    "unzip",
                                                              "dpkg",  "rpm",    "apt", "apt-get"};
  auto name = path::basename(file);
  for (auto i = after + 1; i < commands.size(); ++i) {
    auto at = program_at(commands[i]);
    if (at == commands[i].words.size()) continue;
    if (path::basename(commands[i].words[at].text) == name) return true;
    auto program = program_of(commands[i]);
    bool uses = is_interpreter(program) || std::find(k_users.begin(), k_users.end(), program) != k_users.end();
    for (++at; uses && at < commands[i].words.size(); ++at)
      if (path::basename(commands[i].words[at].text) == name) return true;
  }
  return false;
}

// curl and wget

struct Transfer {
  Download download;
  bool saved = false, asks = false;
};

/// Options of curl and wget whose value is the next word.
bool takes_value(std::string_view word, bool is_curl) {
  static constexpr std::array<std::string_view, 44> k_words = {"--output",
                                                               "--output-document",
                                                               "--header",
                                                               "--user",
                                                               "--user-agent",
                                                               "--data",
                                                               "--data-raw",
                                                               "--data-binary",
                                                               "--request",
                                                               "--form",
                                                               "--cookie",
                                                               "--cookie-jar",
                                                               "--write-out",
                                                               "--max-time",
                                                               "--retry",
                                                               "--proxy",
                                                               "--cacert",
                                                               "--cert",
                                                               "--key",
                                                               "--range",
                                                               "--limit-rate",
                                                               "--output-dir",
                                                               "--referer",
                                                               "--config",
                                                               "--retry-delay",
                                                               "--retry-max-time",
                                                               "--tries",
                                                               "--timeout",
                                                               "--password",
                                                               "--http-user",
                                                               "--http-password",
                                                               "--output-file",
                                                               "--post-data",
                                                               "--body-file",
                                                               "--upload-file",
                                                               "--dump-header",
                                                               "--connect-timeout",
                                                               "--continue-at",
                                                               "--wait",
                                                               "--waitretry",
                                                               "--resolve",
                                                               "--oauth2-bearer",
                                                               "--token",
                                                               "--directory-prefix"};
  bool letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
  std::string_view with_value = is_curl ? "oHuAdXFbcwmxErCKeTDYyz" : "OoPtTUeiQaw";
  return is_among(word, k_words) || (letters && with_value.find(word.back()) != with_value.npos);
}

/// Whether a word is an address that a variable holds: not an option, nor the value of one, nor `${CURL_OPTS[@]}`.
bool is_address_variable(const std::vector<Word>& words, std::size_t i, bool is_curl) {
  const auto& word = words[i].text;
  bool starts = word.starts_with('$') && !word.starts_with("$(") && !words[i].literal;
  auto name = text::lower(word);
  for (std::string_view part : {"opt", "arg", "flag", "[@]"}) starts = starts && name.find(part) == name.npos;
  return starts && !takes_value(words[i - 1].text, is_curl) && !words[i - 1].text.ends_with('>');
}

/// What the words of curl or wget behind its name say.
Transfer transfer_of(const ShellCommand& command, std::size_t begin, bool is_curl) {
  Transfer found;
  found.saved = !is_curl;
  for (auto i = begin; i < command.words.size(); ++i) {
    const auto& word = command.words[i].text;
    if (word.find("://") != word.npos && !word.starts_with("-H"))
      found.download.url = url_in(word);
    else if (found.download.url.empty() && is_address_variable(command.words, i, is_curl))
      found.download.url = word;
    bool letters = word.starts_with('-') && !word.starts_with("--");
    if (is_curl &&
        (word == "--output" || word == "--remote-name" || (letters && word.find_first_of("oO") != word.npos)))
      found.saved = true;
    bool named = word == "--output" || word == "--output-document" || text::lower(word).starts_with("-outf") ||
                 (letters && word.ends_with(is_curl ? 'o' : 'O'));
    if (named && i + 1 < command.words.size()) found.download.file = command.words[i + 1].text;
    bool to_output = word == "--output=-" || word == "--output-document=-" ||
                     (letters && word.size() > 2 && word.ends_with(is_curl ? "o-" : "O-"));
    if (to_output || (named && found.download.file == "-")) found.saved = false;
    for (std::string_view verb : {"-X", "--request", "--data", "-d", "-I", "--head", "-T", "--spider", "-fsI"})
      found.asks |= word == verb || (verb.size() > 2 && word.starts_with(verb));
    if (word == "/dev/null" || asks_only(word)) found.asks = true;
  }
  return found;
}

/// Follows the pipe that reads the download.
void follow_pipe(const std::vector<ShellCommand>& commands, std::size_t i, Transfer& transfer) {
  auto& download = transfer.download;
  for (auto k = i;; ++k) {
    for (std::size_t word = 0; word < commands[k].words.size(); ++word)
      if (auto file = redirected_to(commands[k], word); !file.empty() && is_run_later(commands, k, file)) {
        transfer.saved = true;
        download.file = file;
      }
    if (k + 1 == commands.size() || !commands[k + 1].piped_into) return;
    const auto& next = commands[k + 1];
    download.runs |= executes_input(next);
    download.piped |= download.runs || unpacks_input(next);
    auto program = program_of(next);
    auto operand = program_at(next) + 1;
    while (operand < next.words.size() && next.words[operand].text.starts_with('-')) ++operand;
    if (program == "tee" && operand < next.words.size() && !next.words[operand].text.starts_with("/dev/")) {
      transfer.saved = true;
      download.file = next.words[operand].text;
    }
    if (download.piped || !is_filter(program)) return;
  }
}

/// What a curl or wget command writes to a file or a pipe; an empty URL when it only asks.
Download curl_download(const std::vector<ShellCommand>& commands, std::size_t i) {
  auto program = program_of(commands[i]);
  if (program != "curl" && program != "wget") return {};
  auto found = transfer_of(commands[i], program_at(commands[i]) + 1, program == "curl");
  follow_pipe(commands, i, found);
  if ((!found.saved && !found.download.piped) || found.asks) return {};
  if (found.download.file.empty() || found.download.file == "-") found.download.file = name_in_url(found.download.url);
  return std::move(found.download);
}

// bash <(curl …), sh -c "$(curl …)", eval "$(curl …)"

/// The commands of a substitution whose output the command executes or unpacks: `curl …` of `bash <(curl …)`. Empty if
/// the command has no such substitution.
std::string executed_substitution(const ShellCommand& command) {
  auto program = program_of(command);
  bool reads = program == "source" || program == "." || is_interpreter(program);
  bool unpacks = unpacks_input(command);
  for (auto i = program_at(command) + 1; i < command.words.size(); ++i) {
    std::string_view word = command.words[i].text;
    const auto& before = command.words[i - 1].text;
    bool input = word.starts_with("<(") && (reads || unpacks);
    bool script = program == "eval" || (is_interpreter(program) && (is_command_option(before) || before == "<<<"));
    bool output = (word.starts_with("$(") || word.starts_with('`')) && script;
    if (!input && !output) continue;
    std::string inside(word.substr(word.starts_with('`') ? 1 : 2));
    for (auto k = i + 1; k < command.words.size(); ++k) inside += " " + command.words[k].text;
    return inside;
  }
  return {};
}

Download substituted_download(const ShellCommand& command) {
  auto inside = executed_substitution(command);
  if (inside.empty()) return {};
  for (const auto& inner : shell_commands(inside)) {
    auto program = program_of(inner);
    if (program != "curl" && program != "wget") continue;
    auto found = transfer_of(inner, program_at(inner) + 1, program == "curl");
    if (asks_only(found.download.url)) return {};
    found.download.piped = true;
    found.download.runs = !unpacks_input(command);
    return std::move(found.download);
  }
  return {};
}

// PowerShell

bool is_web_command(std::string_view text) {
  static constexpr std::array<std::string_view, 5> k_words = {"iwr", "irm", "invoke-webrequest", "invoke-restmethod",
                                                              "start-bitstransfer"};
  auto names = text::split_any(text, "(){}$&;|= ");
  return !names.empty() && std::find(k_words.begin(), k_words.end(), names.back()) != k_words.end();
}

bool is_expression_call(std::string_view text) {
  auto names = text::split_any(text, "(){}&;= ");
  bool called = std::any_of(names.begin(), names.end(),
                            [](const auto& name) { return name == "iex" || name == "invoke-expression"; });
  return called || text.find("[scriptblock]::create(") != text.npos;
}

/// `(New-Object Net.WebClient).DownloadFile('URL', 'FILE')`: the words behind the bracket.
Download web_client(std::string_view call, bool saves) {
  Download found{};
  found.url = url_in(call.substr(0, call.find(',')));
  auto comma = call.find(',');
  if (saves && comma != call.npos) {
    auto file = text::trim(call.substr(comma + 1));
    found.file = std::string(text::trim(file.substr(0, file.find(')'))));
  }
  return found;
}

Download powershell_download(const std::vector<ShellCommand>& commands, std::size_t i) {
  const auto& words = commands[i].words;
  auto whole = words_of(commands[i]);
  auto lower = text::lower(whole);
  Download found{};
  bool web = false, saved = false;
  for (std::string_view method : {".downloadfile(", ".downloadstring(", ".downloaddata("}) {
    auto at = lower.find(method);
    if (at == lower.npos) continue;
    saved = method == ".downloadfile(";
    found = web_client(std::string_view(whole).substr(at + method.size()), saved);
  }
  bool asks = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    auto word = text::lower(words[k].text);
    for (const auto& part : text::split_any(word, " ")) web |= is_web_command(part);
    if (!web) continue;
    if (found.url.empty()) found.url = url_in(words[k].text);
    auto last = k > 0 ? text::lower(words[k - 1].text) : std::string();
    if (found.url.empty() && words[k].text.starts_with('$') &&
        (last == "-uri" || last == "-source" || is_web_command(last)))
      found.url = words[k].text;
    bool kept = word.starts_with("-outf") || word == "-destination";
    if (kept && k + 1 < words.size()) found.file = words[k + 1].text;
    saved |= kept;
    asks |= word == "-body" || (word == "-method" && k + 1 < words.size() && text::lower(words[k + 1].text) != "get");
  }
  bool piped = i + 1 < commands.size() && commands[i + 1].piped_into && executes_input(commands[i + 1]);
  found.runs = !saved && (piped || is_expression_call(lower));
  found.piped = found.runs;
  if (asks || asks_only(found.url) || (!saved && !found.runs)) return {};
  if (found.file.empty()) found.file = name_in_url(found.url);
  return found;
}

// pip

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

// gh

/// `gh release download TAG --repo OWNER/REPO --pattern FILE` of another repository.
Download release_download(const ShellCommand& command) {
  Download found{};
  auto at = program_at(command);
  const auto& words = command.words;
  if (program_of(command) != "gh" || at + 2 >= words.size() || words[at + 1].text != "release" ||
      words[at + 2].text != "download")
    return found;
  std::string repository;
  for (auto i = at + 3; i < words.size(); ++i) {
    auto value = [&](std::string_view brief, std::string_view full) -> std::string {
      const auto& word = words[i].text;
      if ((word == brief || word == full) && i + 1 < words.size()) return words[i + 1].text;
      return word.starts_with(std::string(full) + "=") ? word.substr(full.size() + 1) : std::string();
    };
    if (auto name = value("-R", "--repo"); !name.empty()) repository = name;
    if (auto name = value("-p", "--pattern"); !name.empty() && found.file.empty()) found.file = name;
    if (auto name = value("-O", "--output"); !name.empty()) found.file = name;
  }
  bool own = repository.empty() || repository.find('$') != repository.npos;
  if (!own) found.url = "a release of " + repository;
  return found;
}

/// The commands with the values of variables that hold addresses. Names of files stay as written, so that a verifier's
/// words compare with them.
std::vector<ShellCommand> with_addresses(std::vector<ShellCommand> commands, Variables variables) {
  for (auto& command : commands) {
    assign(command, variables);
    for (auto& word : command.words) {
      if (word.literal || word.text.find('$') == word.text.npos) continue;
      auto value = expanded(word.text, variables);
      if (value.find("://") != value.npos && program_at(command) < command.words.size()) word.text = std::move(value);
    }
  }
  return commands;
}

constexpr int k_inner_max = 3; // `bash -c "sh -c '…'"`

bool takes_shell_text(std::string_view program) {
  return is_interpreter(program) && !program.starts_with("python") && program != "perl" && program != "ruby" &&
         program != "node" && program != "php";
}

void add_inner(ShellCommand command, int depth, std::vector<ShellCommand>& into) {
  std::vector<ShellCommand> inner;
  bool shell = depth < k_inner_max && takes_shell_text(program_of(command));
  for (auto i = program_at(command) + 2; shell && inner.empty() && i < command.words.size(); ++i) {
    auto& word = command.words[i];
    bool text = is_command_option(command.words[i - 1].text) && word.text.find(' ') != word.text.npos;
    if (!text || word.text.starts_with("$(") || word.text.starts_with('`')) continue;
    inner = shell_commands(word.text);
    for (auto& one : inner)
      for (auto& inside : one.words) inside.offset = word.offset;
    word.text.clear();
  }
  into.push_back(std::move(command));
  for (auto& one : inner) add_inner(std::move(one), depth + 1, into);
}
} // namespace

std::vector<ShellCommand> with_inner_commands(const std::vector<ShellCommand>& commands) {
  std::vector<ShellCommand> all;
  for (const auto& command : commands) add_inner(command, 0, all);
  return all;
}

std::vector<Download> downloads_of(const std::vector<ShellCommand>& commands, Variables environment) {
  std::vector<Download> downloads;
  auto known = with_addresses(commands, std::move(environment));
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (auto found : {curl_download(known, i), substituted_download(known[i]), powershell_download(known, i),
                       pip_download(known[i]), release_download(known[i])}) {
      if (found.url.empty()) continue;
      found.command = i;
      downloads.push_back(std::move(found));
    }
  }
  return downloads;
}

} // namespace quarry::workflow
