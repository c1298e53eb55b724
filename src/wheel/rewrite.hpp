#pragma once
// Changes of a wheel that leave its files alone: other tags, another build number. Only the end of the archive is made
// anew; the files are copied as they are stored, neither inflated nor hashed. And the proof: what two wheels have in
// common.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::wheel {

/// Changes of the tags in a file name. Each is a set joined by dots, "cp311.cp312". It replaces the set that the wheel
/// has; behind '+' it is added to that set, behind '-' taken from it. nullopt leaves it as it is.
struct Retag {
  std::optional<std::string> python = {}, abi = {}, platform = {};
  std::optional<std::string> build = {}; ///< a build number, "1" or "1_rocm"; empty removes it
};

struct Rewritten {
  std::string file_name, path;
  std::uint64_t size = 0;
};

/// Writes the wheel `path` with other tags below `output_dir`, atomically; an existing file is replaced. WHEEL and
/// RECORD change, signatures of RECORD are dropped; everything else has the same stored bytes. The rows of RECORD for
/// what is kept are those of the old one: the result is as sound as the wheel it was made from. Fails with
/// invalid_argument W023 for tags that cannot be set or change nothing, failed W010 if the archive or RECORD's names
/// are not sound, and the errors of zip::rewrite. Costs reading and writing the file once, in pieces of 1 MiB.
/// `on_progress` gets the bytes written so far.
Result<Rewritten> retag(const std::string& path, const Retag& changes, const std::string& output_dir,
                        const std::function<void(std::uint64_t)>& on_progress = {});

struct Derivation {
  std::uint64_t equal_files = 0, equal_bytes = 0;   ///< with the same content in both; bytes unpacked
  std::vector<std::string> changed, added, removed; ///< paths; those of dist-info as the derived wheel has them
  Findings findings;                                ///< W024, one for each path outside dist-info
};

/// Tells what the wheel `derived` has in common with the wheel `original`, whose version may differ: the directories
/// `.dist-info` and `.data` are compared whatever version is in their names. A difference outside dist-info is an error
/// W024. Fails with W010 if one of them is not a sound archive. Costs reading both; members whose stored bytes differ
/// are inflated.
Result<Derivation> compare_derived(const std::string& derived, const std::string& original);
/// A wheel's bytes, wherever they are, and what it is called: its path or address, which ends in the file's name.
struct PlacedWheel {
  content::Rope bytes;
  std::string place;
};
/// The same for wheels that are open.
Result<Derivation> compare_derived(const PlacedWheel& derived, const PlacedWheel& original);

} // namespace quarry::wheel
