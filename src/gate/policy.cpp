#include "gate/policy.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "digest/ed25519.hpp"
#include "dist/family.hpp"
#include "dist/requirement.hpp"
#include "gate/family.hpp"
#include "gate/policy_machines.hpp"
#include "gate/signers.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::gate {

namespace {

constexpr std::int64_t k_second_us = 1'000'000, k_minute_us = 60 * k_second_us, k_hour_us = 60 * k_minute_us,
                       k_day_us = 24 * k_hour_us;
constexpr std::int64_t k_age_max_us = 3650 * k_day_us; // ten years: more is a typo
constexpr const char* k_unsigned = "unsigned";
constexpr const char* k_nothing_expected = "nothing_expected";
constexpr const char* k_any_command = "any_command";
constexpr const char* k_hint = "docs/formats/policy.md lists every key of a policy";

bool is_pattern(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return ascii::is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '*';
  });
}

bool is_python(std::string_view value) {
  if (value == "*") return true;
  auto parts = text::split(value, '.');
  return parts.size() == 2 && parts[0] == "3" && text::parse_u64(parts[1]).has_value();
}

/// A list of which each member passes `fits`; without the key, or without members, it is an error.
Result<void> read_list(TomlTable& table, const std::string& key, std::vector<std::string>& into,
                       bool (*fits)(std::string_view), std::string_view what) {
  into.clear();
  if (!table.has(key)) return table.error(key, "is missing");
  TRY_DO(table.texts(key, into));
  if (into.empty()) return table.error(key, "is empty, so it would cover nothing");
  for (const auto& value : into)
    if (!fits(value)) return table.error(key, fmt::format("\"{}\" is not {}", value, what));
  return {};
}

bool is_platform(std::string_view value) { return value == "*" || Platform::read(value).kind(); }

Result<void> read_age(TomlTable& table, const std::string& key, std::int64_t& into, bool required) {
  std::string value;
  TRY_DO(table.text(key, value, required));
  if (!table.has(key)) return {};
  auto age = parse_age(value);
  if (!age) return table.error(key, age.error().message);
  into = *age;
  return {};
}

Result<void> read_requirement(TomlTable& table, Requirement& into) {
  into.line = table.line();
  TRY_DO(read_list(table, "platforms", into.platforms, is_platform, "linux, windows or *"));
  TRY_DO(read_list(table, "families", into.families, is_pattern, "a family's name or pattern"));
  TRY_DO(read_list(table, "pythons", into.pythons, is_python, "a Python such as 3.12, or *"));
  TRY_DO(read_list(table, "suites", into.suites, is_pattern, "a suite's name"));
  for (const auto& suite : into.suites)
    if (suite.find('*') != suite.npos) return table.error("suites", fmt::format("\"{}\" must name one suite", suite));
  into.frameworks = {""};
  if (table.has("frameworks"))
    TRY_DO(read_list(table, "frameworks", into.frameworks, is_pattern, "a framework's name"));
  TRY_DO(read_backend(table, into));
  return read_age(table, "max_age", into.max_age_us, false);
}

Result<void> read_family(TomlTable& table, FamilyFact& into) {
  into.line = table.line();
  TRY_DO(read_list(table, "families", into.families, is_pattern, "a family's name or pattern"));
  into.platforms = {"*"};
  if (table.has("platforms")) TRY_DO(read_list(table, "platforms", into.platforms, is_platform, "linux, windows or *"));
  std::string state, until;
  TRY_DO(table.choice("state", state, {"tested", "no_runner", "expected_failure"}, true));
  into.state = state == "tested"      ? FamilyState::tested
               : state == "no_runner" ? FamilyState::no_runner
                                      : FamilyState::expected_failure;
  TRY_DO(table.text("reason", into.reason));
  TRY_DO(table.choice("counts_as", into.counts_as, {"held", "waive", "strict"}));
  TRY_DO(table.text("until", until));
  if (table.has("until")) {
    auto end = parse_until(until);
    if (!end) return table.error("until", end.error().message);
    into.until_us = *end;
  }
  if (into.state != FamilyState::tested && text::trim(into.reason).empty())
    return table.error("reason", "is missing: say why, for the people who read the verdict");
  if (into.state == FamilyState::expected_failure && !into.until_us)
    return table.error("until", "is missing: an expected failure must have an end");
  if (into.state == FamilyState::tested && !into.counts_as.empty())
    return table.error("counts_as", "has no meaning for families that are tested");
  if (into.state == FamilyState::no_runner && into.counts_as == "strict")
    return table.error("counts_as", "\"strict\" is for expected failures");
  return {};
}

