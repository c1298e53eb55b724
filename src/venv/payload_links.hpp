#pragma once
// Private to the room.
// Where the links of a payload lead once it is unpacked. Pure: only the payload's own names count.
#include "venv/packed.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::venv {

struct LinkEnd {
  /// The path in site-packages where the links end; it may belong to another package. nullopt: they lead out of
  /// site-packages, or in a circle.
  std::optional<std::string> file;
  std::vector<std::string> texts; ///< of the link itself, and of each further link on the way
};

/// `path`: a link of the payload. Links to directories on the way are followed.
LinkEnd end_of_link(const DevelPayload& payload, const std::string& path);
/// Where a link at `path` with this text ends, which need not be the payload's text: LinkEnd::file.
std::optional<std::string> end_of_text(const DevelPayload& payload, const std::string& path, const std::string& text);

} // namespace quarry::venv
