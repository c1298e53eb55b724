#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/families.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/release_notes.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/verdict.hpp"
#include "registry/releases.hpp"
#include "release/plan.hpp"
#include "run/locator.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_notes_bytes_max = 1u << 20; // what people write; a record is read by every command

// ---- release create

/// Where the release can go: to one channel, or where families have other bytes under one name, to one for each.
std::string channels_for(const std::vector<registry::SealedSet>& sets) {
  constexpr const char *k_one = "stable", *k_each = "stable-{family}";
  if (registry::check_extension({}, sets)) return k_one;
  auto channels = release::by_channel(sets, k_each);
  return channels && channels->size() > 1 ? k_each : k_one;
}

struct NewRelease {
  registry::ReleaseRecord record;
  std::string channels; ///< where it can go
};
Result<NewRelease> release_of(const Arguments& arguments, store::ObjectReader& store) {
  std::vector<std::string> locators;
  for (const auto& set : arguments.list("--set")) locators.push_back(set.starts_with("set:") ? set : "set:" + set);
  for (const auto& from : arguments.list("--from")) locators.push_back(from);
  auto no_sets = fail(ErrorKind::invalid_argument, "O021", "the release would have no sets",
                      "name them with `--set DIGEST` or `--from LOCATOR`, each as often as needed");
  if (locators.empty()) return no_sets;
  if (auto name = arguments.find("--name")) {
    TRY_DO(check_line("--name", *name));
    TRY_DO(registry::check_release_name(*name));
  }
  TRY(auto source, release::resolve(store, locators));
  if (source.resolved.sets.empty()) return no_sets;
  registry::ReleaseRecord record;
  record.name = arguments.get("--name");
  for (const auto& sealed : source.resolved.sets) record.sets.push_back(sealed.digest);
  std::sort(record.sets.begin(), record.sets.end());
  if (auto file = arguments.find("--expect")) {
    TRY(auto text, sys::read_file(*file, k_notes_bytes_max), "while reading what is expected");
    TRY(auto expect, gate::parse_expectation({*file, std::move(text)}));
    record.expect = {expect.platforms, expect.families, expect.pythons, expect.projects, expect.frameworks};
  }
  if (auto file = arguments.find("--notes")) {
    TRY(record.notes, sys::read_file(*file, k_notes_bytes_max), "while reading the notes");
    if (!text::is_valid_utf8(record.notes) || record.notes.find('\0') != std::string::npos)
      return fail(ErrorKind::invalid_argument, "O027", *file + " is not text in UTF-8",
                  "a release keeps what people read; is it the right file?");
  }
  return NewRelease{std::move(record), channels_for(source.resolved.sets)};
}

/// Another release may have the name: that is allowed, and `release:NAME` then names neither.
Result<void> note_name_in_use(Context& context, store::ObjectReader& store, const std::string& name,
                              const registry::ReleaseDigest& own) {
  if (name.empty()) return {};
  Findings skipped;
  TRY(auto releases, registry::list_releases(store, skipped));
  for (const auto& [digest, record] : releases)
    if (record.name == name && digest != own)
      context.out.note(fmt::format("release:{} is called {} too: name each by its digest, release:{} is refused (R024)",
                                   digest.short_hex(), name, name));
  return {};
}

Result<int> run_release_create(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto asked, release_of(arguments, *store));
  const auto& record = asked.record;
  Findings notes;
  for (const auto& family : record.expect.families)
    if (auto unknown = unknown_family(context, "--expect", family)) notes.push_back(std::move(*unknown));
  context.out.findings(notes);
  auto digest = registry::digest_of(record);
  bool dry = arguments.has("--dry-run");
  if (!dry) {
    TRY(digest, registry::put_release(*store, record));
  }
  TRY_DO(note_name_in_use(context, *store, record.name, digest));
  context.out.data(fmt::format("{}  release:{}  {}{}\n", dry ? "would create" : "created", digest,
                               units::things(record.sets.size(), "set"),
                               record.name.empty() ? "" : "  " + record.name));
  context.out.document({{"release", digest},
                        {"name", record.name},
                        {"sets", record.sets},
                        {"written", !dry},
                        {"findings", findings_json(notes)}});
  if (!dry)
    context.out.note("next: " + NextCommand(context, "gate")
                                    .set("--from", "release:" + digest.short_hex())
                                    .set("--to", asked.channels)
                                    .set("--store", arguments.get("--store"))
                                    .text());
  return 0;
}

