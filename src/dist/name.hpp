#pragma once
// Names of projects and distributions (PEP 503, PEP 427, PEP 625; packaging.python.org "Binary distribution format").
#include "base/result.hpp"
#include "dist/version.hpp"
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

constexpr std::size_t k_name_bytes_max = 255;      ///< it is part of a file name, and those have 255 bytes
constexpr std::size_t k_file_name_bytes_max = 255; ///< what Linux, Windows and macOS can create
/// Compressed tag sets multiply: the largest real wheel has 12 tags, and each becomes a line of WHEEL.
constexpr std::size_t k_tags_max = 4096;

/// Stands beside packages as long as more of them are being written there; left behind when that was killed.
constexpr const char* k_being_built = ".quarry-being-built";

/// A project's name in normal form: lower case, runs of - _ . as one '-'. invalid_argument M001.
class ProjectName {
public:
  static Result<ProjectName> parse(std::string_view text);
  const std::string& str() const { return text_; }
  std::string file_form() const; ///< '-' as '_', for file names and dist-info
  auto operator<=>(const ProjectName&) const = default;

private:
  explicit ProjectName(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct BuildTag {
  std::uint64_t number = 0;
  std::string rest;
  auto operator<=>(const BuildTag&) const = default;
};

struct WheelTags { ///< each a dot-joined set, as in the file name
  std::string python = "py3", abi = "none", platform = "any";
  std::vector<std::string> expanded() const; ///< "py3-none-any", …: the Tag lines of WHEEL
  bool operator==(const WheelTags&) const = default;
};

struct WheelName {
  ProjectName project;
  Version version;
  std::string raw_name, raw_version; ///< as written in the file name (legacy wheels are not normalised)
  std::optional<BuildTag> build;
  std::string raw_build;
  WheelTags tags;
  static Result<WheelName> parse(std::string_view file_name); ///< M002
  std::string dist_info() const { return raw_name + "-" + raw_version + ".dist-info"; }
};
/// The file name a writer must emit: normalised, build tag if any.
std::string wheel_file_name(const ProjectName& project, const Version& version, const std::string& build,
                            const WheelTags& tags);

struct SdistName {
  ProjectName project;
  Version version;
  std::string raw_name, raw_version;
  static Result<SdistName> parse(std::string_view file_name); ///< .tar.gz (and .zip when reading); M003
};

enum class DistributionKind : std::uint8_t { wheel, sdist };
struct DistributionName {
  DistributionKind kind;
  ProjectName project;
  Version version;
  std::string raw_version;
  static Result<DistributionName> parse(std::string_view file_name); ///< either; M002 or M003
};

} // namespace quarry::dist
