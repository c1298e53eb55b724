#pragma once
// What a CI job hands on: step outputs, summary, the line that people paste. Pure text.
#include "publish/publish.hpp"
#include <string>

namespace quarry::publish {

/// `rocm[libraries,devel]` where the set has it; else the names of its projects.
std::string requirement_of(const registry::SetRecord& set);
/// The same for a page: words for pip without its own name, "PROJECT" where the names would fill the line.
std::string install_words(const std::vector<registry::FileRecord>& files);
/// `pip install "rocm[libraries,devel]" --index-url URL`, with `--pre` when a version is a pre-release; with
/// `--no-index --find-links URL` where no index answers. With files on this machine pip's look for a newer pip is
/// switched off: it would end in a warning about `pip/`.
std::string install_line(const registry::SetRecord& set, const Addresses& from);

/// Lines for GITHUB_OUTPUT: package_find_links_url, package_index_url, package_set; with a base index
/// package_merged_index_url; with a channel channel_index_url, channel_merged_index_url and channel_generation. A URL
/// under which nothing answers has no line, as a set that is not sealed yet (a dry run); for a channel,
/// channel_find_links_url then holds the pages, with spaces between them.
std::string github_outputs(const Receipt& receipt);
/// Markdown for GITHUB_STEP_SUMMARY, ends with a blank line.
std::string step_summary(const Plan& plan, const Receipt& receipt);

} // namespace quarry::publish