// ---- release show

/// What `release:DIGEST` or `release:NAME` names, also without the prefix. L003 if that is nothing.
Result<std::string> release_word(const std::string& operand) {
  constexpr std::string_view k_prefix = "release:";
  auto text = operand.starts_with(k_prefix) ? operand : std::string(k_prefix) + operand;
  TRY(auto locator, run::parse_locator(text));
  return locator.digest;
}

std::string set_row(const registry::SealedSet& sealed) {
  const auto& origin = sealed.set.origin;
  auto run = origin.platform.empty() ? origin.run_id : fmt::format("{}-{}", origin.run_id, origin.platform);
  return origin.group.empty() ? run : run + "@" + origin.group;
}

Result<int> run_release_show(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto word, release_word(arguments.operands.at(0)));
  TRY(auto shown, release::load_shown(*store, word));
  context.out.findings(shown.unread);
  context.out.data(fact("release", "{}{}", shown.digest, shown.record.name.empty() ? "" : "  " + shown.record.name));
  TableRows rows;
  auto sets = Json::array();
  for (const auto& sealed : shown.sets) {
    std::vector<std::string> in;
    for (const auto& channel : shown.channels)
      if (std::find(channel.sets.begin(), channel.sets.end(), sealed.digest) != channel.sets.end())
        in.push_back(channel.channel);
    rows.push_back({"set:" + sealed.digest.short_hex(), set_row(sealed), units::things(sealed.set.files.size(), "file"),
                    text::join(in, ", ")});
    sets.push_back(
        {{"set", sealed.digest}, {"run", set_row(sealed)}, {"files", files_json(sealed.set.files)}, {"channels", in}});
  }
  context.out.data(table({k_text, k_name, k_text, k_name}, rows, context.out.data_look()));
  const auto& expect = shown.record.expect;
  std::vector<std::string> platforms;
  for (const auto& platform : expect.platforms) platforms.emplace_back(platform.text());
  for (const auto& [what, names] :
       {std::pair("platforms", &std::as_const(platforms)), std::pair("families", &expect.families),
        std::pair("pythons", &expect.pythons), std::pair("projects", &expect.projects),
        std::pair("frameworks", &expect.frameworks)})
    if (!names->empty()) context.out.data(fact("expects", "{}: {}", what, text::join(*names, ", ")));
  for (const auto& waiver : shown.waivers)
    context.out.data(fact("waived", "{}  {}", waiver.digest.short_hex(), text_of_waiver(waiver)));
  auto waivers = Json::array();
  for (const auto& waiver : shown.waivers)
    waivers.push_back({{"waiver", waiver.digest}, {"text", text_of_waiver(waiver)}});
  context.out.document({{"release", shown.digest},
                        {"name", shown.record.name},
                        {"expect",
                         {{"platforms", expect.platforms},
                          {"families", expect.families},
                          {"pythons", expect.pythons},
                          {"projects", expect.projects},
                          {"frameworks", expect.frameworks}}},
                        {"notes", shown.record.notes},
                        {"waivers", waivers},
                        {"findings", findings_json(shown.unread)},
                        {"sets", sets}});
  return 0;
}

// ---- release notes

Result<int> run_release_notes(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto word, release_word(arguments.operands.at(0)));
  TRY(auto shown, release::load_shown(*store, word));
  context.out.findings(shown.unread);
  auto text = release_notes(shown);
  context.out.data(text);
  context.out.document({{"release", shown.digest}, {"markdown", text}, {"findings", findings_json(shown.unread)}});
  return 0;
}

const Operand k_release{"RELEASE", "release:DIGEST, or the digest or its first 8 or more digits"};

