#pragma once
// Private to the room.
// The parts of a record of evidence that do not depend on who ran the suite.
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include "trial/report.hpp"
#include "venv/receipt.hpp"
#include <string>
#include <vector>

namespace quarry::trial {

/// The family tested: that of the installed libraries, or which of several `wanted` says. invalid_argument X002.
Result<std::string> family_of(const std::vector<venv::InstalledFile>& files, const std::string& wanted);
/// Whether `framework` is the project of one of the files; empty asks for none. invalid_argument X017.
Result<void> check_framework(const std::vector<venv::InstalledFile>& files, const std::string& framework);
/// Sorted by sha256.
std::vector<registry::FileRecord> subjects_of(const std::vector<venv::InstalledFile>& files);
constexpr std::uint64_t k_log_bytes_max = 64u << 20; ///< twice what a suite's output may have
/// `evidence/logs/{sha256}.txt`
std::string log_key(const std::string& text);
/// Writes the text once and returns its key.
Result<std::string> store_log(store::ObjectStore& store, std::string text);
void take_report(Report report, registry::EvidenceRecord& evidence);

} // namespace quarry::trial
