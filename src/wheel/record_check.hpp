#pragma once
// Private to the room.
// RECORD against the files of the wheel (PEP 376, 427, 815): rows W1-W4.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "dist/metadata.hpp"
#include "wheel/wheel.hpp"
#include "zip/reader.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::wheel {

struct RecordCheck {
  std::string file_name; ///< of the wheel, for the findings' places
  std::string dist_info;
  const std::vector<dist::RecordRow>& rows;
  const zip::Reader& zip;
  unsigned workers = 1;
  Observer* observer = nullptr; ///< sees every file
};

/// Inflates every member once and compares names, sizes and digests with RECORD's rows. Findings are in the order of
/// the archive, whatever the workers. Returns whether all members were read and all findings are listed: there are at
/// most 10,000. Fails only with the observer's errors.
Result<bool> check_record(const RecordCheck& check, Findings& findings);

} // namespace quarry::wheel
