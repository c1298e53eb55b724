#pragma once
// Private to the room.
// With which content type a package is stored.
#include <string>
#include <string_view>

namespace quarry::publish {

inline std::string content_type_of(std::string_view filename) {
  return filename.ends_with(".whl") ? "application/zip" : "application/gzip";
}

} // namespace quarry::publish
