#pragma once
// The table that cmake/embed.cmake fills.
#include <cstddef>

namespace quarry::app {
struct EmbeddedFile {
  const char* name;
  const char* begin;
  const char* end;
};
extern const EmbeddedFile k_embedded[];
extern const std::size_t k_embedded_count;
} // namespace quarry::app
