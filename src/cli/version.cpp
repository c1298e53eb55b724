#include "cli/version.hpp"

#include <curl/curlver.h>
#include <fmt/core.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <libfyaml.h>
#include <lzma.h>
#include <nlohmann/json_fwd.hpp>
#include <openssl/opensslv.h>
#include <rapidjson/rapidjson.h>
#include <tl/expected.hpp>
#include <toml++/impl/version.h>
#include <zlib.h>
#include <zstd.h>

namespace quarry::cli {

namespace {
std::string dotted(int major, int minor, int patch) { return fmt::format("{}.{}.{}", major, minor, patch); }

Library cpp_library() {
#if defined(_LIBCPP_VERSION)
  return {"libc++", dotted(_LIBCPP_VERSION / 10000, _LIBCPP_VERSION / 100 % 100, _LIBCPP_VERSION % 100),
          "Apache-2.0 WITH LLVM-exception"};
#else
  return {"libstdc++", std::to_string(_GLIBCXX_RELEASE), "GPL-3.0-or-later WITH GCC-exception-3.1"};
#endif
}
} // namespace

std::vector<Library> libraries() {
  return {
      {"expected", dotted(TL_EXPECTED_VERSION_MAJOR, TL_EXPECTED_VERSION_MINOR, TL_EXPECTED_VERSION_PATCH), "CC0-1.0"},
      {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100), "MIT"},
      {"isa-l", dotted(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION), "BSD-3-Clause"},
      cpp_library(),
      {"libcurl", LIBCURL_VERSION, "curl"},
      {"libdeflate", LIBDEFLATE_VERSION_STRING, "MIT"},
      {"libfyaml", fy_library_version(), "MIT"},
      {"liblzma", LZMA_VERSION_STRING, "0BSD"},
      {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
       "MIT"},
      {"openssl", OPENSSL_VERSION_STR, "Apache-2.0"},
      {"rapidjson", RAPIDJSON_VERSION_STRING, "MIT"},
      {"toml++", dotted(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH), "MIT"},
      {"zlib", ZLIB_VERSION, "Zlib"},
      {"zstd", ZSTD_VERSION_STRING, "BSD-3-Clause"}};
}

} // namespace quarry::cli
