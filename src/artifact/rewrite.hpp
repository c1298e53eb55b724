#pragma once
// Private to the room.
// Objects that several jobs of a run write: the record of an upload, and pages.
#include "artifact/upload_files.hpp"
#include <functional>
#include <optional>
#include <string>

namespace quarry::artifact {

/// Read-modify-write by compare-and-swap: `make` gets the present text (nullopt: there is none) and returns the wanted
/// one, until no other writer was faster. Returns whether it wrote: false if the wanted text is there already. A write
/// whose outcome is unknown is tried again while the object has changed since. precondition_failed R003 after 20
/// rounds; otherwise the errors of `make` and of the store. A get and a put for each round.
Result<bool> rewrite(const UploadPlace& place, const std::string& key,
                     const std::function<Result<std::string>(const std::optional<std::string>&)>& make);

} // namespace quarry::artifact
