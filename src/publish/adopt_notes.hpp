#pragma once
// Private to the room.
// What a run that takes over or seals a directory has looked at so far, in the store: `{directory}/history/notes/`. A
// killed run is resumed by any machine. A note counts for exactly the object that was looked at.
#include "registry/history.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::publish {

class AdoptNotes {
public:
  AdoptNotes() = default;
  AdoptNotes(std::string directory, std::map<std::string, registry::HistoryFile> files)
      : directory_(std::move(directory)), files_(std::move(files)) {}
  /// The note of this very object; nullptr without one.
  const registry::HistoryFile* find(const store::ObjectInfo& object) const;
  /// Where further notes go; empty on a disk, which is read again.
  const std::string& directory() const { return directory_; }

private:
  std::string directory_;
  std::map<std::string, registry::HistoryFile> files_; ///< by key
};

/// Whether an object is the one that `file` describes: ETag where the store lists one, size, time. Pure.
bool is_same_object(const registry::HistoryFile& file, const store::ObjectInfo& object);

/// A note that cannot be read, or whose name is not its digest, counts for nothing. One listing, and a read per note.
Result<AdoptNotes> read_adopt_notes(store::ObjectReader& store, const std::string& directory);
/// Writes nothing for no files.
Result<void> write_adopt_note(store::ObjectStore& store, const std::string& directory,
                              std::vector<registry::HistoryFile> files);
Result<void> remove_adopt_notes(store::ObjectStore& store, const std::string& directory);

/// P111, for an object that is not the one that was looked at.
Unexpected changed_since(const std::string& key);

/// Writes METADATA of a wheel as `{key}.metadata`, also in place of what another tool put there: pip refuses the wheel
/// when the two differ. For wheels that no set names.
Result<void> store_metadata_file(store::ObjectStore& store, const std::string& key, const std::string& text);

} // namespace quarry::publish