Command release_create_command() {
  return {
      .path = {"release", "create"},
      .summary = "name the sets that are released together",
      .description =
          "Writes a record of sealed sets, such as those of ROCm, of torch and of several families, and prints its "
          "locator. `quarry gate` and `quarry promote` take it with `--from release:DIGEST`: the sets are judged as a "
          "whole, and with `--to 'stable-{family}'` move to one channel for each family by one plan.\n\n"
          "The record has no time and no author: the same sets, name, expectations and notes give the same release.",
      .operands = {},
      .flags = {{.name = "--set", .value = "DIGEST", .help = "a sealed set", .repeats = true},
                {.name = "--from",
                 .value = "LOCATOR",
                 .help = "the sets of a run, a group of it (run:42-linux@gfx94X-dcgpu), a channel or a directory",
                 .repeats = true},
                {.name = "--name",
                 .value = "TEXT",
                 .help = "what people call it, such as 7.2.0; not 8 or more hex digits"},
                expect_flag(),
                {.name = "--notes", .value = "FILE", .help = "Markdown for the release notes"},
                {.name = "--dry-run", .value = "", .help = "check and show it, write nothing", .letter = 'n'},
                store_flag()},
      .examples =
          {{"quarry release create --from run:42-linux@gfx94X-dcgpu --from run:42-linux@gfx110X-all --name 7.2.0",
            "two families of one run"}},
      .exit_codes = {{3, "a set does not exist, or is not sealed"}},
      .schema = "quarry.release-create/1",
      .run = run_release_create};
}

Command release_show_command() {
  return {.path = {"release", "show"},
          .summary = "show the sets of a release and which channels have them",
          .description = "The sets with their runs and families, the channels that show each of them, what the release "
                         "expects, and the waivers by which its sets got into channels.",
          .operands = {k_release},
          .flags = {store_flag()},
          .examples = {{"quarry release show release:0e66efc9cb8b", "where is it?"}},
          .exit_codes = {{3, "the release does not exist"}, {6, "a record was altered"}},
          .schema = "quarry.release-show/1",
          .run = run_release_show};
}

Command release_notes_command() {
  return {.path = {"release", "notes"},
          .summary = "write the notes of a release from its records",
          .description = "Markdown: what people wrote, the packages, the channels, and for each cell of the support "
                         "matrix whether it was tested or waived, by whom and why, as the verdicts in the store say.",
          .operands = {k_release},
          .flags = {store_flag()},
          .examples = {{"quarry release notes release:0e66efc9cb8b > notes.md", "for the page of the release"}},
          .exit_codes = {{3, "the release does not exist"}, {6, "a record was altered"}},
          .schema = "quarry.release-notes/1",
          .run = run_release_notes};
}

// ---- release list

Result<int> run_release_list(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  Findings notes;
  TRY(auto releases, registry::list_releases(*store, notes));
  TableRows rows;
  auto listed = Json::array();
  for (const auto& [digest, record] : releases) {
    rows.push_back({"release:" + digest.short_hex(), record.name, units::things(record.sets.size(), "set")});
    listed.push_back({{"release", digest}, {"name", record.name}, {"sets", record.sets}});
  }
  if (releases.empty()) context.out.note(store->describe() + " has no releases");
  context.out.data(table({k_text, k_name, k_text}, rows, context.out.data_look()));
  context.out.findings(notes);
  context.out.document({{"releases", std::move(listed)}, {"notes", findings_json(notes)}});
  return 0;
}

Command release_list_command() {
  return {.path = {"release", "list"},
          .summary = "list the releases of a store",
          .description = "Digest, name and number of sets of each release. An object among them that is not a valid "
                         "record is told and left out. A release that is the only one of its name can be called "
                         "`release:NAME` wherever a locator stands.",
          .operands = {},
          .flags = {store_flag()},
          .examples = {{"quarry release list --store s3://builds", "which releases are there?"}},
          .exit_codes = {},
          .schema = "quarry.release-list/1",
          .run = run_release_list};
}

} // namespace

std::vector<Command> release_commands() {
  return {release_create_command(), release_list_command(), release_show_command(), release_notes_command(),
          release_finalize_command()};
}

} // namespace quarry::cli
