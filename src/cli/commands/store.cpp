// Settings of a store; and single objects, for measuring and for looking closely: hidden, since sets are what people
// publish.
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "content/rope.hpp"
#include "pages/settings.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Result<int> run_put(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  const auto& key = arguments.operands.at(1);
  TRY(auto content, content::Rope::file(arguments.operands.at(0)));
  store::PutOptions options;
  if (auto digest = arguments.find("--sha256")) options.sha256 = Sha256::from_hex(*digest);
  TRY(auto info, store->put(key, content, options));
  context.out.data(fmt::format("{}  {} bytes\n", key, info.size));
  context.out.document({{"key", key}, {"size", info.size}, {"etag", info.etag}});
  return 0;
}

Result<int> run_get(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  const auto& key = arguments.operands.at(0);
  TRY(auto content, store->open(key));
  TRY(auto target, sys::AtomicFile::create(arguments.operands.at(1)));
  Sha256Hasher hasher;
  std::uint64_t written = 0;
  TRY_DO(content::pump(content, [&](std::span<const std::byte> bytes) -> Result<void> {
    hasher.update(bytes);
    TRY_DO(target.file().write_at(written, bytes));
    written += bytes.size();
    return sys::check_interrupted();
  }));
  TRY_DO(target.commit_replace());
  auto digest = hasher.finish().hex();
  context.out.data(fmt::format("{}  {}\n", digest, key));
  context.out.document({{"key", key}, {"size", written}, {"sha256", digest}});
  return 0;
}

Result<int> run_setting(Context& context, const Arguments& arguments) {
  auto asked = arguments.find("--find-links");
  TRY(auto store,
      asked ? open_store_to_write(context, arguments.get("--store")) : open_store(context, arguments.get("--store")));
  TRY(auto settings, pages::read_settings(*store));
  bool changed = false;
  if (asked) {
    TRY(settings.find_links, pages::parse_find_links(*asked));
    TRY(changed, pages::write_settings(*store, settings));
  }
  auto word = pages::word_of(settings.find_links);
  context.out.data(fmt::format("find-links  {}{}\n", word, changed ? "  (changed)" : ""));
  context.out.document({{"find_links", word}, {"changed", changed}});
  return 0;
}

Command setting_command() {
  return {.path = {"store", "setting"},
          .summary = "show or change who writes the find-links pages of a store",
          .description =
              "`--find-links other` leaves `index.html` of package directories and distributions to another tool, such "
              "as a function that the bucket calls after each upload. Quarry then writes all other pages and never "
              "this one. Without a flag the command prints the setting.",
          .operands = {},
          .flags = {store_flag(),
                    {.name = "--find-links", .value = "WHO", .help = "who writes them", .choices = {"ours", "other"}}},
          .examples = {{"quarry store setting --find-links other --store s3://builds", "a function makes these pages"}},
          .exit_codes = {{7, "another command changed the settings at the same time"}},
          .schema = "quarry.store-setting/1",
          .run = run_setting};
}

} // namespace

std::vector<Command> store_commands() {
  return {setting_command(),
          {.path = {"store", "put"},
           .summary = "store one file under a key",
           .description = "Stores the bytes of `FILE` under `KEY`, replacing what was there before.",
           .operands = {{"FILE", "what to store"}, {"KEY", "its name in the store"}},
           .flags = {store_flag(), {.name = "--sha256", .value = "HEX", .help = "what the bytes must be"}},
           .examples = {{"quarry store put a.bin tests/a.bin --store s3://bucket/prefix", "one object"}},
           .exit_codes = {{6, "the bytes are not what --sha256 says"}},
           .schema = "quarry.store-put/1",
           .run = run_put,
           .hidden = true},
          {.path = {"store", "get"},
           .summary = "fetch one object into a file and print its sha256",
           .description = "Reads the object `KEY` into `FILE`, which appears when it is complete.",
           .operands = {{"KEY", "a name in the store"}, {"FILE", "where to put its bytes"}},
           .flags = {store_flag()},
           .examples = {{"quarry store get tests/a.bin a.bin --store s3://bucket/prefix", "one object"}},
           .exit_codes = {{3, "the object does not exist"}},
           .schema = "quarry.store-get/1",
           .run = run_get,
           .hidden = true}};
}

} // namespace quarry::cli
