# Everything that comes from outside, in one place, each with its reason. All are Debian 12 packages (see tools/setup).
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)         # inflate with Z_BLOCK: proves and re-joins libdeflate chunks; crc32_combine
find_package(OpenSSL REQUIRED)      # SHA-256 with SHA-NI
find_package(fmt REQUIRED)          # std::format is absent in g++ 12
find_package(nlohmann_json REQUIRED)
find_path(TL_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)  # std::expected is C++23 and has no and_then in g++ 12
find_path(TOMLPP_INCLUDE toml++/toml.h REQUIRED)         # TOML with source positions for error messages
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)            # flag parsing under our command table
find_library(DEFLATE_LIBRARY deflate REQUIRED)           # deflate, release profile: smaller and 2.5x faster than zlib
find_library(ISAL_LIBRARY isal REQUIRED)                 # deflate, ci profile; inflate
find_library(ZSTD_LIBRARY zstd REQUIRED)                 # .tar.zst
find_library(LZMA_LIBRARY lzma REQUIRED)                 # .tar.xz
include_directories(SYSTEM "${TL_EXPECTED_INCLUDE}")
if(QUARRY_TESTS)
  find_package(GTest REQUIRED)
endif()
if(QUARRY_BENCH)
  find_package(benchmark REQUIRED)
endif()
