#include "trial/chosen.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "dist/family.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>
#include <utility>

namespace quarry::trial {

namespace {
/// What was hashed is what runs: the files are written anew, where nothing else lies.
Result<Suite> defined_suite(const TrialOptions& options, const std::string& work) {
  const auto& definition = *options.definition;
  const auto& shard = options.shard;
  auto directory = path::join(work, "suite");
  TRY_DO(sys::make_directories(directory));
  for (const auto& file : definition.files) TRY_DO(sys::write_file(path::join(directory, file.name), file.bytes));
  Suite suite{definition.name,
              definition.digest.hex(),
              {},
              false,
              false,
              shard ? 1 : definition.min_passed,
              definition.command,
              {}};
  if (definition.has_report()) suite.report = path::join(work, "junit.xml");
  const std::pair<const char*, std::string> places[] = {{"{shard}", std::to_string(shard ? shard->index : 1)},
                                                        {"{shards}", std::to_string(shard ? shard->total : 1)},
                                                        {"{suite}", directory},
                                                        {"{junit}", suite.report}};
  for (auto& word : suite.command)
    for (const auto& [place, value] : places) word = text::replace_all(word, place, value);
  return suite;
}
} // namespace

Result<Suite> choose_suite(const TrialOptions& options, const venv::Environment& environment,
                           const std::vector<venv::InstalledFile>& files, const std::string& work) {
  if (options.definition) return defined_suite(options, work);
  bool packaged = options.command.empty();
  Suite suite{options.suite, "", options.junit, packaged, false, 1, options.command, {}};
  if (suite.name.empty()) suite.name = packaged ? k_packaged_suite : "command";
  if (packaged != (suite.name == k_packaged_suite)) {
    if (packaged) {
      auto hint = unread_suite(suite.name);
      if (hint.empty())
        hint = "`quarry suite list` shows those that are defined; or give the command that runs it: `--suite NAME -- "
               "CMD…`";
      return fail(ErrorKind::invalid_argument, "X003", fmt::format("no suite is called {}", suite.name),
                  std::move(hint));
    }
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
