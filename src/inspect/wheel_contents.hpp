#pragma once
// What a finished wheel holds for the machine: libraries, programs, extension modules and device code, read in the same
// pass that verifies the wheel.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "elf/linking.hpp"
#include "inspect/device_code.hpp"
#include "inspect/text_leaks.hpp"
#include "pe/pe.hpp"
#include "wheel/wheel.hpp"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::inspect {

/// A file with machine code, with device code, or with a target in its path.
struct MachineFile {
  std::string member;              ///< its path in the wheel
  std::string installed;           ///< below site-packages; programs "../../../bin/x"
  std::optional<elf::Linking> elf; ///< an ELF file for the host
  std::optional<pe::Facts> pe;     ///< a Windows program or DLL
  DeviceFile device;               ///< its path is "x.whl!" and `member`
  Findings findings;               ///< elf::verify's; E001 or J001 for a damaged file
};

struct WheelContents {
  std::string path, file;          ///< `file` is the base name, with which places of findings begin
  wheel::VerifyReport report;      ///< of wheel::verify; `files` is incomplete if it has errors
  std::vector<MachineFile> files;  ///< sorted by `member`
  std::set<std::string> installed; ///< where all its files are installed
  /// Source text of modules that entry points name with an attribute: "rocm_sdk/cli.py". Only those of at most 1 MiB
  /// that nothing else in the wheel could stand in for, such as an extension module of the same name.
  std::map<std::string, std::string> sources;
  std::map<std::string, std::string> not_libraries; ///< files that are only named like libraries -> why: "is empty"
  std::map<std::string, TextLeaks> leaks;           ///< text files with paths of the build machine or with secrets
  std::vector<std::string> untyped_programs; ///< with execute bits in a mode without a type; no libraries, in order
};

struct LookOptions {
  unsigned workers = 1;
  std::string spool_directory;   ///< for members that cannot be read in one pass
  std::set<std::string> imports; ///< names of symbols to look for: elf::Linking::imports
  bool digest = false;           ///< also of the wheel file: VerifyReport::sha256
};

/// Verifies the wheel and looks into its files. Defects are findings, in the report or at their file. Fails as
/// wheel::verify does. Costs what wheel::verify costs and up to 100 MiB for each worker; a library whose tables are
/// scattered is inflated a second time into a file without a name.
Result<WheelContents> look_into_wheel(const std::string& path, const LookOptions& options);
/// The same for a wheel whose bytes are anywhere; `path` is what messages call it and ends in the file name. All bytes
/// are read, some twice and at several places at once: fetch those of a server first.
Result<WheelContents> look_into_wheel(const content::Rope& bytes, const std::string& path, const LookOptions& options);

} // namespace quarry::inspect
