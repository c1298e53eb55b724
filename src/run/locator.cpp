#include "run/locator.hpp"

#include "base/ascii.hpp"
#include "base/file_url.hpp"
#include "base/text.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/core.h>

namespace quarry::run {

namespace {
constexpr std::size_t k_text_max = 8192;                   // twice PATH_MAX: longer is never a place
constexpr std::size_t k_channel_max = 64;                  // the name stands in every install URL
constexpr std::size_t k_commit_min = 7, k_commit_max = 64; // git's short form; SHA-256 repositories

Unexpected malformed(std::string_view code, std::string_view text, std::string_view why, std::string_view form) {
  return fail(ErrorKind::invalid_argument, std::string(code), fmt::format("locator {} {}", text, why),
              fmt::format("the form is `{}`", form));
}

bool all_of(std::string_view text, bool (*accepts)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), accepts);
}
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
using ascii::is_digit;
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-'; }

/// GitHub's own alphabet for owners and repositories.
bool is_repository(std::string_view text) {
  auto parts = text::split(text, '/');
  return parts.size() == 2 && all_of(parts[0], is_name) && all_of(parts[1], is_name) && parts[0][0] != '.' &&
         parts[1][0] != '.';
}

constexpr std::string_view k_run_form = "run:[OWNER-REPO/]ID[-PLATFORM][@GROUP]";

Result<Locator> parse_run(Locator locator, std::string_view rest) {
  if (auto slash = rest.find('/'); slash != rest.npos) {
    auto owner = rest.substr(0, slash);
    if (owner.empty() || !check_component({owner, "owner-repo"}))
      return malformed("L002", locator.text, "has no valid OWNER-REPO", k_run_form);
    locator.external_repo = std::string(owner) + "/";
    rest.remove_prefix(slash + 1);
    if (rest.ends_with('/')) rest.remove_suffix(1); // a prefix pasted from a listing
  }
  if (auto at = rest.find('@'); at != rest.npos) {
    locator.group = rest.substr(at + 1);
    if (locator.group.empty() || !check_group(locator.group))
      return malformed("L002", locator.text, "has no valid group behind `@`", k_run_form);
    rest = rest.substr(0, at);
  }
  for (const auto& platform : Platform::all())
    if (rest.ends_with(fmt::format("-{}", platform))) {
      locator.platform = platform;
      rest.remove_suffix(platform.text().size() + 1);
      break;
    }
  locator.run_id = rest;
  if (auto valid = check_run_id(rest); !valid)
    return malformed("L002", locator.text, "has no valid run id", k_run_form);
  locator.kind = LocatorKind::run;
  return locator;
}

// As registry::complete_digest takes them: 8 digits are short to type and long enough to be the only ones.
constexpr std::size_t k_set_digits_min = 8, k_set_digits = 64;

Result<Locator> parse_set(Locator locator, std::string_view rest) {
  if (rest.size() < k_set_digits_min || rest.size() > k_set_digits || !all_of(rest, is_hex))
    return malformed("L003", locator.text, "does not name a set by 8 or more of its 64 hex digits", "set:DIGEST");
  locator.kind = LocatorKind::set;
  locator.digest = text::lower(rest);
  return locator;
}

Result<Locator> parse_release(Locator locator, std::string_view rest) {
  // A name may be anything that fits in a line, so only the store can tell whether it exists.
  bool digits = rest.size() >= k_set_digits_min && rest.size() <= k_set_digits && all_of(rest, is_hex);
  if (text::trim(rest).empty())
    return malformed("L003", locator.text, "does not name a release", "release:DIGEST or release:NAME");
  locator.kind = LocatorKind::release;
  locator.digest = digits ? text::lower(rest) : std::string(rest);
  return locator;
}

Result<Locator> parse_channel(Locator locator, std::string_view rest) {
  if (!all_of(rest, is_name) || rest.size() > k_channel_max || rest.front() == '.' || rest.front() == '-')
    return malformed("L004", locator.text, "does not name a channel (letters, digits and `._-`)", "channel:NAME");
  locator.kind = LocatorKind::channel;
  locator.channel = rest;
  return locator;
}

Result<Locator> parse_commit(Locator locator, std::string_view rest) {
  if (rest.size() < k_commit_min || rest.size() > k_commit_max || !all_of(rest, is_hex))
    return malformed("L005", locator.text, "does not name a commit by at least 7 hex digits", "commit:SHA");
  locator.kind = LocatorKind::commit;
  locator.commit = text::lower(rest);
  return locator;
}

Result<Locator> parse_pull_request(Locator locator, std::string_view rest) {
  auto hash = rest.find('#');
  if (hash == rest.npos || !is_repository(rest.substr(0, hash)) || !all_of(rest.substr(hash + 1), is_digit))
    return malformed("L005", locator.text, "does not name a pull request", "pr:OWNER/REPO#N");
  locator.kind = LocatorKind::pull_request;
  locator.repository = rest.substr(0, hash);
  locator.number = rest.substr(hash + 1);
  return locator;
}

