#include "cli/records.hpp"
#include "cli/facts.hpp"
#include "cli/table.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "registry/retired.hpp"
#include "registry/waived.hpp"
#include "run/find_runs.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_duration_ms_max = 100ull * 365 * 24 * 3600 * 1000; // a longer one is a mistake, and overflows
} // namespace

Json files_json(const std::vector<registry::FileRecord>& files) {
  auto list = Json::array();
  for (const auto& file : files) {
    Json sha256 = nullptr; // nobody knows that of some untested history
    if (file.sha256 != Sha256()) sha256 = file.sha256.hex();
    list.push_back({{"project", file.project}, {"filename", file.filename}, {"sha256", sha256}, {"size", file.size}});
  }
  return list;
}

Json cell_json(const registry::Cell& cell) {
  Json json{
      {"platform", cell.platform}, {"family", cell.family}, {"python", cell.python}, {"framework", cell.framework}};
  if (!cell.backend.empty()) json["backend"] = cell.backend;
  return json;
}

std::string cell_text(const registry::Cell& cell, std::string_view any) {
  auto words = registry::words_of(cell);
  return words.empty() ? std::string(any) : text::one_line(words);
}

std::string files_text(const std::vector<registry::FileRecord>& files, Look look) {
  TableRows rows;
  for (const auto& file : files)
    rows.push_back({units::bytes(file.size), file.sha256 == Sha256() ? "-" : file.sha256.short_hex(), file.filename});
  return table({{.right = true, .least = 9}, k_text, k_name}, rows, look, 2);
}

std::string short_time(std::string_view time) {
  auto dot = time.find('.');
  return dot == time.npos ? std::string(time) : std::string(time.substr(0, dot)) + "Z";
}

Finding unreadable_channel(const std::string& name, const Error& error) {
  return {error.code, Severity::error, registry::channel_key(name), error.message, error.hint};
}

Json findings_json(const Findings& findings) {
  auto list = Json::array();
  for (const auto& f : findings)
    list.push_back({{"code", f.code},
                    {"severity", to_string(f.severity)},
                    {"place", f.place},
                    {"message", f.message},
                    {"fix", f.fix}});
  return list;
}

