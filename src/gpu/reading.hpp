#pragma once
// Private to the room.
// What the readers of the containers share: where they put objects and findings.
#include "gpu/bundle.hpp"
#include "gpu/contents.hpp"
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace quarry::gpu {

struct Reading {
  content::Rope file;
  std::string name; ///< the place of findings
  Contents contents = {};
  Budget budget = {};
  std::size_t hidden = 0; ///< findings beyond k_findings_max
  std::set<Target> labels = {};
  std::function<void(const Bundle&)> on_bundle = {}; ///< gets each bundle that was read, in the order of reading
};
constexpr std::size_t k_targets_max = 1024; // of a file; LLVM knows about 70 processors, some in 9 variants
constexpr std::size_t k_findings_max = 100; // of a file: more teach nobody anything

/// An error about the bytes (corrupt, unsupported) becomes a finding; any other error is passed on.
Result<void> keep(Reading& reading, const Error& error, std::string_view where);
void add_finding(Reading& reading, Finding finding);

/// Adds an object whose first bytes are `head`. An object with a label that is not a target becomes a finding.
void add_object(Reading& reading, CodeObject object, std::string_view head);
bool is_full(const Reading& reading);

/// All bundles in [begin, end) of the file: the first at `begin`, each next one a multiple of 4096 behind it, at the
/// first such place after the end of the one before that does not begin a page of zeros (a thinned bundle ends early).
/// `where` names the range in findings. The place of a bundle always comes from the size of the bundle before it. A
/// search for the magic would find it inside the code, too.
Result<void> read_bundles(Reading& reading, std::uint64_t begin, std::uint64_t end, std::string_view where);

/// The whole file, as read_contents() does it.
Result<void> read_all(Reading& reading);
Result<void> read_elf(Reading& reading);   ///< a code object, or a library or program with device code
Result<void> read_pe(Reading& reading);    ///< a Windows DLL or program with device code
Result<void> read_kpack(Reading& reading); ///< a .kpack archive
/// Registration records ({u32 magic, u32 version, u64 code, u64 reserved} each) in [begin, begin + size).
Result<void> read_records(Reading& reading, std::uint64_t begin, std::uint64_t size);

} // namespace quarry::gpu
