// Settings of a store; and single objects, for measuring and for looking closely: hidden, since sets are what people
// publish.
#include "base/codes.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "content/rope.hpp"
#include "pages/settings.hpp"
#include "store/put_once.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// The key exists: that is fine if it has the same bytes. Anything else may be a sealed package, or the pointer of a
/// channel.
/// nullopt: it has vanished meanwhile.
Result<std::optional<int>> keep_what_exists(Context& context, store::ObjectReader& store, const Arguments& arguments,
                                            const std::optional<Sha256>& expected) {
  const auto& key = arguments.operands.at(1);
  TRY(auto ours, content::sha256_of_file(arguments.operands.at(0)));
  if (expected && *expected != ours)
    return fail(ErrorKind::corrupt, "R008",
                fmt::format("{} has the sha256 {}, not {}", arguments.operands.at(0), ours.hex(), expected->hex()),
                "nothing was written; get the file again, or correct --sha256");
  TRY(auto theirs, store.digest(key));
  TRY(auto info, store.head(key));
  if (!theirs || !info) return std::optional<int>();
  if (*theirs != ours)
    return fail(Error::of(ErrorKind::already_exists, "R009", fmt::format("{} holds another {}", store.describe(), key))
                    .with_detail("there  sha256 " + theirs->hex())
                    .with_detail("ours   sha256 " + ours.hex())
                    .with_hint("nothing was changed; name another key, or replace the object with `--force`"));
  context.out.data(fmt::format("{}  is there already\n", key));
  context.out.document({{"key", key}, {"size", info->size}, {"etag", info->etag}});
  return std::optional(0);
}

Result<std::optional<Sha256>> expected_digest(const Arguments& arguments) {
  auto said = arguments.find("--sha256");
  if (!said) return std::optional<Sha256>();
  auto digest = Sha256::from_hex(*said);
  if (!digest)
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("--sha256 is {}, not a digest of 64 hexadecimal digits", *said),
                "`sha256sum FILE` prints it");
  return digest;
}

Result<int> run_put(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  const auto& key = arguments.operands.at(1);
  TRY(auto content, content::Rope::file(arguments.operands.at(0)));
  store::PutOptions options;
  TRY(options.sha256, expected_digest(arguments));
  if (!arguments.has("--force")) options.precondition = store::Precondition::if_absent();
  auto put = store->put(key, content, options);
  if (!put && put.error().is(codes::object_exists)) {
    TRY(auto kept, keep_what_exists(context, *store, arguments, options.sha256));
    if (kept) return *kept;
    put = store->put(key, content, options);
  }
  if (!put) return fail(std::move(put).error());
  context.out.data(fmt::format("{}  {} bytes\n", key, put->size));
  context.out.document({{"key", key}, {"size", put->size}, {"etag", put->etag}});
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
           .description = "Stores the bytes of `FILE` under `KEY`. An object with other bytes stays, unless `--force` "
                          "says to replace it.",
           .operands = {{"FILE", "what to store"}, {"KEY", "its name in the store"}},
           .flags = {store_flag(),
                     {.name = "--sha256", .value = "HEX", .help = "what the bytes must be"},
                     {.name = "--force", .value = "", .help = "replace an object with other bytes"}},
           .examples = {{"quarry store put a.bin tests/a.bin --store s3://bucket/prefix", "one object"}},
           .exit_codes = {{6, "the bytes are not what --sha256 says"}, {7, "the key has other bytes"}},
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
