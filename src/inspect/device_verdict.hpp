#pragma once
// Judges the device code of packages against the targets of a GPU family. Pure, thread-safe.
#include "base/finding.hpp"
#include "inspect/device_code.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

enum class Verdict : std::uint8_t {
  missing,     ///< a target was asked for, and no file has code for it or for a generic target that covers it (G103)
  extra,       ///< a file has code for a target that was not asked for (G104)
  uneven,      ///< some files have code for a target and others do not (G105)
  feature_mix, ///< a processor has code with and without the same feature setting: `gfx90a` and `gfx90a:xnack+` (G106)
  label_lie,   ///< the header of the code, its label and the file's path disagree about the target (G107)
  unconverted, ///< a file still embeds its code although the code of others moved to .kpack archives (G108)
};
std::string_view to_string(Verdict verdict); ///< "feature mix"

struct DeviceVerdict {
  Verdict verdict = Verdict::missing;
  std::string target; ///< empty for `unconverted`
  std::string file;   ///< empty for `missing`
  std::uint64_t bytes = 0;
};

/// What one target has in all files together. Variants (`:xnack+`) are targets of their own.
struct TargetSum {
  std::string target;
  std::uint64_t count = 0, bytes = 0;
  std::size_t files = 0;
  bool asked = true; ///< it runs on a target that was asked for; true if nothing was
};

struct Asked {
  std::string family;               ///< for messages
  std::vector<std::string> targets; ///< processors; empty: nothing is missing, and nothing is extra
};

struct Judgement {
  std::vector<TargetSum> targets; ///< sorted: gfx908 before gfx1030
  std::vector<DeviceVerdict> verdicts;
  Findings findings; ///< of the files, then one for each file or target with a verdict
};

/// The code objects of one file for one target.
struct TargetCode {
  std::string name; ///< of `target`, as people write it
  gpu::Target target;
  gpu::Container container = gpu::Container::elf; ///< of the first one
  std::uint64_t count = 0, bytes = 0;
};
/// Sums the code objects of a file by target, in the order of target_less().
std::vector<TargetCode> code_by_target(const gpu::Contents& contents);

/// A variant (`gfx90a:xnack+`) counts as its processor, a generic target as every processor that it covers. Time:
/// linear in the code objects.
Judgement judge(const DeviceCode& code, const Asked& asked);

/// Orders targets as people do: by their number, gfx908 before gfx90a before gfx1030.
bool target_less(std::string_view a, std::string_view b);

} // namespace quarry::inspect
