#pragma once
// Private to the room.
// Objects that several jobs of a run write: the record of an upload, and pages.
#include "artifact/upload_files.hpp"
#include <functional>
#include <optional>
#include <string>

namespace quarry::artifact {

/// Reads an object, asks `make` for its new text, and writes that if nobody has written the object meanwhile; else it
/// starts again. `make` gets the text that the store has, or nullopt if it has none. Returns whether it wrote: false if
/// the new text is there already. If the outcome of a write is unknown, it tries again only when the object has
/// changed. Fails with precondition_failed R003 after 20 rounds, and with the errors of `make` and of the store. Each
/// round costs a get and a put.
Result<bool> rewrite(const UploadPlace& place, const std::string& key,
                     const std::function<Result<std::string>(const std::optional<std::string>&)>& make);

} // namespace quarry::artifact