bool is_one_platform(std::string_view value) { return value != "*" && is_platform(value); }
bool is_one_python(std::string_view value) { return value != "*" && is_python(value); }
bool is_name(std::string_view value) { return is_pattern(value) && value.find('*') == value.npos; }

Result<void> read_expectation(TomlTable& table, Expectation& into) {
  std::vector<std::string> platforms;
  TRY_DO(read_list(table, "platforms", platforms, is_one_platform, "linux or windows"));
  for (const auto& name : platforms) into.platforms.push_back(Platform::read(name));
  if (table.has("families")) TRY_DO(read_list(table, "families", into.families, is_name, "the name of one family"));
  if (table.has("pythons")) TRY_DO(read_list(table, "pythons", into.pythons, is_one_python, "a Python such as 3.12"));
  if (table.has("projects")) TRY_DO(read_list(table, "projects", into.projects, is_name, "a project's name"));
  if (table.has("frameworks")) TRY_DO(read_list(table, "frameworks", into.frameworks, is_name, "a framework's name"));
  if (into.families.empty() && into.pythons.empty() && into.projects.empty() && into.frameworks.empty())
    return table.error("families",
                       "is missing, and so are pythons, projects and frameworks: nothing would be expected");
  return {};
}

Result<void> read_states(TomlTable& table, Policy& policy) {
  std::string no_runner = "held", expected = "held", skipped = "passed", flaky = "latest";
  TRY_DO(table.choice("no_runner", no_runner, {"held", "waive"}));
  TRY_DO(table.choice("expected_failure", expected, {"held", "waive", "strict"}));
  TRY_DO(table.choice("skipped_counts_as", skipped, {"passed", "failed"}));
  TRY_DO(table.choice("flaky", flaky, {"latest", "any_failure_holds"}));
  TRY_DO(read_last_n_pass(table, policy.last_n_pass));
  policy.no_runner = no_runner == "held" ? NoRunner::held : NoRunner::waive;
  policy.expected_failure = expected == "held"    ? ExpectedFailure::held
                            : expected == "waive" ? ExpectedFailure::waive
                                                  : ExpectedFailure::strict;
  policy.skipped = skipped == "passed" ? Skipped::passed : Skipped::failed;
  policy.flaky = flaky == "latest" ? Flaky::latest : Flaky::any_failure_holds;
  return {};
}

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<void> read_suite(TomlTable& table, SuiteRule& into) {
  TRY_DO(table.text("name", into.name, true));
  if (!is_name(into.name)) return table.error("name", fmt::format("\"{}\" is not the name of a suite", into.name));
  if (table.has("digest")) TRY_DO(table.texts("digest", into.digests));
  if (table.has("digest") && into.digests.empty()) return table.error("digest", "is empty, so any definition would do");
  for (const auto& digest : into.digests)
    if (!is_digest(digest)) return table.error("digest", fmt::format("\"{}\" is not a sha256", digest));
  TRY_DO(table.flag("packaged", into.packaged));
  TRY_DO(table.flag("gpu", into.gpu));
  TRY_DO(read_reported(table, into));
  TRY_DO(table.integer("min_passed", into.min_passed));
  if (into.min_passed < 1) return table.error("min_passed", "must be at least 1");
  TRY_DO(read_last_n_pass(table, into.last_n_pass));
  if (into.packaged && !into.digests.empty())
    return table.error("digest", "and packaged exclude each other: the packages bring the definition");
  if (into.digests.empty() && !into.packaged && !into.gpu && into.min_passed == 1 && !into.last_n_pass)
    return table.error("name", "has no condition: add digest, packaged, gpu, min_passed or last_n_pass");
  return {};
}

