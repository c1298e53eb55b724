#pragma once
// The command line that people paste to install what a page shows. Pure. Its parts:
//   requirement_of()                      what: "rocm[libraries,devel]"
//   install_words()                       what a page shows, with --pre if needed
//   installer_words() (addresses.hpp)     from where: --index-url URL
//   install_line()                        the whole line
#include "pages/addresses.hpp"
#include "registry/records.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// Returns the requirement for pip. For a set with `rocm`: `"rocm[libraries,devel]"`, in quotes. The extras are
/// libraries, devel, profiler and device-TARGET, each only if the set has its packages; device-all replaces several
/// device-TARGET if `rocm` has it. If no record says which extras `rocm` has, it counts as having all of them. Without
/// any extra: `rocm`, without quotes. For another set: its projects, separated by spaces. If `rocm` has no extra
/// device-TARGET, its extra `device` is used if the set has device code of one target only, as TheRock's scripts make
/// it. In any other case the project is named: `"rocm[libraries]" rocm-sdk-device-gfx942`.
std::string requirement_of(const registry::SetRecord& set);
/// The same without quotes, and of the device code only that of these targets, which the set must have.
std::string requirement_for(const registry::SetRecord& set, const std::vector<std::string>& targets);
/// Returns the arguments of `pip install` for a page: the requirement, with `--pre` if a version is a pre-release.
/// "PROJECT" replaces a requirement that is empty or longer than 60 characters.
std::string install_words(const std::vector<registry::FileRecord>& files);
/// Returns the whole line: `pip install "rocm[libraries,devel]" --index-url URL`, with `--pre` if a version is a
/// pre-release, and `--no-index --find-links URL` if no index answers. If the index URL is a `file:` URL, pip's check
/// for a newer pip is switched off, because it would end in a warning about `pip/`.
std::string install_line(const registry::SetRecord& set, const Addresses& from);

} // namespace quarry::pages
