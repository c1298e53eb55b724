#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/distributions.hpp"
#include "cli/facts.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/signed_moves.hpp"
#include "cli/table.hpp"
#include "promote/signed_moves.hpp"
#include "publish/resolve.hpp"
#include "publish/verify.hpp"
#include "publish/verify_channel.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Json set_json(const registry::SealedSet& sealed) {
  const auto& o = sealed.set.origin;
  return {{"set", sealed.digest},
          {"directory", sealed.set.directory},
          {"sealed", sealed.seal.time},
          {"files", files_json(sealed.set.files)},
          {"origin",
           {{"run_id", o.run_id},
            {"platform", o.platform},
            {"group", o.group},
            {"commit", o.commit},
            {"repository", o.repository},
            {"tool", o.tool}}}};
}

/// What all the locators mean together, each set once.
Result<registry::Resolved> resolve(store::ObjectReader& store, const std::vector<std::string>& locators) {
  registry::Resolved all;
  for (const auto& text : locators) {
    TRY(auto locator, run::parse_locator(text));
    TRY(auto resolved, publish::resolve(store, locator));
    all.source += (all.source.empty() ? "" : " ") + resolved.source;
    for (auto& sealed : resolved.sets) {
      auto same = [&](const registry::SealedSet& known) { return known.digest == sealed.digest; };
      if (std::none_of(all.sets.begin(), all.sets.end(), same)) all.sets.push_back(std::move(sealed));
    }
  }
  TRY(all.files, registry::union_of(all.sets));
  return all;
}

Result<int> run_set_show(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto resolved, resolve(*store, arguments.operands));
  auto sets = Json::array();
  for (const auto& sealed : resolved.sets) {
    sets.push_back(set_json(sealed));
    const auto& o = sealed.set.origin;
    context.out.data(fmt::format("set:{}\n", sealed.digest));
    context.out.data(fact("sealed", "{}  in {}", sealed.seal.time, sealed.set.directory));
    context.out.data(fact("from", "run {} {}{}", o.run_id, o.platform, o.commit.empty() ? "" : "  commit " + o.commit));
    context.out.data(files_text(sealed.set.files, context.out.data_look()));
  }
  context.out.document({{"source", resolved.source}, {"sets", sets}, {"files", files_json(resolved.files)}});
  return 0;
}

Result<int> run_set_verify(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto resolved, resolve(*store, arguments.operands));
  std::uint64_t total = 0;
  for (const auto& file : resolved.files) total += file.size;
  auto progress = context.out.progress("verifying", total);
  TRY(auto found, publish::verify_sets(*store, resolved.sets,
                                       {context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); }}));
  progress->finish();
  context.out.findings(found);
  context.out.data(fmt::format("{}  {}  {}  {}\n", units::things(resolved.sets.size(), "set"),
                               units::things(resolved.files.size(), "file"), units::bytes(total),
                               painted(found.empty() ? "all as sealed" : "NOT as sealed",
                                       found.empty() ? Tone::good : Tone::bad, context.out.data_look().color)));
  auto digests = Json::array();
  for (const auto& sealed : resolved.sets) digests.push_back(sealed.digest);
  context.out.document({{"sets", digests}, {"files", resolved.files.size()}, {"findings", findings_json(found)}});
  return found.empty() ? 0 : 6;
}

// ---- channel verify

Result<int> run_channel_verify(Context& context, const Arguments& arguments) {
  if (is_distribution(arguments.operands.at(0))) return verify_distribution(context, arguments);
  TRY_DO(refuse_channels_of_channel(arguments));
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  bool deep = arguments.has("--deep");
  auto progress = context.out.progress("verifying", 0);
  publish::VerifyOptions options{context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); }};
  TRY(auto verified, publish::verify_channel(*store, arguments.operands.at(0),
                                             deep ? publish::Depth::bytes : publish::Depth::sizes, options));
  progress->finish();
  auto found = std::move(verified.findings);
  auto looked = promote::verify_moves(*store, verified.record);
  bool lost = !looked && registry::is_lost(looked.error()); // a move or a policy: a finding like a lost file
  if (lost) found.push_back(unreadable_channel(verified.record.name, looked.error()));
  if (!looked && !lost) {
    context.out.findings(found);
    return fail(std::move(looked).error());
  }
  auto moves = lost ? promote::VerifiedMoves() : *std::move(looked);
  found.insert(found.end(), moves.findings.begin(), moves.findings.end());
  context.out.findings(found);
  context.out.findings(moves.acknowledged);
  context.out.data(signed_text(moves.moves));
  const auto* good = deep ? "all as sealed" : "all there";
  context.out.data(fmt::format("{}@{}  {}  {}  {}  {}\n", verified.record.name, verified.record.generation,
                               units::things(verified.files, "file"), units::bytes(verified.bytes),
                               units::things(verified.pages, "page"),
                               painted(found.empty() ? good : fmt::format("NOT {}", good),
                                       found.empty() ? Tone::good : Tone::bad, context.out.data_look().color)));
  context.out.document({{"channel", verified.record.name},
                        {"generation", verified.record.generation},
                        {"view", verified.record.view},
                        {"deep", deep},
                        {"files", verified.files},
                        {"bytes", verified.bytes},
                        {"pages", verified.pages},
                        {"moves", signed_json(moves.moves)},
                        {"acknowledged", findings_json(moves.acknowledged)},
                        {"findings", findings_json(found)}});
  return found.empty() ? 0 : 6;
}

