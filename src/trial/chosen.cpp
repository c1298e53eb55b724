#include "trial/chosen.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "dist/family.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>

namespace quarry::trial {

namespace {
/// What was hashed is what runs: the files are written anew, where nothing else lies.
Result<Suite> defined_suite(const SuiteDefinition& definition, const std::string& work) {
  auto directory = path::join(work, "suite");
  TRY_DO(sys::make_directories(directory));
  for (const auto& file : definition.files) TRY_DO(sys::write_file(path::join(directory, file.name), file.bytes));
  Suite suite{definition.name, definition.digest.hex(), {}, false, definition.min_passed, definition.command, {}};
  if (definition.has_report()) suite.report = path::join(work, "junit.xml");
  for (auto& word : suite.command)
    word = text::replace_all(text::replace_all(word, "{suite}", directory), "{junit}", suite.report);
  return suite;
}
} // namespace

Result<Suite> choose_suite(const TrialOptions& options, const venv::Environment& environment,
                           const std::vector<venv::InstalledFile>& files, const std::string& work) {
  if (options.definition) return defined_suite(*options.definition, work);
  bool packaged = options.command.empty();
  Suite suite{options.suite, "", options.junit, packaged, 1, options.command, {}};
  if (suite.name.empty()) suite.name = packaged ? k_packaged_suite : "command";
  if (packaged != (suite.name == k_packaged_suite)) {
    if (packaged)
      return fail(ErrorKind::invalid_argument, "X003", fmt::format("no suite is called {}", suite.name),
                  "`quarry suite list` shows those that are defined; or give the command that runs it: `--suite NAME "
                  "-- CMD…`");
    return fail(ErrorKind::invalid_argument, "X003",
                "rocm-sdk is the suite inside the packages: no other command may use its name",
                "choose another --suite NAME");
  }
  if (!packaged) {
    suite.digest = sha256(text::join(options.command, std::string("\0", 1))).hex();
    return suite;
  }
  suite.report = path::join(work, "report.json");
  suite.command = {environment.program("rocm-sdk"), "test", "--json", suite.report};
  if (!sys::exists(suite.command[0]))
    return fail(ErrorKind::not_found, "X005",
                fmt::format("{} has no rocm-sdk: the package rocm is not installed", options.directory),
                "install \"rocm[libraries,devel]\", or give a command after --");
  for (const auto& file : files)
    if (file.project == dist::k_sdk_project) suite.digest = file.sha256.hex();
  return suite;
}

} // namespace quarry::trial