Result<Locator> parse_file(Locator locator, std::string_view rest) {
  // file://HOST/PATH would be another machine; file:///PATH is a URL and so percent-encoded; file:PATH is taken as it
  // is.
  if (rest.starts_with("//")) {
    auto path = text::path_of_file_url("file:" + std::string(rest));
    if (!path) return malformed("L006", locator.text, "names another machine", "file:PATH");
    locator.path = std::move(*path);
  } else {
    locator.path = rest;
  }
  if (locator.path.empty()) return malformed("L006", locator.text, "names no path", "file:PATH");
  if (locator.path.find('\0') != locator.path.npos) return malformed("L006", "file:…", "holds a NUL byte", "file:PATH");
  locator.kind = LocatorKind::path;
  return locator;
}

/// https://github.com/OWNER/REPO/actions/runs/ID[/job/N][?…][#…]; false when it is another URL.
bool parse_github_run(Locator& locator, std::string_view rest) {
  rest = rest.substr(0, rest.find_first_of("?#"));
  auto parts = text::split(rest, '/');
  if (parts.size() < 6 || text::lower(parts[0]) != "github.com" || parts[3] != "actions" || parts[4] != "runs")
    return false;
  if (!is_repository(parts[1] + "/" + parts[2]) || !all_of(parts[5], is_digit)) return false;
  locator.kind = LocatorKind::run;
  locator.repository = parts[1] + "/" + parts[2];
  locator.run_id = parts[5];
  return true;
}

Result<Locator> parse_http(Locator locator, std::string_view rest) {
  if (!rest.starts_with("//") || rest.size() < 3 || rest[2] == '/')
    return malformed("L006", locator.text, "names no host", "https://HOST/PATH");
  if (parse_github_run(locator, rest.substr(2))) return locator;
  locator.kind = LocatorKind::http;
  locator.url = locator.text;
  return locator;
}

Result<Locator> parse_s3(Locator locator, std::string_view rest) {
  if (!rest.starts_with("//") || rest.size() < 3 || rest[2] == '/')
    return malformed("L006", locator.text, "names no bucket", "s3://BUCKET/PREFIX");
  locator.kind = LocatorKind::s3;
  locator.url = locator.text;
  return locator;
}

struct Scheme {
  std::string_view name;
  Result<Locator> (*parse)(Locator, std::string_view);
};
constexpr std::array<Scheme, 10> k_schemes{{{"run", parse_run},
                                            {"set", parse_set},
                                            {"release", parse_release},
                                            {"channel", parse_channel},
                                            {"commit", parse_commit},
                                            {"pr", parse_pull_request},
                                            {"file", parse_file},
                                            {"s3", parse_s3},
                                            {"https", parse_http},
                                            {"http", parse_http}}};

/// RFC 3986 scheme of at least two letters. Artifact names hold '_' before their ':', so they are never taken for one.
std::string_view scheme_of(std::string_view text) {
  auto colon = text.find(':');
  if (colon == text.npos || colon < 2 || !std::isalpha(static_cast<unsigned char>(text[0]))) return {};
  auto name = text.substr(0, colon);
  bool valid = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
  });
  return valid ? name : std::string_view{};
}
} // namespace

std::string_view to_string(LocatorKind kind) {
  constexpr std::array<std::string_view, 9> names{"path",         "run", "set",  "channel", "commit",
                                                  "pull request", "s3",  "http", "release"};
  return names.at(static_cast<std::size_t>(kind));
}

Result<Locator> parse_locator(std::string_view text) {
  if (text.empty())
    return fail(ErrorKind::invalid_argument, "L001", "the locator is empty",
                "name a directory, `run:ID`, `set:DIGEST` or `channel:NAME`");
  if (text.size() > k_text_max)
    return fail(ErrorKind::invalid_argument, "L001",
                fmt::format("the locator has {} characters, more than {}", text.size(), k_text_max));
  if (text.find('\0') != text.npos) return fail(ErrorKind::invalid_argument, "L001", "the locator holds a NUL byte");
  Locator locator;
  locator.text = text;
  auto name = scheme_of(text);
  for (const auto& scheme : k_schemes)
    if (text::lower(name) == scheme.name) return scheme.parse(std::move(locator), text.substr(name.size() + 1));
  if (!name.empty())
    return fail(ErrorKind::invalid_argument, "L007",
                fmt::format("locator {} begins with the unknown word {}:", text, name),
                fmt::format("known are run:, set:, release:, channel:, commit:, pr:, file:, s3://, https://; if it is "
                            "a path: `file:{}`",
                            text));
  locator.path = text;
  return locator;
}

