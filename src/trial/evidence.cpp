#include "trial/evidence.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/family.hpp"
#include "store/put_once.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::trial {

Result<std::string> family_of(const std::vector<venv::InstalledFile>& files, const std::string& wanted) {
  std::vector<std::string> found, shown;
  for (const auto& file : files)
    if (auto family = dist::family_of_libraries(file.project); !family.empty()) {
      shown.push_back(dist::family_name(family));
      found.push_back(std::move(family));
    }
  // If the libraries serve every target, the family is the target whose device code is installed. With device code of
  // several, only --family can say which one was tested: without it the evidence names no family.
  std::vector<std::string> targets;
  for (const auto& file : files)
    if (auto target = dist::target_of_device_code(file.project); !target.empty()) targets.push_back(std::move(target));
  if (found.empty() && (targets.size() == 1 || !wanted.empty())) found = shown = std::move(targets);
  if (!wanted.empty()) {
    auto key = dist::family_key(wanted);
    if (found.empty() || std::find(found.begin(), found.end(), key) != found.end()) return dist::family_name(wanted);
    return fail(ErrorKind::invalid_argument, "X002",
                fmt::format("family {} is not installed; {} is", wanted, text::join(shown, ", ")),
                "omit --family, or install that family");
  }
  if (found.size() <= 1) return found.empty() ? std::string() : dist::family_name(found.front());
  return fail(ErrorKind::invalid_argument, "X002",
              fmt::format("several families are installed: {}", text::join(shown, ", ")),
              "name the family of the tests with --family");
}

Result<void> check_framework(const std::vector<venv::InstalledFile>& files, const std::string& framework) {
  if (framework.empty()) return {};
  std::vector<std::string> installed;
  for (const auto& file : files) {
    if (file.project == dist::family_key(framework)) return {};
    installed.push_back(file.project);
  }
  return fail(ErrorKind::invalid_argument, "X017",
              fmt::format("framework {} is not among the tested packages", framework),
              fmt::format("these are: {}; install the framework's set in the same environment, such as "
                          "`quarry venv install .venv --from channel:NAME --packages \"rocm[libraries]\" {}`",
                          text::first(installed, 5), framework));
}

std::string log_key(const std::string& text) { return fmt::format("evidence/logs/{}.txt", sha256(text).hex()); }

Result<std::string> store_log(store::ObjectStore& store, std::string text) {
  auto digest = sha256(text);
  auto key = log_key(text);
  TRY_DO(
      store::put_once(store, key, {content::Rope::literal(std::move(text)), digest, "text/plain; charset=utf-8", {}}));
  return key;
}

void take_report(Report report, registry::EvidenceRecord& evidence) {
  evidence.rows = std::move(report.rows);
  evidence.passed = report.passed;
  evidence.failed = report.failed;
  evidence.skipped = report.skipped;
  evidence.errors = report.errors;
}

std::vector<registry::FileRecord> subjects_of(const std::vector<venv::InstalledFile>& files) {
  std::vector<registry::FileRecord> subjects;
  for (const auto& file : files) {
    registry::FileRecord record;
    record.filename = file.filename;
    record.project = file.project;
    record.version = file.version;
    record.size = file.size;
    record.sha256 = file.sha256;
    subjects.push_back(std::move(record));
  }
  std::sort(subjects.begin(), subjects.end(), [](const auto& a, const auto& b) { return a.sha256 < b.sha256; });
  return subjects;
}

} // namespace quarry::trial