/// `derived = "accept"` and the suites that a release has to pass itself.
Result<void> read_derived(TomlTable& root, Policy& policy) {
  std::string derived = "refuse";
  TRY_DO(root.choice("derived", derived, {"refuse", "accept"}));
  if (derived == "refuse")
    return root.has("derived_suites") ? root.error("derived_suites", "has no meaning without derived = \"accept\"")
                                      : Result<void>{};
  return read_list(root, "derived_suites", policy.derived_suites, is_name, "a suite's name");
}

Result<void> read_suites(TomlTable& root, Policy& policy) {
  return root.tables("suite", [&](TomlTable& table) -> Result<void> {
    SuiteRule rule;
    TRY_DO(read_suite(table, rule));
    for (const auto& known : policy.suites)
      if (known.name == rule.name) return table.error("name", fmt::format("\"{}\" has a [[suite]] already", rule.name));
    auto required = [&](const Requirement& r) {
      return std::find(r.suites.begin(), r.suites.end(), rule.name) != r.suites.end();
    };
    bool of_release =
        std::find(policy.derived_suites.begin(), policy.derived_suites.end(), rule.name) != policy.derived_suites.end();
    if (!of_release && std::none_of(policy.requirements.begin(), policy.requirements.end(), required))
      return table.error("name", fmt::format("\"{}\" is in the suites of no [[require]]", rule.name));
    policy.suites.push_back(std::move(rule));
    return {};
  });
}

Result<void> read_signs(TomlTable& table, Signer& into) {
  std::vector<std::string> kinds;
  TRY_DO(table.texts("signs", kinds));
  for (const auto& kind : kinds) {
    bool is_move = std::find(k_signed_moves.begin(), k_signed_moves.end(), kind) != k_signed_moves.end();
    if (kind == "evidence")
      into.evidence = true;
    else if (kind == "waivers")
      into.waivers = true;
    else if (kind == "verdicts")
      into.verdicts = true;
    else if (kind == k_every_move)
      into.moves = k_signed_moves;
    else if (is_move)
      into.moves.push_back(kind);
    else
      return table.error("signs", fmt::format("\"{}\" is neither evidence, waivers, verdicts, moves nor one of {}",
                                              kind, text::join(k_signed_moves, ", ")));
  }
  if (kinds.empty()) return table.error("signs", "is missing: evidence, waivers, verdicts or moves");
  std::sort(into.moves.begin(), into.moves.end());
  into.moves.erase(std::unique(into.moves.begin(), into.moves.end()), into.moves.end());
  return {};
}

Result<void> read_signer(TomlTable& table, Signer& into) {
  TRY_DO(table.text("name", into.name, true));
  TRY_DO(table.text("key", into.key, true));
  TRY_DO(table.text("revoked", into.revoked));
  if (table.has("revoked") && text::trim(into.revoked).empty())
    return table.error("revoked", "is empty: say why the key does not count");
  if (text::trim(into.name).empty()) return table.error("name", "is empty");
  if (!Ed25519PublicKey::parse(into.key))
    return table.error("key", "is not an Ed25519 key in base64, as `quarry key show` prints it");
  return read_signs(table, into);
}

Result<void> read_signers(TomlTable& root, Policy& policy) {
  return root.tables("signer", [&](TomlTable& table) -> Result<void> {
    Signer signer;
    TRY_DO(read_signer(table, signer));
    for (const auto& known : policy.signers)
      if (known.key == signer.key) return table.error("key", fmt::format("is that of {} already", known.name));
    policy.signers.push_back(std::move(signer));
    return {};
  });
}

