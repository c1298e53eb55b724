#pragma once
// Why one wheel is larger than another: bytes by file, and in files with device code by GPU target.
#include "base/result.hpp"
#include "inspect/contents.hpp"
#include "inspect/device_code.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::inspect {

struct TargetChange {
  std::string target;               ///< "gfx1201"
  std::int64_t bytes = 0;           ///< of its code objects, more or less than before
  bool added = false, gone = false; ///< the file had none before; has none any more
};

struct SizeChange {
  std::string path;           ///< without the wheel's own version: "dist-info/licenses/LICENSE"
  std::int64_t download = 0;  ///< bytes in the archive, more or less than before
  std::int64_t installed = 0; ///< bytes of the file
  bool added = false, gone = false;
  std::vector<TargetChange> targets; ///< sorted as people sort targets
};

struct WheelSizes {
  std::uint64_t download = 0;  ///< of the wheel as a file
  std::uint64_t installed = 0; ///< of all its files
};

struct SizeComparison {
  WheelSizes left, right;
  std::vector<SizeChange> changes; ///< files whose sizes or targets differ, the largest download first
};

/// Compares two wheels that read_package() has opened. Fails as list_device_code() does. Files with device code are
/// inflated once on each side; of all others only the first bytes are read.
Result<SizeComparison> compare_sizes(const Package& left, const Package& right, const DeviceOptions& options);

} // namespace quarry::inspect
