#pragma once
// Compares two sets of packages: which files, bytes, ELF dynamic sections, metadata and entry points differ, and which
// of these differences are expected. Reads the bytes of files that differ, and is pure otherwise.
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
  only_left,  ///< `place` is missing on the right
  only_right, ///< `place` is missing on the left
  content,    ///< the bytes differ
  elf,        ///< the bytes of two ELF files differ; `message` says in which parts
  mode,       ///< the file is executable on one side only
  link,       ///< the link has another target, or is a link on one side only
  metadata,   ///< a field of METADATA, PKG-INFO or WHEEL
};
std::string_view to_string(Kind kind); ///< "only-left" …

/// One of the things that a difference consists of, so that a table can expect it without expecting the others.
struct Part {
  /// "pkg/lib/libx.so!run-path", "metadata:Requires-Dist:x; extra == \"y\"" … (docs/formats/differences.md)
  std::string place;
  Kind kind = Kind::content;
  std::string message;
};

struct Difference {
  /// "" the package itself; a path; "x.tar!path" inside a payload; "script:NAME", "entry:GROUP:NAME",
  /// "metadata:FIELD", "wheel:FIELD".
  std::string place;
  Kind kind = Kind::content;
  std::string message; ///< "left | right" where there is one
  std::string reason;  ///< why it is expected
  bool allowed = false;
  std::vector<Part> parts = {}; ///< with Detail::parts; empty: `place` says all that is known
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
  Findings findings;                 ///< Q003: rows of the table that matched no difference
  std::uint64_t equal() const, allowed() const, unexpected() const;
};

enum class Detail : std::uint8_t {
  files, ///< which files and values differ; what lies on one side alone is not opened
  parts, ///< also Difference::parts; opens the libraries that one side alone has
};

/// Pairs the wheels of one project by version and tags, then by tags alone, then those that are the only ones left. A
/// package without a partner is one difference. Fails if a file that differs, or a payload, cannot be read.
Result<Diff> compare(const std::vector<Package>& left, const std::vector<Package>& right, const Allowed& allowed,
                     const ReadOptions& options, Detail detail = Detail::files);

} // namespace quarry::inspect
