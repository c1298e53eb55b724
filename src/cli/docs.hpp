#pragma once
// Reference pages from the command table: Markdown for docs/commands, roff for man(1). Pure; tools/generate-docs writes
// them.
#include "cli/command.hpp"
#include <map>
#include <span>
#include <string>

namespace quarry::cli {

/// File name -> content: one page per command ("artifact-fetch.md") and "README.md" that lists them.
std::map<std::string, std::string> markdown_pages(std::span<const Command> commands);
/// "quarry.1" and one page per command: "quarry-artifact-fetch.1".
std::map<std::string, std::string> man_pages(std::span<const Command> commands);
/// docs/exit-codes.md.
std::string exit_codes_page();

} // namespace quarry::cli
