#pragma once
// The files that installing a wheel puts into an environment: what a rule about several wheels compares. Thread-safe.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::wheel {

struct OwnedFile {
  std::string path; ///< as RECORD writes it on Linux: "pkg/a.so", "../../../bin/tool"
  std::uint64_t size = 0;
  std::uint32_t crc = 0; ///< of its bytes, as the archive says
};

/// Reads the central directory alone, as zip::list() does. Left out: directories, the wheel's own dist-info, headers
/// (each project has a directory of its own) and the scripts that installers make for entry points. Fails with M002 for
/// the file's name, and as zip::list() does. Memory: about 150 bytes for each file.
Result<std::vector<OwnedFile>> owned_files(const content::Rope& wheel, const std::string& file_name);

} // namespace quarry::wheel
