#pragma once
// What may stand at the end of an unfinished command line. Pure but for the lookups that the caller gives.
#include "cli/command.hpp"
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quarry::cli {

struct Suggestion {
  std::string text;
  std::string about = {}; ///< one line; may be empty
};

struct Completion {
  std::vector<Suggestion> candidates; ///< those that begin with the last word
  bool files = false;                 ///< names of files fit as well
};

/// Names that are not in the table of commands. Each is asked at most once, and only if such a name is completed.
struct Lookups {
  std::function<std::vector<Suggestion>()> channels, policies, recipes, codes;
};

/// `words`: the command line without the program, up to the word that is completed (which may be empty). Understands
/// flags of every command before the command's name, `help COMMAND`, values of flags, `--flag=value`, and words behind
/// `--`, which are a command of the user's. A line that is wrong already gets nothing.
Completion complete(std::span<const Command> commands, std::span<const std::string> words, const Lookups& lookups);

} // namespace quarry::cli
