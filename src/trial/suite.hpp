#pragma once
// Suites as definitions: data/suites/NAME.toml, docs/formats/suite.md. A name alone proves nothing, because any command
// may be called so; the digest of a definition says what was run.
#include "base/data_text.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::trial {

/// A file beside the definition, which the suite runs or reads.
struct SuiteFile {
  std::string name; ///< one path component
  std::string bytes;
};

struct SuiteDefinition {
  std::string name, about;
  std::vector<std::string> command; ///< `{suite}` is the directory with `files`, `{junit}` where the report is expected
  std::vector<SuiteFile> files;     ///< sorted by name
  bool gpu = false;                 ///< not run on a machine without a GPU that it can open
  bool cpu = false;                 ///< uses no GPU: the result counts for no GPU family
  std::int64_t min_passed = 1;      ///< with fewer, the result is an error; of shards: in all of them together
  std::int64_t shards = 1;          ///< how many jobs may run a part each; more than 1: `{shard}`, `{shards}` say which
  std::uint64_t deadline_ms = 0;    ///< 0: none is said
  Sha256 digest;                    ///< of canonical_suite()
  bool has_report() const;          ///< whether the command is given `{junit}`
};

/// Reads a file beside the definition by its name.
using ReadSuiteFile = std::function<Result<std::string>(const std::string& name)>;

/// Parses a definition. Fails with invalid_argument X026 (not TOML, too large) or X027 (`file:line: key: what is
/// wrong`), and as `read` does. At most 100 files of 16 MiB together.
Result<SuiteDefinition> parse_suite(NamedText named, const ReadSuiteFile& read);
/// The bytes whose sha256 is the digest: canonical JSON of what decides what is run, with the sha256 of each file.
/// `about` and comments do not count. Pure.
std::string canonical_suite(const SuiteDefinition& suite);

/// The definition that `named` means: a file, if it has a slash or ends in `.toml`; else one of data/suites, as the
/// repository or the program has it. nullopt: no suite of this name is defined. Fails as parse_suite() does, and with
/// D001 for a file that does not exist.
Result<std::optional<SuiteDefinition>> find_suite(const Resources& resources, const std::string& named);
/// Says what to do if `data/suites/NAME.toml` lies in the working directory and find_suite() does not look there,
/// because this is not the top of a git repository; "" if that file does not exist.
std::string unread_suite(const std::string& name);
/// The names that data/suites has, sorted.
std::vector<std::string> suite_names(const Resources& resources);

} // namespace quarry::trial
