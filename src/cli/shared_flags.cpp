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

} // namespace quarry::cli
