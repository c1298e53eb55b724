#pragma once
// Private to the room.
// A wheel whose archive is sound and whose files are not read: what rewrites begin with.
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include "zip/reader.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::wheel {

struct Opened {
  dist::WheelName name;
  zip::Reader zip;
  std::string dist_info; ///< the directory, "x-1.0.dist-info"
  std::string path;      ///< as messages call it
};

/// Reads the archive's framing. Fails with W010 if it is not sound, or if it does not have one dist-info directory of
/// its name; M002 for the name.
Result<Opened> open_wheel(const std::string& path);
/// The same for a wheel whose bytes are anywhere. `path` is what messages call it; it ends in the file name.
Result<Opened> open_wheel(content::Rope bytes, const std::string& path);

/// The bytes of a file below dist-info. Fails with W010 if it is missing.
Result<std::string> text_of(const Opened& wheel, std::string_view file, std::uint64_t max_bytes);

/// RECORD's rows for the members that are kept, in their order. Fails with W010 if it does not list one of them, or
/// lists a file that the wheel lacks.
Result<std::vector<dist::RecordRow>> kept_rows(const Opened& wheel, const std::vector<const zip::Member*>& kept,
                                               const std::string& path);

/// Whether two contents of one size have the same bytes. Reads both, in pieces of 1 MiB.
Result<bool> same_bytes(const content::Rope& a, const content::Rope& b);

/// Fails with W010.
[[nodiscard]] Unexpected not_sound(const std::string& path, std::vector<std::string> details,
                                   ErrorKind kind = ErrorKind::failed);

} // namespace quarry::wheel
