#include "publish/read_whole.hpp"

#include "base/text.hpp"
#include "dist/resolver_fields.hpp"
#include "index/site.hpp"
#include "publish/refuse.hpp"
#include "publish/resolve.hpp"
#include "sys/path.hpp"
#include "sys/timestamp.hpp"
#include "wheel/look.hpp"

namespace quarry::publish {

using registry::FileRecord;
using registry::HistoryFile;
using store::ObjectInfo;
using store::ObjectReader;
using store::ObjectStore;

namespace {

HistoryFile note_of(const FileRecord& file, const ObjectInfo& object) {
  HistoryFile note;
  note.filename = file.filename;
  note.project = file.project;
  note.version = file.version;
  note.size = file.size;
  note.etag = object.etag;
  note.sha256 = file.sha256;
  note.digest_from = registry::digest_source::k_read;
  note.metadata_sha256 = file.metadata_sha256;
  note.requires_python = file.requires_python;
  if (object.modified_us) note.upload_time = sys::Timestamp::from_us(object.modified_us).text();
  note.key = file.key;
  return note;
}

/// What the note says, with METADATA from the wheel itself, by ranges; nullopt if the note does not fit the wheel.
Result<std::optional<ReadWhole>> from_note(ObjectReader& store, const HistoryFile& note) {
  ReadWhole read;
  read.planned.file = registry::shown_file(note);
  read.planned.file.tags = tags_of(note.filename);
  read.planned.present = true;
  if (!note.filename.ends_with(".whl")) return std::optional(std::move(read));
  TRY(auto rope, store.open(note.key));
  TRY(auto found, wheel::look_at_metadata(rope, note.filename));
  bool same = note.metadata_sha256 == sha256(found.text) && note.project == found.name.project.str() &&
              note.version == found.name.version.str();
  if (!same) return std::optional<ReadWhole>();
  const auto& wanted = found.metadata.requires_python;
  read.planned.file.requires_python = dist::Specifiers::parse(wanted) ? wanted : std::string();
  read.planned.sidecar = std::move(found.text);
  return std::optional(std::move(read));
}

/// Whether the error is about the package. An interruption or a full disk is not, and nobody gives a package up for it.
bool says_of_package(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::failed ||
         error.kind == ErrorKind::invalid_argument;
}

/// Nobody has the file that was read for a moment.
Error about_key(Error error, const std::string& path, const std::string& key) {
  error.message = text::replace_all(error.message, path, key);
  error.hint = text::replace_all(error.hint, path, key);
  for (auto* lines : {&error.details, &error.context})
    for (auto& line : *lines) line = text::replace_all(line, path, key);
  return error;
}

} // namespace

bool must_be_read(const ObjectInfo& object, const AdoptNotes& notes) {
  const auto* note = notes.find(object);
  bool proven = note && note->digest_from == registry::digest_source::k_read && note->sha256;
  return !proven || note->etag.empty() || note->etag != object.etag; // size and time alone do not prove the bytes
}

Result<ReadWhole> read_whole(ObjectStore& store, const ObjectInfo& object, const AdoptNotes& notes,
                             const AdoptOptions& options) {
  if (!must_be_read(object, notes)) {
    TRY(auto noted, from_note(store, *notes.find(object)));
    if (noted) return std::move(*noted);
  }
  auto on_disk = path_of_key(store, object.key);
  auto local = on_disk ? Result<index::LocalFile>(index::LocalFile(*on_disk))
                       : index::fetched(store, object.key, options.temporary);
  if (!local) return fail(std::move(local).error());
  ReadWhole read;
  auto asked = options.describe(local->path(), 1);
  auto sound = asked ? refuse_libraries_without_library(*asked) : Result<void>(fail(asked.error()));
  if (!sound) {
    if (!says_of_package(sound.error())) return fail(std::move(sound).error());
    read.defect = on_disk ? std::move(sound).error() : about_key(std::move(sound).error(), local->path(), object.key);
    return read;
  }
  auto& described = *asked;
  described.file.key = object.key;
  if (object.modified_us) described.file.upload_time = sys::Timestamp::from_us(object.modified_us).text();
  described.file.tags = tags_of(described.file.filename);
  read.planned = {on_disk.value_or(""), std::move(described.file), std::move(described.sidecar), true};
  read.warnings = std::move(described.warnings);
  if (on_disk || !options.keep_notes) return read;
  const auto& file = read.planned.file;
  TRY_DO(write_adopt_note(store, notes.directory(), {note_of(file, object)}));
  return read;
}

} // namespace quarry::publish
