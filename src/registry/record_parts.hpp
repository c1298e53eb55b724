#pragma once
// Private to the room.
// The fields of the parts of records, such as files, cells and who wrote a record.
#include "registry/fields.hpp"
#include "registry/records.hpp"

namespace quarry::registry {

template <class V, Either<FileRecord> R> void fields(V& v, R& r) {
  v.text("filename", r.filename);
  v.text("project", r.project);
  v.text("version", r.version);
  v.number("size", r.size);
  v.digest("sha256", r.sha256);
  v.digest("metadata_sha256", r.metadata_sha256);
  v.text("requires_python", r.requires_python, Need::optional);
  v.text("upload_time", r.upload_time, Need::optional);
  v.text("key", r.key, Need::optional);
  v.text("yanked", r.yanked, Need::optional);
  v.text("tags", r.tags, Need::optional);
}

template <class V, Either<Origin> R> void fields(V& v, R& r) {
  v.text("run_id", r.run_id, Need::optional);
  v.word("platform", r.platform, Need::optional);
  v.text("group", r.group, Need::optional);
  v.text("commit", r.commit, Need::optional);
  v.text("recipe", r.recipe, Need::optional);
  v.text("tool", r.tool, Need::optional);
  v.text("repository", r.repository, Need::optional);
}

template <class V, Either<BlockedFile> R> void fields(V& v, R& r) {
  v.digest("sha256", r.sha256);
  v.text("filename", r.filename);
  v.text("reason", r.reason, Need::optional);
  v.number("generation", r.generation);
}

template <class V, Either<GuardAfter> R> void fields(V& v, R& r) {
  v.digest("policy", r.policy, Need::optional);
  v.number("keeps_from", r.keeps_from); // always written, so that the object is never empty
  v.digest("blocked", r.blocked);
}

template <class V, Either<Cell> R> void fields(V& v, R& r) {
  v.word("platform", r.platform, Need::optional);
  v.text("family", r.family, Need::optional);
  v.text("python", r.python, Need::optional);
  v.text("framework", r.framework, Need::optional);
  v.text("backend", r.backend, Need::optional);
}

template <class V, Either<TestRow> R> void fields(V& v, R& r) {
  v.text("name", r.name);
  v.word("outcome", r.outcome);
  v.text("message", r.message, Need::optional);
  v.real("seconds", r.seconds);
}

template <class V, Either<Identity> R> void fields(V& v, R& r) {
  v.text("actor", r.actor, Need::optional);
  v.text("repository", r.repository, Need::optional);
  v.text("workflow", r.workflow, Need::optional);
  v.text("commit", r.commit, Need::optional);
  v.text("run", r.run, Need::optional);
}

template <class V, Either<Shard> R> void fields(V& v, R& r) {
  v.number("index", r.index);
  v.number("total", r.total);
  v.number("min_passed", r.min_passed, Need::optional);
  v.text("run", r.run);
}

template <class V, Either<Attachment> R> void fields(V& v, R& r) {
  v.text("name", r.name);
  v.digest("sha256", r.sha256);
}

} // namespace quarry::registry
