#pragma once
// Private to the room.
// What is wrong with a source's items before any is opened.
#include "artifact/source.hpp"
#include <string>

namespace quarry::artifact {

/// The finding A001 or A002 about a name that is left alone, with how much lies there (0: not known).
Finding no_artifact(const Error& error, std::string place, std::uint64_t bytes);
/// Sorts the items. Same name twice: nobody can say which is meant, so each carries the defect A006. Not so for an
/// archive whose extraction by a fetch stands beside it in `directory` (empty: not one).
void refuse_twins(Source& source, const std::string& directory);
/// not_found A033: something says that the archive is there, and it is not.
Error absent_error(const std::string& file);

} // namespace quarry::artifact