Command channel_verify_command() {
  return {
      .path = {"channel", "verify"},
      .summary = "look whether all that people install from a channel or a distribution is there",
      .description =
          "Every file of the current view and every metadata file: whether it exists with the size that was sealed; "
          "with `--deep` every byte is read and compared by sha256. Every page of the channel: whether it is there "
          "and lists exactly the files of the view. Every move in the ledger: whether the policy that was bound then "
          "got "
          "the signature that it demands, and whether the channel is bound to the policy that its moves bound. "
          "Writes nothing.\n\n"
          "Given a distribution, s3://BUCKET/v2/gfx94X-dcgpu, it looks at every move by the policies of the channels "
          "that "
          "feed it, at what the pointer shows, and at files of other tools that no move took over; with `--deep` also "
          "at every file of its sets. Where a channel got another policy since, only the channel's own store says "
          "whether that is true: name it with `--channels`. Then it also warns where the channel has got a policy that "
          "the "
          "distribution does not know yet (O064). `quarry index check` looks at the pages.\n\n"
          "`quarry index repair channel:NAME` writes pages again; a lost file is restored from a copy, or the "
          "channel is rolled back.",
      .operands = {{"CHANNEL", "the channel; or a distribution, s3://BUCKET/v2/gfx94X-dcgpu"}},
      .flags = {{.name = "--deep", .value = "", .help = "read every file"}, channels_flag(), store_of_channel_flag()},
      .examples = {{"quarry channel verify stable --store s3://builds", "would an installer find all of it?"},
                   {"quarry channel verify s3://dist/v2/gfx94X-dcgpu --channels s3://builds",
                    "has somebody moved it who may not?"}},
      .exit_codes = {{3, "the channel or the distribution does not exist"},
                     {6, "a file, a page or a record is missing or altered, or a move lacks its signature"}},
      .schema = "quarry.channel-verify/1",
      .run = run_channel_verify};
}

const Operand k_sealed{"LOCATOR", "set:DIGEST, run:ID, channel:NAME, or a directory in the store", true, true};

Command set_show_command() {
  return {.path = {"set", "show"},
          .summary = "show sealed sets and their files",
          .description = "A set is what was published together; its record names every file with size and sha256. Only "
                         "sealed sets are shown, and only if the record is what its name says.",
          .operands = {k_sealed},
          .flags = {store_flag()},
          .examples = {{"quarry set show run:42-linux", "what this run published"}},
          .exit_codes = {{3, "it does not exist, or not sealed yet"}, {6, "a record was altered"}},
          .schema = "quarry.set-show/1",
          .run = run_set_show};
}

Command set_verify_command() {
  return {
      .path = {"set", "verify"},
      .summary = "prove that every file of a set is as it was sealed",
      .description =
          "Reads every file and every metadata file of the sets and compares them with their records. Writes nothing.",
      .operands = {k_sealed},
      .flags = {store_flag()},
      .examples = {{"quarry set verify channel:stable", "all that people can install from stable"}},
      .exit_codes = {{3, "it does not exist, or not sealed yet"}, {6, "a file or a record is missing or altered"}},
      .schema = "quarry.set-verify/1",
      .run = run_set_verify};
}

} // namespace

std::vector<Command> set_commands() {
  return {set_show_command(), set_verify_command(), set_check_command(), adopt_command(), channel_verify_command()};
}

} // namespace quarry::cli
