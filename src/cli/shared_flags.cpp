#include "cli/shared_flags.hpp"

namespace quarry::cli {

const Flag& store_flag() {
  static const Flag k_flag{.name = "--store",
                           .value = "LOCATOR",
                           .help = "the store: file:PATH, s3://BUCKET/PREFIX, https://… to read",
                           .environment = "QUARRY_STORE",
                           .required = true};
  return k_flag;
}

const Flag& store_of_channel_flag() {
  static const Flag k_flag{.name = "--store",
                           .value = "LOCATOR",
                           .help = "the store of the channel; a distribution is named with its own",
                           .environment = "QUARRY_STORE"};
  return k_flag;
}

const Flag& store_of_sets_flag() {
  static const Flag k_flag{.name = "--store",
                           .value = "LOCATOR",
                           .help = "the store that sets, runs and channels are in",
                           .environment = "QUARRY_STORE"};
  return k_flag;
}

Result<std::string> store_named(const Arguments& arguments) {
  auto said = arguments.find("--store");
  if (said && !said->empty()) return std::move(*said);
  return fail(ErrorKind::invalid_argument, "C004", "a channel is in a store, and `--store LOCATOR` is missing",
              "add `--store LOCATOR` or set QUARRY_STORE");
}

} // namespace quarry::cli
