#include "registry/records.hpp"

#include "registry/distributions.hpp"
#include "registry/fields.hpp"
#include "registry/own_digest.hpp"
#include "registry/record_parts.hpp"
#include "registry/record_text.hpp"
#include "store/object_store.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

// The fields of each record, in the order of docs/formats/records.md; those of their parts are in record_parts.hpp.

template <class V, Either<SetRecord> R> void fields(V& v, R& r) {
  v.nested("origin", r.origin);
  v.text("directory", r.directory, Need::optional);
  v.digest("subset_of", r.subset_of, Need::optional);
  v.list("files", r.files);
}

template <class V, Either<SealRecord> R> void fields(V& v, R& r) {
  v.digest("set", r.set);
  v.text("directory", r.directory);
  v.time("time", r.time);
}

template <class V, Either<ViewRecord> R> void fields(V& v, R& r) {
  v.digests("sets", r.sets);
  v.digests("shards", r.shards);
}

template <class V, Either<ShardRecord> R> void fields(V& v, R& r) {
  v.text("project", r.project);
  v.list("files", r.files);
}

template <class V, Either<ChannelRecord> R> void fields(V& v, R& r) {
  v.text("name", r.name);
  v.number("generation", r.generation);
  v.digest("view", r.view);
  v.digest("previous", r.previous, Need::optional);
  v.digest("ledger", r.ledger);
  v.digest("policy", r.guard.policy, Need::optional);
  v.list("blocked", r.guard.blocked, Need::optional);
  v.number("keeps_from", r.guard.keeps_from, Need::optional);
}

template <class V, Either<Remark> R> void fields(V& v, R& r) {
  v.text("text", r.text);
  v.text("projects", r.projects, Need::optional);
  v.text("lacks", r.lacks, Need::optional);
  v.text("version", r.version, Need::optional);
  v.digest("waiver", r.waiver, Need::optional);
}

template <class V, Either<ShownSet> R> void fields(V& v, R& r) {
  v.digest("set", r.set);
  v.digest("source", r.source, Need::optional);
  v.list("remarks", r.remarks, Need::optional);
}

template <class V, Either<Feeder> R> void fields(V& v, R& r) {
  v.text("channel", r.channel);
  v.digest("policy", r.policy);
  v.digest("move", r.move);
}

template <class V, Either<DistributionRecord> R> void fields(V& v, R& r) {
  v.text("directory", r.directory);
  v.number("generation", r.generation);
  v.digest("view", r.view, Need::optional);
  v.list("sets", r.shown.sets);
  v.list("blocked", r.shown.blocked, Need::optional);
  v.digests("revoked", r.shown.revoked);
  v.list("fed_by", r.fed_by, Need::optional);
}

template <class V, Either<DistributionView> R> void fields(V& v, R& r) {
  v.text("directory", r.directory);
  v.number("generation", r.generation);
  v.digest("previous", r.previous, Need::optional);
  v.list("sets", r.shown.sets);
  v.list("blocked", r.shown.blocked, Need::optional);
  v.digests("revoked", r.shown.revoked);
  v.list("fed_by", r.fed_by, Need::optional);
  v.word("action", r.move.action);
  v.digest("plan", r.move.plan, Need::optional);
  v.text("who", r.move.who, Need::optional);
  v.time("when", r.move.when);
  v.text("why", r.move.why, Need::optional);
  v.digest("acknowledges", r.move.acknowledges, Need::optional);
  v.digests("history", r.move.history);
}

template <class V, Either<LedgerRecord> R> void fields(V& v, R& r) {
  v.digest("previous", r.previous, Need::optional);
  v.text("channel", r.channel);
  v.word("action", r.action);
  v.digest("from_view", r.from_view, Need::optional);
  v.digest("to_view", r.to_view);
  v.digest("plan", r.plan, Need::optional);
  v.digest("verdict", r.verdict, Need::optional);
  v.text("request", r.request, Need::optional);
  v.digest("policy", r.policy, Need::optional);
  v.digest("acknowledges", r.acknowledges, Need::optional);
  v.nested("guard", r.guard);
  v.nested("identity", r.identity);
  v.text("who", r.who, Need::optional);
  v.time("when", r.when);
  v.text("why", r.why, Need::optional);
  v.number("generation", r.generation);
}

