#pragma once
// What a CI job hands on: step outputs, summary, the line that people paste. Pure text.
#include "publish/publish.hpp"
#include <string>

namespace quarry::publish {

/// Lines for GITHUB_OUTPUT: package_find_links_url, package_index_url, package_set; with a base index
/// package_merged_index_url, if the run has several directories run_merged_index_url, and if it also has several groups
/// group_merged_index_url; with a channel channel_index_url, channel_merged_index_url and channel_generation. A URL
/// under which nothing answers has no line, as a set that is not sealed yet (a dry run); for a channel,
/// channel_find_links_url then holds the pages, with spaces between them.
std::string github_outputs(const Receipt& receipt);
/// Where the packages are installed from: the channel; else the index of all areas of the group or run, because those
/// of one area may need others, as torch needs rocm; else that of the directory. The run's does not count if it leaves
/// out what its groups disagree about (P053).
pages::Addresses widest(const Receipt& receipt);
/// Markdown for GITHUB_STEP_SUMMARY, ends with a blank line.
std::string step_summary(const Plan& plan, const Receipt& receipt);

} // namespace quarry::publish
