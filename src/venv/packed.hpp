#pragma once
// Private to the room.
// What a wheel or sdist says it installs. The bytes were verified before.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "dist/unpacking.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::venv {

struct Expected {
  std::optional<Sha256> sha256; ///< nullopt: an installer rewrites it (scripts: their first line)
  std::optional<std::uint64_t> size;
};

struct WheelContent {
  std::map<std::string, Expected> files; ///< by path in site-packages ("../../../bin/x" for scripts); without RECORD
  std::set<std::string> scripts;         ///< names that entry points give
  std::string dist_info;
  std::optional<dist::Unpacking> unpacking = {}; ///< nullopt: it unpacks nothing
};
/// corrupt V034 when the wheel cannot be read. `python_minor` decides where headers go.
Result<WheelContent> read_wheel(const std::string& path, const std::string& python_minor);

/// The digests of an sdist's files. corrupt T0xx.
Result<std::set<Sha256>> read_sdist(const std::string& path);

/// The inner tar of a wheel that unpacks one (WheelContent::unpacking): files by path with their digest, symbolic links
/// by path with their text.
struct DevelPayload {
  struct File {
    Sha256 sha256;
    std::uint64_t size = 0;
  };
  std::map<std::string, File> files;
  std::map<std::string, std::string> links;
};
Result<DevelPayload> read_devel_payload(const std::string& wheel_path);

/// The names of [console_scripts] and [gui_scripts].
Result<std::set<std::string>> script_names(std::string_view entry_points);

} // namespace quarry::venv