template <class V, Either<EvidenceRecord> R> void fields(V& v, R& r) {
  v.list("subjects", r.subjects);
  v.nested("cell", r.cell);
  v.text("suite", r.suite);
  v.text("suite_digest", r.suite_digest, Need::optional);
  v.word("result", r.result);
  v.number("passed", r.passed);
  v.number("failed", r.failed);
  v.number("skipped", r.skipped);
  v.number("errors", r.errors);
  v.list("rows", r.rows);
  v.map("machine", r.machine);
  v.map("tools", r.tools);
  v.time("started", r.started);
  v.time("ended", r.ended);
  v.text("log", r.log, Need::optional);
  v.digest("set", r.set, Need::optional);
  v.digests("sets", r.sets);
  v.flag("sealed", r.sealed);
  v.text("reported", r.reported, Need::optional);
  v.nested("identity", r.identity);
  v.nested("shard", r.shard);
}

template <class V, Either<WaiverRecord> R> void fields(V& v, R& r) {
  v.text("channel", r.channel);
  v.text("suite", r.suite, Need::optional);
  v.text("reason", r.reason);
  v.text("approver", r.approver);
  v.text("requester", r.requester, Need::optional);
  v.text("repository", r.repository, Need::optional);
  v.text("run", r.run, Need::optional);
  v.time("created", r.created);
  v.time("expires", r.expires);
  v.nested("cell", r.cell);
  v.digests("sets", r.sets);
  v.nested("attachment", r.attachment);
}