Result<void> check_line(std::string_view flag, std::string_view said) {
  bool broken = std::any_of(said.begin(), said.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  if (!broken) return {};
  return fail(ErrorKind::invalid_argument, "O009",
              fmt::format("{} holds a line break or another control character", flag),
              "write it in one line: the ledger shows it in one");
}

std::string run_url(const Context& context) {
  auto run = context.variable("GITHUB_RUN_ID"), server = context.variable("GITHUB_SERVER_URL");
  if (run.empty()) return {};
  return fmt::format("{}/{}/actions/runs/{}", server.empty() ? "https://github.com" : server,
                     context.variable("GITHUB_REPOSITORY"), run);
}

std::string who(const Context& context) {
  if (auto actor = context.variable("GITHUB_ACTOR"); !actor.empty()) return actor;
  auto user = context.variable("USER");
  if (user.empty()) user = context.variable("LOGNAME");
  if (user.empty()) user = fmt::format("uid {}", sys::user_id()); // a container without a user's name
  return user + "@" + sys::host_name();
}

Flag public_url_flag() {
  return {.name = "--public-url",
          .value = "URL",
          .help = "where readers find the store, for links; or PLACE=URL, several with commas",
          .environment = "QUARRY_PUBLIC_URL"};
}

Flag pass_env_flag() {
  return {.name = "--pass-env",
          .value = "NAME",
          .help = "also give this variable to the programs that it runs",
          .repeats = true};
}

Result<std::vector<std::string>> passed_variables(const Arguments& arguments) {
  auto names = arguments.list("--pass-env");
  for (const auto& name : names)
    if (name.empty() || name.find_first_of(" \t\n=,") != name.npos)
      return fail(ErrorKind::invalid_argument, "C006",
                  fmt::format("--pass-env must be the name of one variable, not {:?}", name),
                  "repeat the flag for several: `--pass-env A --pass-env B`");
  return names;
}

Result<std::int64_t> duration_us(const Arguments& arguments, const std::string& flag) {
  auto text = arguments.get(flag);
  auto ms = units::parse_duration_ms(text);
  if (ms && *ms <= k_duration_ms_max) return static_cast<std::int64_t>(*ms) * 1000;
  return fail(ErrorKind::invalid_argument, "P031", fmt::format("{} `{}` is not a duration", flag, text),
              "write 90m, 24h or 0s");
}

Result<pages::PublicUrl> public_url_of(const Arguments& arguments) {
  return pages::PublicUrl::parse(arguments.find("--public-url").value_or(""));
}

std::string addresses_text(const pages::Addresses& at) {
  constexpr std::size_t k_shown = 5; // a large channel has a page for each project
  std::string text;
  if (!at.index_url.empty()) text += fact("index", "{}", at.index_url);
  if (!at.merged_url.empty()) text += fact("merged", "{}", at.merged_url);
  std::vector<std::string> links;
  for (const auto& link : at.find_links) links.push_back("find-links  " + link);
  return text + first_rows(std::move(links), k_shown, "            ");
}

Json url_json(const std::string& url) { return url.empty() ? Json(nullptr) : Json(url); }

std::function<void(std::string_view)> tracer(const Context& context) {
  if (!context.out.verbose()) return {};
  return [&out = context.out](std::string_view line) { out.trace(line); };
}

std::string temporary_of(const Context& context) {
  auto said = context.variable("TMPDIR");
  return said.empty() ? "/tmp" : said;
}

namespace {
/// The directory of a store on this machine; empty for others.
std::string directory_of(const store::ObjectReader& store) {
  constexpr std::string_view k_scheme = "file:";
  auto shown = store.describe();
  return shown.starts_with(k_scheme) ? shown.substr(k_scheme.size()) : std::string();
}
} // namespace

Result<std::unique_ptr<store::ObjectStore>> open_store_to_write(const Context& context, const std::string& locator) {
  return store::open_store(locator, {context.environment, context.clock, tracer(context)});
}

Result<std::unique_ptr<store::ObjectStore>> open_store(const Context& context, const std::string& locator) {
  TRY(auto store, open_store_to_write(context, locator));
  auto directory = directory_of(*store);
  if (directory.empty() || sys::is_directory(directory)) return store;
  TRY(auto absolute, sys::absolute(directory));
  return fail(ErrorKind::not_found, "C050", fmt::format("there is no store at {}", path::normal(absolute)),
              "check --store and QUARRY_STORE; `quarry config show --origin` shows which store is used and why");
}

Result<void> check_writable(const store::ObjectReader& store, const std::string& locator) {
  if (locator.starts_with("http:") || locator.starts_with("https:"))
    return fail(ErrorKind::invalid_argument, "R030", fmt::format("{} can only be read: it is a web server", locator),
                "use the store itself, such as `--store s3://bucket/prefix`");
  auto directory = directory_of(store);
  if (directory.empty()) return {};
  TRY(auto at, sys::absolute(directory));
  for (at = path::normal(at); !sys::exists(at) && at != "/"; at = path::dirname(at)) {
  }
  TRY(auto probe, sys::make_temporary_directory(at, ".quarry-probe-"), fmt::format("while looking at {}", locator));
  return sys::remove_tree(probe);
}

Result<std::string> run_prefix(store::ObjectReader& store, const run::Locator& locator) {
  TRY_DO(run::refuse_group(locator));
  TRY(auto layout, run::find_run(store, locator));
  auto prefix = layout.prefix();
  if (prefix.ends_with('/')) prefix.pop_back();
  return prefix;
}

Result<std::string> retired_text(store::ObjectReader& store, const std::vector<registry::SetDigest>& sets) {
  std::string text;
  for (const auto& digest : sets) {
    TRY(auto known, store.head(registry::set_key(digest)));
    if (!known) continue;
    TRY(auto set, registry::load_set(store, digest));
    TRY(auto retired, registry::read_retired(store, set.directory, digest));
    if (!retired || retired->record.state == registry::Retirement::kept) continue;
    text += fmt::format("files     set:{} {}: {}\n", digest.short_hex(), text::one_line(retired->record.state.text()),
                        text::one_line(retired->record.since.text()));
  }
  return text;
}

} // namespace quarry::cli
