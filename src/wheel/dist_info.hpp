#pragma once
// Private to the room.
// The rules that join a wheel's file name, its dist-info directory and its paths (PyPA "Binary distribution format",
// PEP 427, 639, 815; rows W1-W9 of docs/formats/wheel.md but RECORD's digests). Pure: for wheels being written and
// wheels being read.
#include "base/finding.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::wheel {

/// The file and the member a finding is about: "x.whl!pkg/a.py".
std::string place_of(std::string_view file, std::string_view member = {});

struct DistInfoTexts {
  std::optional<std::string> metadata, wheel, entry_points; ///< absent: not in the wheel
};

struct DistInfo {
  std::optional<dist::Metadata> metadata;
  std::optional<dist::WheelInfo> wheel_info;
  std::vector<dist::EntryPoint> entry_points;
};

struct DistInfoCheck {
  std::string file_name; ///< of the wheel
  dist::WheelName name;  ///< the same, parsed
  std::string dist_info; ///< the directory, "x-1.0.dist-info"
  DistInfoTexts texts;
  const std::set<std::string, std::less<>>& paths;       ///< of all files in the wheel
  const std::set<std::string, std::less<>>& directories; ///< entries of directories, with a trailing '/'
};

inline constexpr std::string_view k_dist_info_suffix = ".dist-info";
/// "pkg" for "pkg/a.py".
std::string_view top_directory(std::string_view path);
/// "x-1.0.data" for "x-1.0.dist-info".
std::string data_directory(std::string_view dist_info);

/// Parses the texts and reports what does not fit together. Fields of METADATA and entry points that an installer could
/// not parse (M005, M010, M011, W009) are errors from Metadata-Version 2.1 on, else warnings.
DistInfo check_dist_info(const DistInfoCheck& check, Findings& findings);

/// Whether `directory` ("Foo.Bar-1.0.dist-info") belongs to the project and version of the file name, in whatever
/// spelling.
bool belongs_to(std::string_view directory, const dist::WheelName& name);

/// Paths that no wheel may hold, or whose installation installers disagree about: another dist-info or .data directory,
/// unknown keys below .data, files that only installers write.
void check_paths(const DistInfoCheck& check, Findings& findings);

} // namespace quarry::wheel
