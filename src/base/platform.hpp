#pragma once
// The system that packages are built for and installed on.
#include "base/word.hpp"

namespace quarry {

struct PlatformWords {
  enum Kind : std::uint8_t { linux, windows };
  static constexpr std::array<std::string_view, 2> k_texts = {"linux", "windows"};
};
/// As runs, families and cells name it. Empty: any, or not said. Names of files and records of a later version may say
/// another one, such as "macos": it equals neither of the two.
using Platform = WordOf<PlatformWords>;

} // namespace quarry
