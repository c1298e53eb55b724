#pragma once
// Private to the room.
// Parts of verify(): each looks at one group of invariants (docs/formats/elf-edit.md) and adds findings. Codes: E1 is
// E101.
#include "base/finding.hpp"
#include "elf/image.hpp"

namespace quarry::elf {

struct Subject {
  Image image;
  std::vector<Section> sections;
  std::vector<std::string> names; ///< of the sections
  std::vector<Segment> loads;     ///< the PT_LOADs in table order
  Findings findings;

  bool is_host() const { return image.header.machine == EM_X86_64 || image.header.machine == EM_AARCH64; }
  bool is_program() const { return image.first(PT_INTERP) != nullptr; }
  void error(std::string_view code, std::string message) { add(code, Severity::error, std::move(message)); }
  void warn(std::string_view code, std::string message) { add(code, Severity::warning, std::move(message)); }
  void add(std::string_view code, Severity severity, std::string message);
};

constexpr std::size_t k_findings_max = 64; // of one file; a hostile file could give one per symbol

void verify_loads(Subject& subject);      ///< E3, E4
void verify_headers(Subject& subject);    ///< E1, E2, E5, E10, E11
void verify_dynamic(Subject& subject);    ///< E6-E9
void verify_sections(Subject& subject);   ///< E12
void verify_fat_binary(Subject& subject); ///< E13
/// E15: bytes that neither a section nor a header describes; with `mapped`, a segment describes its bytes, too.
void verify_gaps(Subject& subject, bool mapped);

} // namespace quarry::elf
