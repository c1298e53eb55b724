#pragma once
// Whether a branch, tag or commit exists in another repository: asks git about a copy, or, if allowed, a server.
#include "workflow/tree.hpp"
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::workflow {

/// What git knows of one repository's refs.
struct RefAnswer {
  std::set<std::string> found;   ///< of the names that were asked for
  std::set<std::string> unknown; ///< nobody can say: the copy is not whole, or a server is asked for a commit
};

/// Copies by OWNER/REPO, and the server to ask about all others. Not thread-safe.
class RefSource {
public:
  /// `place` is a clone, bare or not; its revision is not used. A directory without git's data adds nothing.
  void add(const std::string& repository, GitPlace place);
  /// From now on `git ls-remote SERVER/OWNER/REPO` is run for a repository without a copy. Without a prompt: a
  /// private repository that git needs a password for is one that cannot be read.
  void ask_server(std::string server, std::map<std::string, std::string> environment);
  bool online() const { return !server_.empty(); }

  /// One git process, or two for commits. nullopt: there is no copy and no server. not_found Y151 with git's own words
  /// when the repository cannot be read.
  Result<std::optional<RefAnswer>> ask(const std::string& repository, const std::set<std::string>& names) const;

private:
  std::map<std::string, GitPlace> copies_; ///< OWNER/REPO in lower case
  std::string server_;
  std::map<std::string, std::string> environment_;
};

} // namespace quarry::workflow
