#pragma once
// Private to the room.
// Variables of scripts whose values the files say. Nothing is executed. Pure.
#include "workflow/model.hpp"
#include <map>
#include <string>
#include <string_view>

namespace quarry::workflow {

/// Values by name. Names of PowerShell are in lower case and begin with `$`.
using Variables = std::map<std::string, std::string>;

/// The constants of `env` of the workflow, the job and the step; an inner one hides an outer one.
Variables environment_of(const File& file, const Job& job, const Step& step);

/// What the command assigns: `NAME=value`, `export NAME=value`, `$name = "value"`. A name whose value is not known any
/// more, such as `NAME=$(date)`, is removed.
void assign(const ShellCommand& command, Variables& variables);

/// The word with the values of `$NAME`, `${NAME}`, `${{ env.NAME }}`, `$env:NAME` and `$name`; unknown ones stay.
std::string expanded(std::string_view word, const Variables& variables);

} // namespace quarry::workflow
