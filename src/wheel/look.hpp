#pragma once
// METADATA of a wheel that is far away, without reading the wheel (zip/look.hpp says what is checked and what
// is not). For a look; who installs or publishes calls require_sound().
#include "base/result.hpp"
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include <string>

namespace quarry::wheel {

struct MetadataLook {
  dist::WheelName name;
  std::string member;      ///< "x-1.0.dist-info/METADATA"
  std::string text;        ///< its bytes
  dist::Metadata metadata; ///< the same, parsed
};

/// METADATA of the dist-info directory that belongs to `file_name`. M002 not the name of a wheel, W006 no such
/// member, W007 METADATA of another project or version than the name (failed), M006 one that cannot be parsed, W016 a
/// web page in place of a wheel, Z0xx a container that is broken where it was looked at.
Result<MetadataLook> look_at_metadata(const content::Rope& wheel, const std::string& file_name);

} // namespace quarry::wheel
