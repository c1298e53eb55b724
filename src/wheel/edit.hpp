#pragma once
// Changes of what a wheel says about itself: fields of METADATA, licence files, SBOMs. The files that it installs are
// copied as they are stored; compare_derived() proves it.
#include "wheel/rewrite.hpp"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quarry::wheel {

struct AddedText {
  std::string name; ///< below licenses/ or sboms/: "LICENSE", "quarry.cdx.json"
  std::string text;
};

struct Edit {
  using Field = std::pair<std::string, std::string>; ///< "Summary", "the value"
  std::vector<Field> set;                            ///< in place of all values that the field has
  std::vector<Field> add;                            ///< one more value
  std::vector<std::string> remove;                   ///< fields that go
  std::vector<AddedText> licenses;                   ///< licenses/NAME and License-File: NAME (PEP 639)
  std::vector<AddedText> sboms;                      ///< sboms/NAME (PEP 770): CycloneDX as JSON
};

/// METADATA after the edit; other lines and the description stay as they are. A licence raises Metadata-Version to 2.4,
/// the first with License-File. Fails with invalid_argument W026 for a field that the file's name decides or that is
/// not there, for a value with a line break, and where the result cannot be read in one way. Pure.
Result<std::string> edited_metadata(const std::string& metadata, const Edit& edit);

/// Writes the wheel `path` with these changes below `output_dir`, under its own name, atomically. METADATA and RECORD
/// change, licences and SBOMs are added, signatures of RECORD are dropped; everything else has the same stored bytes.
/// Fails as edited_metadata() and retag() do; W026 also for a file that would replace the wheel itself, for a licence
/// or SBOM that it has, and for an SBOM that is not CycloneDX. Costs reading and writing the file once.
Result<Rewritten> edit(const std::string& path, const Edit& edit, const std::string& output_dir,
                       const std::function<void(std::uint64_t)>& on_progress = {});

} // namespace quarry::wheel