Result<void> read_waivers(TomlTable& root, Policy& policy) {
  TRY_DO(root.texts("approvers", policy.approvers));
  for (const auto& name : policy.approvers)
    if (text::trim(name).empty()) return root.error("approvers", "holds an empty name, which would let anybody waive");
  std::string requester = "anybody";
  TRY_DO(root.choice("waiver_requester", requester, {"anybody", "approver", "another"}));
  policy.requester = requester == "anybody"    ? Requester::anybody
                     : requester == "approver" ? Requester::approver
                                               : Requester::another;
  policy.waiver_max_age_us = 30 * k_day_us;
  return read_age(root, "waiver_max_age", policy.waiver_max_age_us, false);
}

Result<void> read_family_projects(TomlTable& root, Policy& policy) {
  policy.family_projects = {std::string(dist::k_libraries_project), std::string(dist::k_device_project)};
  if (!root.has("family_projects")) return {};
  policy.family_projects.clear();
  TRY_DO(root.texts("family_projects", policy.family_projects));
  for (const auto& pattern : policy.family_projects) {
    auto bare = text::replace_all(pattern, "{family}", "f");
    if (bare.size() + 7 != pattern.size() || !is_pattern(bare) || bare.find('*') != bare.npos)
      return root.error("family_projects",
                        fmt::format("\"{}\" is not a project's name with one {{family}} in it", pattern));
  }
  return {};
}

/// Each by its full name: a pattern would cover what nobody has looked at.
Result<void> read_empty_extras(TomlTable& root, Policy& policy) {
  std::vector<std::string> names;
  TRY_DO(root.texts("empty_extras", names));
  for (const auto& name : names) {
    auto said = dist::Requirement::parse(name);
    EmptyExtra empty;
    if (said && said->extras.size() == 1) empty = {said->project.str(), *said->extras.begin()};
    bool more = !said || !said->specifier_text.empty() || !said->url.empty() || name.find(';') != name.npos;
    if (more || empty.extra.empty())
      return root.error("empty_extras",
                        fmt::format("\"{}\" is not a project with one extra, such as rocm[devel]", name));
    policy.empty_extras.push_back(std::move(empty));
  }
  std::sort(policy.empty_extras.begin(), policy.empty_extras.end());
  auto twice = std::adjacent_find(policy.empty_extras.begin(), policy.empty_extras.end());
  if (twice != policy.empty_extras.end())
    return root.error("empty_extras", fmt::format("\"{}\" is there twice", twice->text()));
  return {};
}

/// What is said openly must be so.
Result<void> read_openly(TomlTable& root, Policy& policy) {
  std::vector<std::string> words;
  TRY_DO(root.texts("openly", words));
  for (const auto& word : words) {
    if (word != k_unsigned && word != k_nothing_expected && word != k_any_command)
      return root.error("openly", fmt::format("\"{}\" is not one of {}, {} and {}", word, k_unsigned,
                                              k_nothing_expected, k_any_command));
    (word == k_unsigned      ? policy.openly.is_unsigned
     : word == k_any_command ? policy.openly.any_command
                             : policy.openly.expects_nothing) = true;
  }
  bool has_signer =
      std::any_of(policy.signers.begin(), policy.signers.end(), [](const Signer& s) { return s.evidence; });
  if (policy.openly.is_unsigned && has_signer)
    return root.error("openly", "says unsigned, and a [[signer]] signs evidence");
  if (policy.openly.expects_nothing && !policy.expectation.platforms.empty())
    return root.error("openly", "says nothing_expected, and [expect] expects something");
  return {};
}

