#pragma once
// Where an environment's files may come from: sealed sets of a store, or places that nobody sealed.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::venv {

/// One file that an installer may choose, where it lies on this machine.
struct Offered {
  registry::FileRecord file;             ///< filename, project, version, size, sha256
  std::string path;                      ///< local; empty: in a store that is elsewhere (stage.hpp)
  std::vector<registry::SetDigest> sets; ///< the sealed sets that hold it; empty when unsealed
};

struct Source {
  /// As written, URLs without credentials; what it means ("channel:staging", "directory:/x/dist").
  std::string locator, description;
  bool sealed = false;
  std::vector<Offered> files; ///< local sources; sorted by filename
  /// Files of the base index of the source's store (dependencies.hpp): offered to the installer, not part of the
  /// source.
  std::vector<Offered> dependencies;
  std::vector<registry::SealedSet> sets;
  std::string store; ///< describe() of the store; sealed sources
  registry::ViewDigest view;
  std::uint64_t generation = 0;
  /// Remote sources are handed to the installer as they are, with credentials: not for messages.
  std::optional<std::string> index_url; ///< empty text: no index at all
  std::vector<std::string> find_links;
  bool is_remote() const { return index_url.has_value() || !find_links.empty(); }
};

struct SourceRequest {
  std::string locator; ///< empty: the three below
  std::optional<std::string> index_url;
  std::vector<std::string> find_links;  ///< pages or directories with links
  std::string index_name;               ///< stable, prerelease, nightly, dev
  std::string index_subdir;             ///< a family's directory below the index of the name or the URL
  store::ObjectReader* store = nullptr; ///< null: none was named
};

/// invalid_argument V005 (nothing, or too much, was named), not_found R013 (not sealed yet), L00x, R0xx, unsupported
/// V006 (a set of a store that is elsewhere, without that store), V036 (a run without a seal whose groups hold a file
/// of one name). Files of an unsealed directory are hashed here; those of an unsealed run in a store that is elsewhere
/// have a sha256 of zeros until stage_files() (stage.hpp).
Result<Source> find_source(const SourceRequest& request);

/// Paths of offered files whose bytes were compared with the set record during this command.
using VerifiedPaths = std::set<std::string>;

/// Re-hashes these files, but not those in `verified`, where it adds them. Wheels of unsealed sources are verified
/// whole instead. corrupt V007 (not the file that was sealed), W010.
Result<void> verify_files(const Source& source, const std::vector<const Offered*>& files, unsigned workers,
                          VerifiedPaths& verified);

/// What an installer will choose as a rule: every sdist (its build runs code before anybody can look) and, of each
/// project, the newest version. The files that it did choose are verified afterwards.
Result<std::vector<const Offered*>> likely_choices(const Source& source);

} // namespace quarry::venv
