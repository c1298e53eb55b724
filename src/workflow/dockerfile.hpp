#pragma once
// Private to the room.
// Dockerfiles as their instructions. Pure.
#include "workflow/yaml.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// One instruction: `ENV A=1`.
struct Instruction {
  struct Line {
    std::size_t begin = 0; ///< in `text`
    std::uint32_t number = 0;
  };
  std::string text;        ///< its lines joined, without comments and without the marks that join them
  std::vector<Line> lines; ///< at least one
  /// Where a character of `text` stands in the file. Logarithmic in the lines.
  Position at(std::size_t offset) const;
};

/// The instructions in their order, without comments and the bodies of here-documents. Linear in the text.
std::vector<Instruction> dockerfile_instructions(std::string_view text);

} // namespace quarry::workflow
