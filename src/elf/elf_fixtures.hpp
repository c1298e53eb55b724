#pragma once
// For the tests: small libraries and programs, built once per test run by the compiler that is on PATH, and helpers to
// run programs and to change single fields of a file.
#include "content/rope.hpp"
#include "elf/elf.hpp"
#include "elf/image.hpp"
#include "sys/process.hpp"
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace quarry::elf::testing {

/// The directory of the fixtures, removed when the test program ends.
const std::string& directory();
/// Empty when `program` is not on PATH.
std::string program_path(const std::string& program);
/// Runs with a small fixed environment; a program that cannot start fails the test.
sys::ProcessResult run(std::vector<std::string> argv, std::map<std::string, std::string> more_environment = {});

/// Builds `source` with gcc and `flags` into `directory()/name` unless it is there; fails the test when gcc does.
std::string build(const std::string& name, const std::string& source, const std::vector<std::string>& flags);
std::string library();           ///< SONAME libplain.so.1, DT_RUNPATH $ORIGIN/../lib, small .bss, spare DT_NULLs
std::string bare_library();      ///< neither SONAME nor run path, nothing needed
std::string tight_library();     ///< one DT_NULL, no spare ones (with 0, GNU ld writes none at all)
std::string large_bss_library(); ///< 8 MiB of .bss: only a new segment fits
std::string hip_library();       ///< a registration record in .hipFatBinSegment
std::string program();           ///< position-independent, needs libplain.so.1 by DT_RUNPATH $ORIGIN; prints "plain 42"
std::string fixed_program();     ///< the same at a fixed address
std::string static_program();
std::string object_file();
std::string loader(); ///< `loader FILE`: dlopen with RTLD_NOW; exit code 0 or 1, the message on stdout

content::Rope rope(const std::string& path);
std::string bytes(const content::Rope& rope);
Facts facts(const content::Rope& rope);
Image image(const content::Rope& rope);
/// Writes the rope, executable, to `directory()/name`.
std::string write(const content::Rope& rope, const std::string& name);
bool loads(const std::string& path);

/// The file with one program header or dynamic entry replaced.
content::Rope with_segment(const content::Rope& file, std::size_t index, const Segment& segment);
content::Rope with_entry(const content::Rope& file, std::int64_t tag, std::uint64_t value);
std::size_t segment_index(const content::Rope& file, std::uint32_t type);
/// Codes of findings that are errors, without repetition, in order.
std::vector<std::string> error_codes(const content::Rope& file);

} // namespace quarry::elf::testing
