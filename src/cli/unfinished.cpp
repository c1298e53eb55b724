#include "cli/unfinished.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "cli/next_command.hpp"
#include "cli/release_moves.hpp"
#include "cli/reviewed.hpp"
#include "gate/signers.hpp"
#include "promote/bound.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// Whether one of the channels that have not moved yet takes only signed moves.
Result<bool> wants_key(store::ObjectReader& store, const release::Unfinished& one) {
  for (const auto& channel : one.waiting) {
    TRY(auto policy, promote::policy_of(store, channel));
    if (policy && gate::wants_signed_moves(*policy)) return true;
  }
  return false;
}

/// Whether the plan was made with a file for this flag, or by an older program that did not say.
bool lacks_file(const release::Unfinished& one, const std::string& flag) {
  auto known = one.asked.flags.find(flag);
  return one.asked.flags.empty() ||
         (known != one.asked.flags.end() && known->second == std::vector<std::string>{k_some_file});
}

Arguments arguments_of(const Arguments& arguments, const release::Unfinished& one) {
  Arguments of_plan = arguments;
  of_plan.values = {one.asked.flags.begin(), one.asked.flags.end()};
  if (auto store = arguments.values.find("--store"); store != arguments.values.end())
    of_plan.values["--store"] = store->second;
  for (const char* file : {"--policy", "--expect"}) // whoever names the file here need not name it again
    if (auto given = arguments.values.find(file); given != arguments.values.end() && lacks_file(one, file))
      of_plan.values[file] = given->second;
  of_plan.values["--from"] = one.asked.locators();
  return of_plan;
}

/// What the printed command lacks; empty if it is whole.
std::string still_to_say(const Arguments& arguments, const release::Unfinished& one) {
  if (one.asked.flags.empty())
    return "an older program planned this release: add its --policy, and --to-store with --prefix, if it had them";
  std::vector<std::string> files;
  for (const auto& [flag, values] : one.asked.flags)
    if (lacks_file(one, flag) && !arguments.values.contains(flag)) files.push_back(flag);
  if (files.empty()) return {};
  return fmt::format("{}: the {} that the release was planned with, for {}", k_some_file,
                     files.size() == 1 ? "file" : "files", text::join(files, " and "));
}

} // namespace

Result<UnfinishedReport> tell_unfinished(Context& context, const Arguments& arguments, store::ObjectReader& store) {
  TRY(auto unfinished, release::unfinished(store));
  UnfinishedReport report;
  for (const auto& one : unfinished) {
    for (const auto& channel : one.waiting)
      context.out.data(fmt::format("{} has not moved yet: plan {} of {} was interrupted\n", channel,
                                   digits_to_paste(context.out, one.plan), text::one_line(one.asked.source)));
    TRY(bool is_signed, wants_key(store, one));
    NextCommand promote(context, "promote");
    promote.flags_of(arguments_of(arguments, one)).set("--to", one.asked.pattern).signed_if(is_signed);
    report.help.push_back(promote.set("--execute", digits_to_paste(context.out, one.plan)).text());
    if (auto more = still_to_say(arguments, one); !more.empty()) report.notes.push_back(std::move(more));
    report.rows.push_back(
        {{"plan", one.plan}, {"source", one.asked.source}, {"moved", one.moved}, {"waiting", one.waiting}});
  }
  return report;
}

} // namespace quarry::cli
