#pragma once
// Private to the room.
// What all HTML pages share: head, style, the line to install. No script, no other file, nothing that differs from run
// to run. Pure.
#include <string>
#include <string_view>

namespace quarry::index {

/// From <!DOCTYPE html> to the heading.
std::string page_head(std::string_view title);
/// `pip install …` for a page whose index is at `tree` ("simple/"; "" for the page itself, "../" for a project's). The
/// address is left to the reader: a page does not know under which URL it is read, and must not depend on it.
std::string install_hint(std::string_view tree, std::string_view words);
std::string page_end();

} // namespace quarry::index