Result<Policy> read_policy(TomlTable root, const std::string& file) {
  Policy policy;
  policy.file = file;
  std::string schema, mode = "enforce";
  TRY_DO(root.choice("schema", schema, {"quarry.policy/1"}, true));
  TRY_DO(root.text("name", policy.name, true));
  TRY_DO(root.choice("mode", mode, {"enforce", "report_only"}));
  policy.mode = mode == "enforce" ? Mode::enforce : Mode::report_only;
  TRY_DO(read_age(root, "max_age", policy.max_age_us, true));
  TRY_DO(read_waivers(root, policy));
  TRY_DO(read_family_projects(root, policy));
  TRY_DO(root.table("states", [&](TomlTable& t) { return read_states(t, policy); }));
  TRY_DO(root.table("expect", [&](TomlTable& t) { return read_expectation(t, policy.expectation); }));
  TRY_DO(read_empty_extras(root, policy));
  TRY_DO(read_machines(root, policy));
  TRY_DO(read_signers(root, policy));
  TRY_DO(read_openly(root, policy)); // after [expect] and the signers
  TRY_DO(root.tables("require", [&](TomlTable& t) { return read_requirement(t, policy.requirements.emplace_back()); }));
  TRY_DO(read_derived(root, policy));
  TRY_DO(read_suites(root, policy)); // after what requires them
  if (policy.openly.any_command && unbound_suites(policy).empty())
    return root.error("openly", "says any_command, and each suite that must pass is more than a name");
  TRY_DO(root.tables("family", [&](TomlTable& t) { return read_family(t, policy.families.emplace_back()); }));
  TRY_DO(root.finish());
  TRY_DO(check_reported(root, policy));
  if (policy.requirements.empty()) return root.error("require", "is missing: the policy would require nothing");
  policy.digest = sha256(canonical_json(policy)).hex();
  return policy;
}

} // namespace

std::vector<std::string> Openly::words() const {
  std::vector<std::string> words;
  if (expects_nothing) words.emplace_back(k_nothing_expected);
  if (is_unsigned) words.emplace_back(k_unsigned);
  if (any_command) words.emplace_back(k_any_command);
  return words;
}

Result<Policy> parse_policy(NamedText named) {
  const std::string file(named.name);
  TRY(auto root, TomlTable::parse({named.text, file}, {"G001", "G002", k_hint}));
  return read_policy(std::move(root), file);
}

Result<Expectation> parse_expectation(const ExpectationFile& file) {
  TRY(auto root, TomlTable::parse({file.text, file.name}, {"G001", "G002", k_hint}));
  Expectation expectation;
  TRY_DO(read_expectation(root, expectation));
  TRY_DO(root.finish());
  return expectation;
}

Result<Policy> parse_stored_policy(NamedText named) {
  const auto json = named.text;
  const std::string name(named.name);
  TRY(auto root, TomlTable::of_json({json, name}, {"G002", "G002", k_hint}));
  TRY(auto policy, read_policy(std::move(root), name));
  if (canonical_json(policy) == json) return policy;
  return fail(ErrorKind::invalid_argument, "G002", fmt::format("{} is not written in canonical form", name), k_hint);
}

Result<std::int64_t> parse_age(std::string_view text) {
  auto digits = text.find_first_not_of("0123456789");
  auto number = text::parse_u64(text.substr(0, digits));
  auto unit = digits == text.npos ? std::string_view{} : text.substr(digits);
  std::int64_t factor = unit == "m" ? k_minute_us : unit == "h" ? k_hour_us : unit == "d" ? k_day_us : 0;
  if (!number || !factor || *number == 0 || *number > static_cast<std::uint64_t>(k_age_max_us / factor))
    return fail(ErrorKind::invalid_argument, "G003",
                fmt::format("\"{}\" is not an age from 1m to {}d", text.substr(0, 40), k_age_max_us / k_day_us),
                "write it as 90m, 36h or 14d");
  return static_cast<std::int64_t>(*number) * factor;
}

Result<std::int64_t> parse_until(std::string_view text) {
  bool day = text.size() == 10;
  auto time = sys::parse_rfc3339(day ? std::string(text) + "T23:59:59.999999Z" : std::string(text));
  if (time) return *time;
  return fail(ErrorKind::invalid_argument, "G004",
              fmt::format("\"{}\" is neither a day nor a time", text.substr(0, 40)),
              "write it as 2026-12-15 or 2026-12-15T18:00:00Z");
}

} // namespace quarry::gate