bool is_project(const std::string& text) {
  if (text.empty() || text.starts_with('-') || text.ends_with('-') || text.find("--") != std::string::npos)
    return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

namespace {

// A record is data from outside: what becomes a path, a key or a link is checked before anybody uses it.

Result<void> nonsense(std::string_view what, std::string message) {
  return fail(ErrorKind::corrupt, "R012", fmt::format("{}: {}", what, message));
}

Result<void> check(const FileRecord& file, std::string_view what) {
  if (file.filename.find('/') != std::string::npos || !store::check_key(file.filename))
    return nonsense(what, fmt::format("`{}` is not a file name", file.filename));
  if (!is_project(file.project))
    return nonsense(what, fmt::format("`{}` is not a normalised project name", file.project));
  if (file.key.empty()) return {};
  if (!store::check_key(file.key)) return nonsense(what, fmt::format("`{}` is not a key", file.key));
  if (file.key != file.filename && !file.key.ends_with("/" + file.filename))
    return nonsense(what, fmt::format("`{}` does not end in {}", file.key, file.filename));
  return {};
}

Result<void> check_files(const std::vector<FileRecord>& files, std::string_view what) {
  const FileRecord* previous = nullptr;
  for (const auto& file : files) {
    TRY_DO(check(file, what));
    if (previous && previous->filename >= file.filename)
      return nonsense(what, fmt::format("`{}` is out of order or there twice", file.filename));
    previous = &file;
  }
  return {};
}

Result<void> check(const SetRecord& set, std::string_view what) {
  if (!set.directory.empty() && !store::check_key(set.directory))
    return nonsense(what, fmt::format("`{}` is not a directory", set.directory));
  return check_files(set.files, what);
}
Result<void> check(const SealRecord& seal, std::string_view what) {
  if (!store::check_key(seal.directory)) return nonsense(what, fmt::format("`{}` is not a directory", seal.directory));
  return {};
}
Result<void> check(const ViewRecord& view, std::string_view what) {
  for (const auto& [project, shard] : view.shards)
    if (!is_project(project)) return nonsense(what, fmt::format("`{}` is not a normalised project name", project));
  return {};
}
Result<void> check(const ShardRecord& shard, std::string_view what) {
  for (const auto& file : shard.files)
    if (file.project != shard.project)
      return nonsense(what, fmt::format("{} belongs to {}, not to {}", file.filename, file.project, shard.project));
  return check_files(shard.files, what);
}
Result<void> check(const EvidenceRecord& evidence, std::string_view what) {
  for (const auto& subject : evidence.subjects) TRY_DO(check(subject, what));
  const auto& shard = evidence.shard;
  if (shard && (shard->total < 2 || shard->total > k_shards_max || shard->index < 1 || shard->index > shard->total))
    return nonsense(what, fmt::format("shard {} of {} cannot be", shard->index, shard->total));
  if (shard && shard->run.empty()) return nonsense(what, "the shard does not say of which run it is");
  return {};
}
Result<void> check_blocked(const std::vector<BlockedFile>& blocked, std::string_view what) {
  const BlockedFile* previous = nullptr;
  for (const auto& file : blocked) {
    if (previous && !(previous->sha256 < file.sha256))
      return nonsense(what, fmt::format("the blocked {} is out of order or there twice", file.filename));
    previous = &file;
  }
  return {};
}
Result<void> check(const ChannelRecord& channel, std::string_view what) {
  return check_blocked(channel.guard.blocked, what);
}
Result<void> check_shown(const std::string& directory, const Shown& shown, std::string_view what) {
  if (!store::check_key(directory)) return nonsense(what, fmt::format("the directory \"{}\" is invalid", directory));
  return check_blocked(shown.blocked, what);
}
Result<void> check(const DistributionRecord& r, std::string_view what) {
  if (r.generation > 0 && r.view.empty()) return nonsense(what, "it names no move");
  return check_shown(r.directory, r.shown, what);
}
Result<void> check(const DistributionView& r, std::string_view what) { return check_shown(r.directory, r.shown, what); }
// What a ledger entry and a waiver name are digests, which are checked while they are read.
Result<void> check(const LedgerRecord&, std::string_view) { return {}; }
Result<void> check(const WaiverRecord&, std::string_view) { return {}; }

constexpr const char* k_first_distribution_schema = "quarry.distribution/1";
constexpr const char* k_distribution_view_schema = "quarry.distribution-view/1";

/// The schema of a record, for its reader and its writer.
template <class R> constexpr const char* k_schema_of = nullptr;
template <> constexpr const char* k_schema_of<SetRecord> = "quarry.set/1";
template <> constexpr const char* k_schema_of<SealRecord> = "quarry.seal/1";
template <> constexpr const char* k_schema_of<ViewRecord> = "quarry.view/1";
template <> constexpr const char* k_schema_of<ShardRecord> = "quarry.shard/1";
template <> constexpr const char* k_schema_of<LedgerRecord> = "quarry.ledger/1";
template <> constexpr const char* k_schema_of<WaiverRecord> = "quarry.waiver/1";
template <> constexpr const char* k_schema_of<DistributionView> = k_distribution_view_schema;

template <class R> std::string write(const R& record, const char* schema = k_schema_of<R>) {
  return write_document(schema, record);
}

template <class R> Result<R> read(NamedText named, const char* schema = k_schema_of<R>) {
  TRY(auto record, read_document<R>(named.text, Place{named.name}, schema));
  TRY_DO(check(record, named.name));
  return record;
}

template <class R> std::string write_proven(const R& record, const char* schema = k_schema_of<R>) {
  Writer writer;
  writer.write(record);
  writer.text("schema", schema);
  writer.digest(k_own_digest, sha256(writer.object()));
  return writer.object();
}

template <class R> Result<R> proven_record(const FlatJson& document, NamedText named, const char* schema) {
  TRY_DO(require_schema(document.root(), Place{named.name}, schema));
  TRY_DO(check_own_digest(document.root(), named));
  R record;
  TRY_DO(Reader::read(document.root(), Place{named.name}, record, k_own_digest));
  TRY_DO(check(record, named.name));
  return record;
}

template <class R> Result<R> read_proven(NamedText named, const char* schema = k_schema_of<R>) {
  TRY(auto document, FlatJson::parse(named));
  return proven_record<R>(document, named, schema);
}

bool has_schema(const FlatJson& document, std::string_view schema) {
  auto found = document.root().find("schema");
  return found && found->text() == schema;
}

/// A program that does not know guards must not move a channel that has one: it refuses an unknown major version.
const char* channel_schema(bool guarded) { return guarded ? "quarry.channel/2" : "quarry.channel/1"; }
/// A program that does not know shards must not take a part for the whole suite.
const char* evidence_schema(bool shard) { return shard ? "quarry.evidence/2" : "quarry.evidence/1"; }
const char* distribution_schema(bool guarded) { return guarded ? "quarry.distribution/3" : "quarry.distribution/2"; }

/// The first format: `directory` and `sets`, whose `source` may be an empty text.
Result<DistributionRecord> first_distribution(const Json& pointer, std::string_view what) {
  DistributionRecord record;
  TRY(record.directory, json::string_at({pointer, what}, "directory"));
  record.generation = 1;
  for (const auto& row : pointer.value("sets", Json::array()))
    if (auto set = SetDigest::parse(json::string_or(row, "set", "")))
      record.shown.sets.push_back({*set, SetDigest::parse(json::string_or(row, "source", "")).value_or(SetDigest())});
  TRY_DO(check_shown(record.directory, record.shown, what));
  return record;
}

constexpr const char* k_policy_schema = "quarry.policy/1";

} // namespace

std::string to_json(const SetRecord& r) { return write(r); }
std::string to_json(const SealRecord& r) { return write_proven(r); }
std::string to_json(const ViewRecord& r) { return write(r); }
std::string to_json(const ShardRecord& r) { return write(r); }
std::string to_json(const ChannelRecord& r) { return write_proven(r, channel_schema(!r.guard.empty())); }
std::string to_json(const LedgerRecord& r) { return write(r); }
std::string to_json(const EvidenceRecord& r) { return write(r, evidence_schema(r.shard.has_value())); }
std::string to_json(const WaiverRecord& r) { return write(r); }

Result<SetRecord> parse_set(NamedText named) { return read<SetRecord>(named); }
Result<SealRecord> parse_seal(NamedText named) { return read_proven<SealRecord>(named); }
Result<ViewRecord> parse_view(NamedText named) { return read<ViewRecord>(named); }
Result<ShardRecord> parse_shard(NamedText named) { return read<ShardRecord>(named); }
Result<ChannelRecord> parse_channel(NamedText named) {
  TRY(auto document, FlatJson::parse(named));
  bool guarded = has_schema(document, channel_schema(true));
  return proven_record<ChannelRecord>(document, named, channel_schema(guarded));
}
Result<LedgerRecord> parse_ledger(NamedText named) { return read<LedgerRecord>(named); }
Result<EvidenceRecord> parse_evidence(NamedText named) {
  TRY(auto document, FlatJson::parse(named));
  const Place place{named.name};
  bool shard = has_schema(document, evidence_schema(true));
  TRY_DO(require_schema(document.root(), place, evidence_schema(shard)));
  EvidenceRecord record;
  TRY_DO(Reader::read(document.root(), place, record));
  if (record.shard.has_value() != shard) TRY_DO(nonsense(named.name, "its schema and its shard contradict each other"));
  TRY_DO(check(record, named.name));
  return record;
}
Result<WaiverRecord> parse_waiver(NamedText named) { return read<WaiverRecord>(named); }
std::string to_json(const DistributionRecord& r) { return write_proven(r, distribution_schema(!r.fed_by.empty())); }
std::string to_json(const DistributionView& r) { return write(r); }
Result<DistributionRecord> parse_distribution(NamedText named) {
  TRY(auto document, FlatJson::parse(named));
  bool guarded = has_schema(document, distribution_schema(true));
  if (!has_schema(document, k_first_distribution_schema))
    return proven_record<DistributionRecord>(document, named, distribution_schema(guarded));
  TRY_DO(check_own_digest(document.root(), named));
  return first_distribution(document.root().json(), named.name);
}
Result<DistributionView> parse_distribution_view(NamedText named) { return read<DistributionView>(named); }
std::string to_json(const PolicyRecord& r) { return r.json; }
std::string to_json(const VerdictRecord& r) { return r.json; }
Result<PolicyRecord> parse_policy_record(NamedText named) {
  TRY(auto object, json::parse({named.text, named.name}));
  TRY_DO(json::require_schema({object, named.name}, k_policy_schema));
  return PolicyRecord{std::string(named.text)};
}

GuardAfter summary_of(const Guard& guard) {
  GuardAfter after{guard.policy, guard.keeps_from, {}};
  std::string blocked;
  for (const auto& file : guard.blocked) blocked += file.sha256.hex() + "\n";
  if (!blocked.empty()) after.blocked = sha256(blocked);
  return after;
}

} // namespace quarry::registry
