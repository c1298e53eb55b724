#pragma once
// Private to the room.
// Many small or verbose logs as one archive, made in memory.
#include "codec/compression.hpp"
#include "content/rope.hpp"
#include <string>
#include <utility>
#include <vector>

namespace quarry::artifact {

struct LogArchive {
  std::string what, flag; ///< for messages: "the ninja logs", "--ninja-logs"
  codec::Compression compression = codec::Compression::gzip;
  std::vector<std::pair<std::string, content::Rope>> members = {};
};

/// The bytes of the archive. resource_exhausted A044 for members of more than 1 GiB.
Result<std::string> pack_logs(const LogArchive& archive);

} // namespace quarry::artifact
