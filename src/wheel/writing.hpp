#pragma once
// Private to the room.
// What both ways of packing share: a wheel whose files are all there but RECORD.
#include "wheel/wheel.hpp"
#include <string>
#include <vector>

namespace quarry::wheel {

struct Draft {
  std::string file_name;
  std::string dist_info; ///< "x-1.0.dist-info"
  std::vector<Member>
      members; ///< all paths relative to the wheel's root, METADATA and WHEEL among them, without RECORD
};

/// invalid_argument with the first findings as details, if the draft would not be a sound wheel.
Result<void> check_draft(const Draft& draft);
/// Sorts and writes.
Result<Packed> write_draft(Draft draft, const std::string& output_dir, const PackOptions& options);

} // namespace quarry::wheel
