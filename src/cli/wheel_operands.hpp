#pragma once
// Wheels that a command is given: files here or far away, and directories that stand for the wheels in them.
#include "cli/command.hpp"
#include "cli/far_file.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarry::cli {

/// What an operand stands for: a file or directory as file_operand() takes it, or the wheels of `set:DIGEST`, `run:ID`,
/// `channel:NAME` or `release:DIGEST` in the store of `--store`: as paths if that is on this machine's disks, else as
/// far files, with one request each. Fails as file_operand() and publish::resolve() do; with invalid_argument Q006
/// without `--store`, and not_found W022 for sets without a wheel.
Result<std::vector<FileOperand>> files_of_operand(const Context& context, const Arguments& arguments,
                                                  const std::string& operand);

/// The wheels of all operands, each once: files_of_operand() them. A directory stands for its wheels or those of its
/// `dist/`, found as `publish` finds them; its source distributions are skipped, which is said. Fails as
/// files_of_operand() does, and with not_found W022 for a directory without a wheel.
Result<std::vector<FileOperand>> wheels_of(Context& context, const Arguments& arguments);
/// For a progress bar; what cannot be opened counts nothing.
std::uint64_t bytes_of_wheels(const std::vector<FileOperand>& wheels);
/// A wheel to be read whole: a far one is fetched first, into a file without a name; `fetched` hears the total so far.
/// What is not named like a wheel is not fetched: those who read wheels refuse it by its name. Fails as
/// content::Rope::file() and fetched_whole() do.
Result<content::Rope> bytes_of_wheel(const Context& context, const FileOperand& wheel,
                                     const std::function<void(std::uint64_t)>& fetched);

} // namespace quarry::cli
