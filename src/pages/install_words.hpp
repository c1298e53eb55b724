#pragma once
// The line that people paste to install what a page shows. Pure text.
#include "pages/addresses.hpp"
#include "registry/records.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// `rocm[libraries,devel]` where the set has it; else the names of its projects.
std::string requirement_of(const registry::SetRecord& set);
/// The same for a page: words for pip without its own name, "PROJECT" where the names would fill the line.
std::string install_words(const std::vector<registry::FileRecord>& files);
/// `pip install "rocm[libraries,devel]" --index-url URL`, with `--pre` when a version is a pre-release; with
/// `--no-index --find-links URL` where no index answers. With files on this machine pip's look for a newer pip is
/// switched off: it would end in a warning about `pip/`.
std::string install_line(const registry::SetRecord& set, const Addresses& from);

} // namespace quarry::pages
