#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "promote/acknowledge.hpp"
#include "promote/verify_fed.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Result<int> acknowledge_by_name(Context& context, const Arguments& arguments, std::uint64_t generation,
                                const promote::Author& author) {
  TRY(auto place, distribution_of(context, arguments, arguments.operands.at(0)));
  TRY(auto done, promote::acknowledge_there(*place.store, place.directory, generation, author));
  context.out.data(fact("acknowledged", "{0}@{1} by {0}@{2}", place.directory, generation, done.record.generation));
  for (const auto& finding : done.findings) context.out.data(fmt::format("  {}\n", finding.message));
  context.out.document({{"schema", "quarry.distribution-acknowledge/1"},
                        {"directory", place.directory},
                        {"generation", done.record.generation},
                        {"acknowledged", generation},
                        {"findings", findings_json(done.findings)}});
  return 0;
}

Result<int> run_acknowledge(Context& context, const Arguments& arguments) {
  TRY(auto author, author_of(context, arguments));
  auto generation = text::parse_u64(arguments.operands.at(1));
  if (!generation)
    return fail(ErrorKind::invalid_argument, "O053",
                fmt::format("`{}` is not the number of a generation", arguments.operands.at(1)),
                fmt::format("`quarry channel log {}` lists them", arguments.operands.at(0)));
  if (is_distribution(arguments.operands.at(0))) return acknowledge_by_name(context, arguments, *generation, author);
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY(auto done, promote::acknowledge(*store, {arguments.operands.at(0), *generation}, author));
  context.out.data(fact("acknowledged", "{}@{} by {}@{}", done.channel.name, *generation, done.channel.name,
                        done.channel.generation));
  for (const auto& finding : done.findings) context.out.data(fmt::format("  {}\n", finding.message));
  context.out.document({{"channel", done.channel.name},
                        {"generation", done.channel.generation},
                        {"acknowledged", *generation},
                        {"findings", findings_json(done.findings)}});
  return 0;
}

} // namespace

Command channel_acknowledge_command() {
  return {.path = {"channel", "acknowledge"},
          .summary = "answer for a past move that lacks a signature",
          .description =
              "`quarry channel verify` reports a move that nobody signed who may (O044), for as long as the ledger is "
              "kept. This records, as a signed move with an entry in the ledger, that somebody has looked at it and "
              "answers for it: from then on `verify` and `status` count it no more, and `verify` shows it as a note "
              "with name and reason.\n\n"
              "It is signed by who may sign `protect`, by the last policy that was bound lawfully: a policy that "
              "somebody bound without a signature says nothing about it. It makes nothing else good. What the move let "
              "in stays in the channel (`quarry rollback`, `quarry yank`), a policy that it bound stays bound (`quarry "
              "channel protect`), and a channel's record that was changed by hand must be restored first.",
          .operands = {{"CHANNEL", "the channel; or a distribution, s3://BUCKET/v2/gfx94X-dcgpu"},
                       {"GENERATION", "that the move made"}},
          .flags = {{.name = "--reason", .value = "TEXT", .help = "why, for the ledger", .required = true},
                    sign_flag(),
                    store_of_channel_flag()},
          .examples = {{"quarry channel acknowledge stable 17 --reason \"moved by hand in the outage, looked at\" "
                        "--sign release.pem --store file:store",
                        "generation 17 is explained"}},
          .exit_codes = {{3, "the channel does not exist, or nothing is wrong with that move"},
                         {6, "the ledger is broken, or the record was changed by hand"},
                         {7, "somebody moved the channel meanwhile"},
                         {10, "it is not signed by who may"}},
          .schema = "quarry.channel-acknowledge/1",
          .run = run_acknowledge};
}

} // namespace quarry::cli
