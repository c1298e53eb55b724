#pragma once
// Wheels that were looked into, with the tables that they are judged by.
#include "cli/command.hpp"
#include "cli/far_file.hpp"
#include "inspect/abi3_rules.hpp"
#include "inspect/machine_rules.hpp"
#include "inspect/platform_verdict.hpp"
#include "inspect/wheel_contents.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct Tables {
  dist::Manylinux manylinux;
  dist::Musllinux musllinux;
  inspect::WindowsLibraries windows;
  inspect::StableAbi stable_abi;
  inspect::PlatformTables platforms() const { return {manylinux, musllinux}; }
};
Result<Tables> load_tables(const Context& context); ///< those inside the program

struct InspectedWheel {
  inspect::WheelContents contents;
  inspect::PlatformVerdict verdict;
};
struct WheelsToInspect {
  std::vector<FileOperand> operands;
  bool digest = false; ///< also of each file: VerifyReport::sha256, which only documents show
};
/// Looks into each wheel, with progress. Fails for the first one that cannot be read. Far wheels are fetched whole, one
/// after the other: RECORD is about all bytes.
Result<std::vector<InspectedWheel>> inspect_wheels(Context& context, const Tables& tables,
                                                   const WheelsToInspect& which);
/// VerifyReport::sha256 in hex; null if it was not asked for.
Json digest_json(const wheel::VerifyReport& report);

/// Their device code, as `quarry gpu list` would list it.
inspect::DeviceCode device_code_of(const std::vector<InspectedWheel>& wheels);

/// "manylinux_2_28_x86_64 holds, decided by GLIBC_2.27 (pkg/x.so)", or why there is no verdict.
std::string platform_text(const InspectedWheel& wheel);
/// {machine, libc, tag, symbols_tag, decided_by, foreign_libraries, private_symbols, processor_levels}; tags null
/// without a verdict.
Json verdict_json(const InspectedWheel& wheel);

} // namespace quarry::cli
