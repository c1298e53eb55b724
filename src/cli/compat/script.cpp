#include "cli/compat/script.hpp"

#include "base/text.hpp"
#include "cli/find.hpp"
#include "cli/job_files.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

const Flag k_era{.name = "--era",
                 .value = "ERA",
                 .help = "which script: that of this month of 2026",
                 .choices = {"feb", "aug"},
                 .fallback = "aug",
                 .environment = "QUARRY_COMPAT_ERA"};
const Flag k_store{.name = "--store",
                   .value = "LOCATOR",
                   .help = "instead of today's bucket: the store, such as file:/srv/store",
                   .environment = "QUARRY_STORE"};
const Flag k_workflow_run{.name = "--workflow-run",
                          .value = "FILE",
                          .help = "GitHub's workflow-run object, which says which fork ran it; no network is used"};

bool is_feb(const Arguments& arguments) { return arguments.get("--era") == "feb"; }

std::optional<std::string> said(const Arguments& arguments, std::string_view flag) {
  auto value = arguments.find(flag);
  return value && value->empty() ? std::nullopt : value;
}

void pass(Words& words, const Arguments& arguments, std::string_view flag, std::string_view ours) {
  if (auto value = said(arguments, flag))
    words.insert(words.end(), {std::string(ours.empty() ? flag : ours), std::move(*value)});
}

Unexpected usage(std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, "C042", std::move(message), std::move(hint));
}

Result<void> only_one_of(const Arguments& arguments, std::initializer_list<std::string_view> flags) {
  std::string_view first;
  for (auto flag : flags) {
    if (!arguments.fallbacks.contains(flag) || !said(arguments, flag) || !arguments.values.contains(flag) ||
        arguments.origins.contains(flag))
      continue;
    if (!first.empty()) return usage(fmt::format("{} and {} exclude each other", first, flag), "use only one of them");
    first = flag;
  }
  return {};
}

namespace {

Result<void> check_era(const Arguments& arguments, const Script& script) {
  const auto& missing = is_feb(arguments) ? script.only_aug : script.only_feb;
  for (const auto& flag : missing)
    if (arguments.has(flag))
      return fail(ErrorKind::invalid_argument, "C040",
                  fmt::format("the {} of {} has no {}", script.name, is_feb(arguments) ? "February" : "August", flag),
                  fmt::format("omit it, or use --era {}", is_feb(arguments) ? "aug" : "feb"));
  return {};
}

Result<void> check_refused(const Arguments& arguments, const Script& script) {
  for (const auto& refused : script.refused)
    if (arguments.has(refused.flag.name))
      return fail(ErrorKind::invalid_argument, "C040",
                  fmt::format("{} of {} is not followed: {}", refused.flag.name, script.name, refused.why),
                  refused.hint);
  return {};
}

} // namespace

Command command_of(Script script) {
  Command command;
  command.path = {"compat", script.name};
  command.summary = script.summary;
  command.description = script.description;
  command.operands = script.operands;
  command.flags = script.flags;
  for (const auto& refused : script.refused) {
    command.flags.push_back(refused.flag);
    command.flags.back().help = "refused: " + refused.why;
  }
  command.examples = script.examples;
  command.exit_codes = script.exit_codes;
  command.schema = script.schema;
  bool has_era = std::any_of(script.flags.begin(), script.flags.end(), [](const Flag& f) { return f.name == "--era"; });
  command.run = [script = std::move(script), has_era](Context& context, const Arguments& arguments) -> Result<int> {
    if (has_era) TRY_DO(check_era(arguments, script));
    TRY_DO(check_refused(arguments, script));
    return script.run(context, arguments);
  };
  return command;
}

Result<void> tell_job(Context& context, const std::string& variable,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  auto path = context.variable(variable);
  if (path.empty()) {
    context.out.note(fmt::format("note: {} is not set: outputs are not passed to later steps", variable));
    return {};
  }
  std::string lines;
  for (const auto& [name, value] : values) lines += fmt::format("{}={}\n", name, value);
  return append_for_job(variable, path, lines);
}

Result<Place> place_of(Context& context, const Arguments& arguments, const PlaceRequest& request) {
  Words words{"run",        "locate",
              "--run-id",   request.run_id,
              "--platform", request.platform,
              "--kind",     "run",
              "--era",      arguments.fallbacks.contains("--era") ? arguments.get("--era") : "aug"};
  for (auto [flag, ours] : {std::pair{"--run-github-repo", "--repo"},
                            {"--workflow-run", "--workflow-run"},
                            {"--release-type", "--release-type"}})
    if (arguments.fallbacks.contains(flag)) pass(words, arguments, flag, ours); // not every script has them
  if (!request.bucket.empty()) words.insert(words.end(), {"--bucket", request.bucket});
  TRY(auto located, ask_words(context, words));
  Place place;
  for (auto [key, member] :
       {std::pair{"bucket", &place.bucket}, {"external_repo", &place.external_repo}, {"prefix", &place.prefix}}) {
    TRY(*member, json::string_at({located, "run locate"}, key));
  }
  place.store = request.store.empty() ? "s3://" + place.bucket : request.store;
  place.environment = context.environment;
  if (request.store.empty()) assume_public_bucket(place.environment);
  return place;
}

Place place_to_read(const Context& context, std::string store) {
  Place place;
  place.store = std::move(store);
  place.environment = context.environment;
  assume_public_bucket(place.environment);
  return place;
}

Place place_to_write(const Context& context, std::string store) {
  auto place = place_to_read(context, std::move(store));
  place.environment.erase("QUARRY_S3_ANONYMOUS"); // nobody writes unsigned
  return place;
}

Context at(const Context& context, const Place& place) {
  return {place.environment, context.clock,   context.resources, context.out,
          context.jobs,      context.program, context.settings};
}

} // namespace quarry::cli::compat
