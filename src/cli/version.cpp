#include "cli/version.hpp"

#include <fmt/core.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <lzma.h>
#include <openssl/opensslv.h>
#include <zlib.h>
#include <zstd.h>

namespace quarry::cli {

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"isa-l", fmt::format("{}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)},
          {"libdeflate", LIBDEFLATE_VERSION_STRING},
          {"liblzma", LZMA_VERSION_STRING},
          {"openssl", OPENSSL_VERSION_STR},
          {"zlib", ZLIB_VERSION},
          {"zstd", ZSTD_VERSION_STRING}};
}

} // namespace quarry::cli
