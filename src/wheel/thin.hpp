#pragma once
// Removes the code of GPU targets that nobody asked for from a wheel: from bundles inside libraries, and whole files
// that are for one such target. Everything else keeps its stored bytes.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "codec/profile.hpp"
#include "digest/sha256.hpp"
#include "wheel/thin_member.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::wheel {

struct ThinOptions : ThinRules {
  codec::Profile profile = codec::Profile::release;
  unsigned workers = 1;
  /// What is being done, how much of it is done, and of how much; from any one thread at a time.
  std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)> on_progress = {};
};

struct ThinReport {
  std::string file_name, path;
  std::uint64_t size = 0, original_size = 0;
  Sha256 sha256;
  bool copied = false;                                           ///< there was nothing to remove: the same bytes
  std::uint64_t installed_size = 0, original_installed_size = 0; ///< of all files together
  std::vector<TargetCode> targets;                               ///< in bundles and code objects, sorted by name
  std::vector<std::string> changed, dropped;                     ///< members, in the order of the archive
  std::uint64_t dropped_bytes = 0;                               ///< of whole files, when installed
  std::vector<std::string> missing;                              ///< devices that no code serves
  Findings findings;                                             ///< G115: code that stays although nobody asked for it
};

/// Writes the wheel `path` below `output_dir` under its own name, atomically; an existing file is replaced. Bundles are
/// thinned as gpu::thin() does it. Files of one target (by their path: Tensile, MIOpen, AOTriton and others; or
/// `.hsaco`, `.co` and `.kpack` files with code for no other) are left out if nobody asked for it. RECORD is new; its
/// signatures are dropped. If there is nothing to remove, or no device code at all, the wheel is copied byte for byte.
///
/// Before the file gets its name it is read back: changed members are inflated piece by piece and compared with what
/// was proven (zip/read_back.hpp), all others have the same stored bytes. Chunks of 1 MiB that do not change are not
/// packed again if the wheel holds them as pieces of their own, as the wheels that Quarry packs do.
///
/// Fails with invalid_argument W025 if the wheel lies in `output_dir`; failed W010 if the wheel is not sound, also if a
/// library does not match its digest in RECORD; not_found G114 if it holds device code, and none for the devices;
/// corrupt G101 for damaged device code; corrupt W014 if the result does not read back; Z016 if it would be so small
/// that readers refuse it. The bytes depend on the wheel, the devices and the profile alone. Cost: members that may
/// hold code are inflated once, rarely twice; what stays of them is kept in files without names. Memory: O(workers).
Result<ThinReport> thin(const std::string& path, const ThinOptions& options, const std::string& output_dir);

} // namespace quarry::wheel
