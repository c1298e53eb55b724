#pragma once
// The device code of libraries, wheels and directories, file by file.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "gpu/contents.hpp"
#include "gpu/names.hpp"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::zip {
class Reader;
}

namespace quarry::inspect {

/// A file with device code, with a target in its path, or with a finding.
struct DeviceFile {
  std::string path; ///< "libx.so"; of a directory "dir/lib/libx.so"; of a wheel "x.whl!pkg/libx.so"
  std::uint64_t size = 0;
  gpu::Contents contents;
  std::optional<gpu::NamedTarget> named;
};

bool is_worth_listing(const DeviceFile& file); ///< false for a file that has nothing to do with device code

struct DeviceCode {
  std::vector<DeviceFile> files; ///< sorted by path within each operand
  std::size_t looked_at = 0;     ///< files and members, with those that hold nothing
};

struct DeviceOptions {
  unsigned workers = 1;
  std::string spool_directory; ///< for members of wheels that cannot be read in one pass
};

/// What is listed.
struct DeviceOperand {
  std::string path;                            ///< as messages call it
  std::optional<content::Rope> bytes = {};     ///< of a file that is open already, or that `path` does not lead to
  bool far = false;                            ///< the bytes come over a network
  std::shared_ptr<const zip::Reader> zip = {}; ///< of a wheel that is open already: `bytes` are not looked at
};

/// Lists `operands`: files, wheels (`.whl`), and directories with everything below them. Links inside a directory are
/// not followed. A file without device code is left out. Fails if a path does not exist or cannot be read, or if a
/// wheel is not a sound zip archive (G110); damaged device code is a finding of its file. Cost: headers and tables of
/// files; a deflated member is inflated once, and what read_contents() needs is kept meanwhile. If more is needed than
/// fits into 80 MiB, the member is inflated again into a file without a name below `spool_directory`.
///
/// A far file is read by one thread, a wheel from its first member to its last; what was read is kept in a file without
/// a name, and not asked for again. Errors of the network come through: K022 for an object that was replaced.
Result<DeviceCode> list_device_code(const std::vector<DeviceOperand>& operands, const DeviceOptions& options);

} // namespace quarry::inspect
