#include "publish/adopt_notes.hpp"

#include "publish/publish.hpp"
#include "store/put_once.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

using registry::HistoryFile;
using store::ObjectInfo;
using store::ObjectReader;
using store::ObjectStore;

namespace {
std::string notes_prefix(const std::string& directory) { return registry::history_prefix(directory) + "notes/"; }

std::string note_key(const std::string& directory, const std::string& bytes) {
  return notes_prefix(directory) + sha256(bytes).hex() + ".json";
}
} // namespace

bool is_same_object(const HistoryFile& file, const ObjectInfo& object) {
  bool same_etag = file.etag.empty() || object.etag.empty() || file.etag == object.etag;
  auto time = object.modified_us ? sys::Timestamp::from_us(object.modified_us).text() : std::string();
  return same_etag && file.size == object.size && file.upload_time == time;
}

const HistoryFile* AdoptNotes::find(const ObjectInfo& object) const {
  auto at = files_.find(object.key);
  return at != files_.end() && is_same_object(at->second, object) ? &at->second : nullptr;
}

Result<AdoptNotes> read_adopt_notes(ObjectReader& store, const std::string& directory) {
  std::map<std::string, HistoryFile> files;
  TRY(auto objects, store.list(notes_prefix(directory)));
  for (const auto& object : objects) {
    auto note = registry::read_history(store, object.key);
    if (!note || object.key != note_key(directory, registry::to_json(*note))) continue;
    for (auto& file : note->files) {
      auto key = file.key;
      files.insert_or_assign(std::move(key), std::move(file));
    }
  }
  return AdoptNotes(directory, std::move(files));
}

Result<void> write_adopt_note(ObjectStore& store, const std::string& directory, std::vector<HistoryFile> files) {
  if (files.empty()) return {};
  std::ranges::sort(files, {}, &HistoryFile::filename);
  registry::HistoryRecord note;
  note.directory = directory;
  note.files = std::move(files);
  note.time = sys::Timestamp::from_us(0); // the same files give the same note
  auto bytes = registry::to_json(note);
  store::PutOptions options;
  options.content_type = "application/json";
  auto key = note_key(directory, bytes);
  TRY_DO(store.put(key, content::Rope::literal(std::move(bytes)), options));
  return {};
}

Result<void> remove_adopt_notes(ObjectStore& store, const std::string& directory) {
  TRY(auto objects, store.list(notes_prefix(directory)));
  for (const auto& object : objects) TRY_DO(store.remove(object.key));
  return {};
}

Unexpected changed_since(const std::string& key) {
  return fail(ErrorKind::precondition_failed, "P111",
              fmt::format("{} was replaced or removed after it was looked at", key),
              "nothing was written: run it again when the other tool is quiet");
}

Result<void> store_metadata_file(ObjectStore& store, const std::string& key, const std::string& text) {
  auto at = key + ".metadata";
  std::string etag;
  TRY(auto present, store.get(at, dist::k_metadata_bytes_max, &etag));
  if (present && *present == text) return {};
  if (present) {
    store::PutOptions options;
    options.precondition = store::Precondition::if_match(etag);
    options.content_type = k_sidecar_type;
    options.cache_control = k_immutable;
    TRY_DO(store.put(at, content::Rope::literal(text), options), "while replacing what is not METADATA of its wheel");
    return {};
  }
  TRY_DO(store::put_once(
      store, at, {content::Rope::literal(text), sha256(text), std::string(k_sidecar_type), std::string(k_immutable)}));
  return {};
}

} // namespace quarry::publish
