#pragma once
// Two sets of packages, compared: which files, bytes, ELF dynamic sections, metadata and entry points differ, and which
// of that is expected. Pure but for reading bytes of files that differ.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "inspect/allow.hpp"
#include "inspect/contents.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

enum class Kind : std::uint8_t {
  only_left,  ///< what `place` names is not on the right
  only_right, ///< … not on the left
  content,    ///< other bytes
  elf,        ///< other bytes of two ELF files; `message` says what differs in them
  mode,       ///< executable on one side only
  link,       ///< another target, or a link on one side only
  metadata,   ///< a field of METADATA, PKG-INFO or WHEEL
};
std::string_view to_string(Kind kind); ///< "only-left" …

struct Difference {
  /// "" the package itself; a path; "x.tar!path" inside a payload; "script:NAME", "entry:GROUP:NAME",
  /// "metadata:FIELD", "wheel:FIELD".
  std::string place;
  Kind kind = Kind::content;
  std::string message; ///< "left | right" where there is one
  std::string reason;  ///< why it is expected
  bool allowed = false;
};

struct Side {
  std::string file, version;
  std::uint64_t size = 0;
  Sha256 sha256;
};

struct PackageDiff {
  std::string package; ///< Package::label()
  std::optional<Side> left, right;
  std::uint64_t equal = 0; ///< files and values that agree
  std::vector<Difference> differences;
};

struct Diff {
  std::vector<PackageDiff> packages; ///< sorted by package
  Findings findings;                 ///< Q003: rows of the table that nothing needed
  std::uint64_t equal() const, allowed() const, unexpected() const;
};

/// Wheels of one project are paired by version and tags, then by tags, then the only ones; what has no partner is a
/// difference of its own.
Result<Diff> compare(const std::vector<Package>& left, const std::vector<Package>& right, const Allowed& allowed,
                     const ReadOptions& options);

} // namespace quarry::inspect
