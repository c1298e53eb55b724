#pragma once
// What was installed into an environment and where it came from: quarry-receipt.json (docs/formats/receipt.md), and for
// sources that nobody sealed quarry-lock.json, which freezes them.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "registry/digests.hpp"
#include "venv/environment.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::venv {

enum class FileKind : std::uint8_t { wheel, sdist };

/// One distribution in the environment that came from the source.
struct InstalledFile {
  std::string project, version; ///< project normalised
  std::string filename;         ///< the wheel, or the sdist that was built on this machine
  Sha256 sha256;                ///< of that file
  std::uint64_t size = 0;
  FileKind kind = FileKind::wheel;
  Sha256 content;  ///< digest over the RECORD rows with a hash; the same before and after devel expansion
  std::string url; ///< unsealed sources: where it came from
  bool operator==(const InstalledFile&) const = default;
};

struct OtherDistribution {
  std::string project, version;
  bool operator==(const OtherDistribution&) const = default;
};

struct Receipt {
  std::string locator; ///< as the user wrote it
  std::string source;  ///< what it meant then: "run:42-linux", "channel:staging", "directory:/x"
  std::string store;   ///< "file:/srv/store"; empty for unsealed sources
  bool sealed = false;
  std::vector<registry::SetDigest> sets; ///< that the files are in
  registry::ViewDigest view;             ///< of a channel
  std::uint64_t generation = 0;          ///< of a channel
  std::vector<std::string> packages;     ///< what was asked for
  std::vector<InstalledFile> files;      ///< sorted by project
  std::vector<OtherDistribution> others; ///< in the environment, from elsewhere: pip, setuptools
  std::string installer, installer_version, python_version, quarry_version, time;
  bool operator==(const Receipt&) const = default;
};

constexpr const char* k_receipt_name = "quarry-receipt.json";
constexpr const char* k_lock_name = "quarry-lock.json";

std::string to_json(const Receipt& receipt);
/// corrupt V020.
Result<Receipt> parse_receipt(NamedText named);
/// nullopt: the environment has none.
Result<std::optional<Receipt>> read_receipt(const Environment& environment);
/// Writes the receipt, and the lock of an unsealed source; atomically.
Result<void> write_receipt(const Environment& environment, const Receipt& receipt);
/// Before anything is installed: no receipt may outlive what it speaks of.
Result<void> remove_receipt(const Environment& environment);

} // namespace quarry::venv
