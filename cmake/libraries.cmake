# Everything that comes from outside, in one place, each with its reason. All are Debian 12 packages (see tools/setup), but for
# libdeflate, whose source tools/setup fetches. They are linked statically: a copy of quarry alone runs on any machine with glibc
# 2.36, one of the preset portable with glibc 2.28 (docs/decisions/0004, 0030).
if(QUARRY_PORTABLE)
  include(cmake/portable.cmake)
endif()
set(OPENSSL_USE_STATIC_LIBS TRUE)
set(ZLIB_USE_STATIC_LIBS TRUE)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)         # inflate; crc32_combine
find_package(OpenSSL REQUIRED)      # SHA-256 with SHA-NI
find_package(nlohmann_json REQUIRED)
find_path(RAPIDJSON_INCLUDE rapidjson/reader.h REQUIRED) # reads records of megabytes (decision 43)
find_path(FMT_INCLUDE fmt/format-inl.h REQUIRED)         # std::format is absent in g++ 12
find_path(TL_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)  # std::expected is C++23 and has no and_then in g++ 12
find_path(TOMLPP_INCLUDE toml++/toml.h REQUIRED)         # TOML with source positions for error messages
find_library(ISAL_SHARED isal REQUIRED)                  # deflate, ci profile; inflate
find_library(ZSTD_LIBRARY libzstd.a REQUIRED)            # .tar.zst
find_library(LZMA_LIBRARY liblzma.a REQUIRED)            # .tar.xz
find_library(FYAML_LIBRARY libfyaml.a REQUIRED)          # YAML of workflows, with positions and anchors
find_path(FYAML_INCLUDE libfyaml.h REQUIRED)
find_library(CURL_ARCHIVE libcurl.a REQUIRED)            # HTTP
find_path(CURL_INCLUDE curl/curl.h REQUIRED)
include_directories(SYSTEM "${TL_EXPECTED_INCLUDE}")

# libdeflate: deflate of the release profile, smaller and 2.5x faster than zlib; crc32. Always compiled by the C compiler with
# these flags, so that every preset writes the same bytes at the same speed.
set(DEFLATE_SOURCE "${CMAKE_SOURCE_DIR}/build/sources/libdeflate")
if(NOT EXISTS "${DEFLATE_SOURCE}/libdeflate.h")
  message(FATAL_ERROR "${DEFLATE_SOURCE} is missing: run tools/setup --minimal")
