#pragma once
// Wheels that a command is given: files here or far away, and directories that stand for the wheels in them.
#include "cli/command.hpp"
#include "cli/far_file.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarry::cli {

/// A directory stands for its wheels or those of its `dist/`, found as `publish` finds them; its source distributions
/// are skipped, which is said. Each wheel once. not_found W022 for a directory without a wheel; file_operand() has the
/// errors of wheels that are far away, which cost one request each.
Result<std::vector<FileOperand>> wheels_of(Context& context, const std::vector<std::string>& operands);
/// For a progress bar; what cannot be opened counts nothing.
std::uint64_t bytes_of_wheels(const std::vector<FileOperand>& wheels);
/// A wheel to be read whole: a far one is fetched first, into a file without a name; `fetched` hears the total so far.
/// What is not named like a wheel is not fetched: those who read wheels refuse it by its name. Fails as
/// content::Rope::file() and fetched_whole() do.
Result<content::Rope> bytes_of_wheel(const Context& context, const FileOperand& wheel,
                                     const std::function<void(std::uint64_t)>& fetched);

} // namespace quarry::cli
