#pragma once
// Where files come from: a directory, or a revision of a git repository. Reads by `sys` alone.
#include "base/result.hpp"
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace quarry::workflow {

constexpr std::size_t k_listed_files_max = 200'000; ///< rocm-libraries, the largest repository of the field, has 90,000
constexpr std::size_t k_listed_depth_max = 8;       ///< build files of the field lie at most 6 directories deep
constexpr std::uint64_t k_git_deadline_ms = 60'000; ///< listing a revision takes 0.1 s; a network file system more

/// Files of one state of a repository. Paths are relative to its root, '/' separated. Not thread-safe.
class Tree {
public:
  virtual ~Tree() = default;
  /// Whether a file or directory is there.
  virtual bool exists(const std::string& path) = 0;
  /// The names of files directly in `directory`, sorted; empty when it does not exist.
  virtual std::vector<std::string> files_in(const std::string& directory) = 0;
  /// All files, sorted; of a directory at most k_listed_depth_max deep, without `.git` and what git's own
  /// submodules hold. One walk, or one git process.
  virtual std::vector<std::string> files() = 0;
  /// not_found Y150 when it cannot be read.
  virtual Result<std::string> read(const std::string& path, std::uint64_t bytes_max) = 0;
};

/// The directory `root`; not_found Y150 when it is not a directory.
Result<std::unique_ptr<Tree>> open_directory(const std::string& root);

/// The same files, looked up below `prefix`, such as "../../" or "sub/". `tree` must live longer.
std::unique_ptr<Tree> below(Tree& tree, std::string prefix);

struct GitPlace {
  std::string directory; ///< of the work tree or the bare repository
  std::string revision;
  std::map<std::string, std::string> environment; ///< PATH for git
};
/// Runs git once to list the revision, then once for each file that is read. not_found Y151 when git does not know the
/// revision; missing_program D007.
Result<std::unique_ptr<Tree>> open_revision(const GitPlace& place);

/// Standard output of `git WORDS…` in the directory. not_found Y151 when it ends with an error; its
/// detail is git's reason, one line without the credentials of URLs.
Result<std::string> git(const GitPlace& place, std::vector<std::string> words);

/// not_found Y150 if the directory does not exist; Y151 if git finds no repository in it. One git process.
Result<void> check_repository(const GitPlace& place);

/// The paths of workflow files: `.github/workflows/*.yml`, or, where that directory does not exist, the `.yml` files
/// directly in the tree's root.
std::vector<std::string> workflow_files(Tree& tree);

} // namespace quarry::workflow