endif()
# Its compressor is changed in two places, so that a stream can go on behind what it wrote: cmake/deflate_open.c says why. The
# source is pinned by its digest, so a place that is not found means that the version was changed without looking here.
function(add_open_end text_variable before after)
  string(FIND "${${text_variable}}" "${before}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "libdeflate's deflate_compress.c has no ${before}")
  endif()
  string(REPLACE "${before}" "${before}${after}" changed "${${text_variable}}")
  set(${text_variable} "${changed}" PARENT_SCOPE)
endfunction()
set(DEFLATE_COMPRESSOR "${CMAKE_BINARY_DIR}/deflate_compress.c")
file(READ "${DEFLATE_SOURCE}/lib/deflate_compress.c" deflate)
file(READ "${CMAKE_SOURCE_DIR}/cmake/deflate_open.c" open_end)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/cmake/deflate_open.c")
add_open_end(deflate "struct libdeflate_compressor {\n" "\tbool leave_open;\n")
add_open_end(deflate "\tc->compression_level = compression_level;\n" "\tc->leave_open = false;\n")
add_open_end(deflate "\tASSERT(block_length >= MIN_BLOCK_LENGTH ||\n\t       (is_final_block && block_length > 0));\n"
             "\tis_final_block = is_final_block && !c->leave_open;\n")
file(WRITE "${DEFLATE_COMPRESSOR}.new" "${deflate}\n${open_end}")
file(COPY_FILE "${DEFLATE_COMPRESSOR}.new" "${DEFLATE_COMPRESSOR}" ONLY_IF_DIFFERENT)

set(DEFLATE_LIBRARY deflate_static)
add_library(deflate_static STATIC
  ${DEFLATE_SOURCE}/lib/utils.c ${DEFLATE_COMPRESSOR} ${DEFLATE_SOURCE}/lib/crc32.c ${DEFLATE_SOURCE}/lib/x86/cpu_features.c)
target_include_directories(deflate_static SYSTEM PUBLIC "${DEFLATE_SOURCE}" PRIVATE "${DEFLATE_SOURCE}/lib")
target_compile_options(deflate_static PRIVATE -O2 -w -fno-sanitize=all)

# Debian has fmt as a shared library only; its body is one header.
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/fmt.cpp" CONTENT "#include <fmt/format-inl.h>
namespace fmt { inline namespace v9 { namespace detail {
template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
}}}
")
add_library(fmt_static STATIC "${CMAKE_BINARY_DIR}/fmt.cpp")
target_include_directories(fmt_static SYSTEM PUBLIC "${FMT_INCLUDE}")
if(QUARRY_SANITIZE)
  target_compile_options(fmt_static PRIVATE -fno-sanitize=all) # half a minute less; it is not what is examined
endif()

# ISA-L likewise; it has no body to compile. The library itself travels as data and is loaded when it is first used.
set(ISAL_LIBRARY isal_embedded)
get_filename_component(ISAL_FILE "${ISAL_SHARED}" REALPATH)
add_library(isal_embedded STATIC cmake/isal.c)
set_source_files_properties(cmake/isal.c PROPERTIES OBJECT_DEPENDS "${ISAL_FILE}" COMPILE_DEFINITIONS "ISAL_FILE=\"${ISAL_FILE}\"")
target_link_libraries(isal_embedded PUBLIC Threads::Threads ${CMAKE_DL_LIBS})

# Debian's libcurl.a knows many protocols; what only they need is left out (docs/decisions/0009).
set(CURL_LIBRARY curl_static)
add_library(curl_absent STATIC cmake/curl_absent.c)
set_source_files_properties(cmake/curl_absent.c PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all")
# Imported, so that what it needs stands behind it on every link line: ld looks at an archive once.
add_library(curl_static STATIC IMPORTED)
set_target_properties(curl_static PROPERTIES IMPORTED_LOCATION "${CURL_ARCHIVE}")
target_include_directories(curl_static SYSTEM INTERFACE "${CURL_INCLUDE}")
target_link_libraries(curl_static INTERFACE curl_absent OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB ${ZSTD_LIBRARY})

# The licence of everything inside, for `quarry version --licenses`: Debian's copyright file of each package.
set(LICENSE_FILES "licenses/quarry=${CMAKE_SOURCE_DIR}/LICENSE" "licenses/libdeflate=${DEFLATE_SOURCE}/COPYING")
set(packages fmt=libfmt-dev nlohmann-json=nlohmann-json3-dev rapidjson=rapidjson-dev toml++=libtomlplusplus-dev expected=libexpected-dev openssl=libssl-dev
  libcurl=libcurl4-openssl-dev zlib=zlib1g-dev isa-l=libisal-dev zstd=libzstd-dev liblzma=liblzma-dev libfyaml=libfyaml-dev)
if(QUARRY_PORTABLE)
  file(GLOB llvm "${CMAKE_SOURCE_DIR}/build/tools/zig/lib/python3*/site-packages/ziglang/lib/libcxx/LICENSE.TXT")
  list(APPEND LICENSE_FILES "licenses/libc++=${llvm}")
else()
  list(APPEND packages libstdc++=libstdc++-12-dev)
endif()
foreach(pair IN LISTS packages)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 package)
  set(file "/usr/share/doc/${package}/copyright")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${file} is missing: the program carries the licence of ${name}; reinstall ${package}")
  endif()
  list(APPEND LICENSE_FILES "licenses/${name}=${file}")
endforeach()

if(QUARRY_PORTABLE)
  add_link_options(-s)
elseif(NOT QUARRY_SANITIZE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
if(QUARRY_TESTS)
  find_package(GTest REQUIRED)
endif()
if(QUARRY_BENCH)
  find_package(benchmark REQUIRED)
endif()
