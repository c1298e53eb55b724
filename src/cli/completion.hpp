#pragma once
// Completion scripts for shells, generated from the command table: static text, so that pressing Tab never runs quarry.
// Pure.
#include "cli/command.hpp"
#include <span>
#include <string>

namespace quarry::cli {

std::string bash_completion(std::span<const Command> commands);
std::string zsh_completion(std::span<const Command> commands);
std::string fish_completion(std::span<const Command> commands);

} // namespace quarry::cli