bool names_no_file(std::string_view text) {
  auto name = text::lower(scheme_of(text));
  return name != "file" && std::any_of(std::begin(k_schemes), std::end(k_schemes),
                                       [&](const auto& scheme) { return name == scheme.name; });
}

std::vector<std::string> bare_word_meanings(std::string_view text, const std::vector<LocatorKind>& accepted) {
  if (!all_of(text, is_name)) return {};
  std::string word(text);
  auto takes = [&](LocatorKind kind) { return std::find(accepted.begin(), accepted.end(), kind) != accepted.end(); };
  auto id = text.substr(0, text.find('-')); // of "43" and of "43-linux"
  bool number = all_of(id, is_digit);
  bool digest = word.size() >= k_set_digits_min && word.size() <= k_set_digits && all_of(word, is_hex);
  std::vector<std::string> meanings;
  if (takes(LocatorKind::run) && number && check_run_id(id)) meanings.push_back("run:" + word);
  if (takes(LocatorKind::set) && digest) meanings.push_back("set:" + word);
  bool channel = !number && parse_channel(Locator{}, word);
  if (takes(LocatorKind::channel) && channel) meanings.push_back("channel:" + word);
  return meanings;
}

std::string bare_word_hint(std::string_view word, const std::vector<LocatorKind>& accepted, std::string otherwise) {
  auto meanings = bare_word_meanings(word, accepted);
  return meanings.empty() ? otherwise : fmt::format("did you mean `{}`?", text::join(meanings, "` or `"));
}

Result<void> require_kind(const Locator& locator, const std::vector<LocatorKind>& accepted, std::string_view purpose) {
  if (std::find(accepted.begin(), accepted.end(), locator.kind) != accepted.end()) return {};
  std::vector<std::string> names;
  for (auto kind : accepted) names.emplace_back(to_string(kind));
  auto hint = fmt::format("expected one of: {}", text::join(names, ", "));
  switch (locator.kind) {
  case LocatorKind::commit:
  case LocatorKind::pull_request:
  case LocatorKind::s3:
  case LocatorKind::http:
    return fail(
        ErrorKind::invalid_argument, "L008",
        fmt::format("cannot {} {}: this command takes no {} locator", purpose, locator.text, to_string(locator.kind)),
        hint);
  default: break;
  }
  if (!bare_word_meanings(locator.text, accepted).empty())
    return fail(ErrorKind::invalid_argument, "L009",
                fmt::format("cannot {} `{}`: a bare word is a path", purpose, locator.text),
                bare_word_hint(locator.text, accepted, hint));
  return fail(ErrorKind::invalid_argument, "L009",
              fmt::format("cannot {} {}: it is a {}, which this command does not take", purpose, locator.text,
                          to_string(locator.kind)),
              hint);
}

Result<void> refuse_group(const Locator& locator) {
  if (locator.group.empty()) return {};
  return fail(ErrorKind::invalid_argument, "L009",
              fmt::format("{} names one group of packages, and this command takes the run as a whole", locator.text),
              fmt::format("omit `@{}`", locator.group));
}

Result<StorePlace> split_store(const std::string& text) {
  constexpr std::string_view k_scheme = "s3://";
  if (!text.starts_with(k_scheme))
    return fail(ErrorKind::invalid_argument, "L009", fmt::format("`{}` is not a place in object storage", text),
                "write it as s3://BUCKET/PREFIX");
  auto slash = std::min(text.find('/', k_scheme.size()), text.size());
  auto key = text.substr(std::min(slash + 1, text.size()));
  while (key.ends_with('/')) key.pop_back();
  return StorePlace{text.substr(0, slash), key};
}

bool is_run_place(const std::string& component) {
  auto platforms = Platform::all();
  return std::any_of(platforms.begin(), platforms.end(), [&](const Platform& platform) {
    auto suffix = fmt::format("-{}", platform);
    return component.size() > suffix.size() && component.ends_with(suffix) &&
           check_run_id(std::string_view(component).substr(0, component.size() - suffix.size()));
  });
}

Result<StorePlace> split_tree(const std::string& text) {
  auto whole = text;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  auto begin = whole.starts_with("s3://") ? whole.find('/', 5) : std::size_t{0};
  for (auto at = begin; at < whole.size(); at = whole.find('/', at + 1)) {
    auto from = whole[at] == '/' ? at + 1 : at;
    auto component = whole.substr(from, whole.find('/', from) - from);
    bool channel = component == "channels" && whole.find('/', from) != whole.npos;
    if ((!channel && !is_run_place(component)) || from == 0) continue;
    auto store = whole.substr(0, from - 1);
    return StorePlace{store.empty() ? "/" : store, whole.substr(from)};
  }
  return fail(ErrorKind::invalid_argument, "L009",
              fmt::format("`{}` is not a directory of a channel or run in a store", text),
              "name it as channel:NAME or run:ID, with `--store`; an index without a store is made again by "
              "`quarry index build`");
}

} // namespace quarry::run
