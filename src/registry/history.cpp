#include "registry/history.hpp"

#include "registry/distributions.hpp"
#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "registry/record_text.hpp"
#include "store/put_once.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::registry {

namespace {

constexpr const char* k_history_schema = "quarry.history/1";

Unexpected bad_history(std::string_view what, const std::string& why) {
  return fail(ErrorKind::corrupt, "R012", fmt::format("{}: {}", what, why));
}

Result<void> check_history(std::string_view what, const HistoryRecord& record) {
  if (record.files.empty()) return bad_history(what, "it names no file");
  for (std::size_t i = 0; i < record.files.size(); ++i) {
    const auto& file = record.files[i];
    if (i && !(record.files[i - 1].filename < file.filename))
      return bad_history(what, "its files are out of order or named twice");
    if (!is_project(file.project))
      return bad_history(what, fmt::format("`{}` is not a normalised project name", file.project));
    if (!store::check_key(file.key) || path::basename(file.key) != file.filename)
      return bad_history(what, fmt::format("{} cannot lie at \"{}\"", file.filename, file.key));
  }
  return {};
}

std::string history_key(const std::string& directory, const HistoryDigest& digest) {
  return fmt::format("{}{}{}", history_prefix(directory), digest.hex(), k_json);
}

Result<std::string> history_bytes(ObjectReader& store, const std::string& key) {
  TRY(auto bytes, store.get(key, k_record_bytes_max));
  if (!bytes) return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}", store.describe(), key));
  return std::move(*bytes);
}

} // namespace

template <class V, Either<HistoryFile> R> void fields(V& v, R& r) {
  v.text("filename", r.filename);
  v.text("project", r.project);
  v.text("version", r.version);
  v.number("size", r.size);
  v.text("etag", r.etag, Need::optional);
  v.digest("sha256", r.sha256);
  v.text("digest_from", r.digest_from, Need::optional);
  v.digest("metadata_sha256", r.metadata_sha256);
  v.text("requires_python", r.requires_python, Need::optional);
  v.text("upload_time", r.upload_time, Need::optional);
  v.text("key", r.key);
  v.text("yanked", r.yanked, Need::optional);
}

template <class V, Either<HistoryRecord> R> void fields(V& v, R& r) {
  v.text("directory", r.directory);
  v.list("files", r.files);
  v.time("time", r.time);
  v.text("who", r.who, Need::optional);
  v.text("why", r.why, Need::optional);
  v.text("tool", r.tool, Need::optional);
  v.texts("given_up", r.given_up);
}

std::string to_json(const HistoryRecord& record) { return write_document(k_history_schema, record); }

namespace {
Result<HistoryRecord> parse_history(std::string_view text, std::string_view what) {
  TRY(auto record, read_document<HistoryRecord>(text, Place{what}, k_history_schema));
  TRY_DO(check_history(what, record));
  return record;
}

/// The name of a record is the sha256 of its bytes.
Result<HistoryRecord> load_history(ObjectReader& store, const std::string& key) {
  TRY(auto bytes, history_bytes(store, key));
  auto name = sha256(bytes).hex() + std::string(k_json);
  if (name != path::basename(key))
    return fail(ErrorKind::corrupt, "R011", fmt::format("the record {} was altered", key),
                "restore it from a copy; or remove it, and `quarry set adopt` takes the files over again");
  TRY(auto record, parse_history(bytes, key));
  if (history_prefix(record.directory) + name == key) return record;
  return bad_history(key, fmt::format("it is about the directory {}", record.directory));
}
} // namespace

Result<HistoryRecord> read_history(ObjectReader& store, const std::string& key) {
  TRY(auto bytes, history_bytes(store, key));
  return parse_history(bytes, key);
}

std::string history_prefix(const std::string& directory) { return directory + "/history/"; }

Result<std::vector<HistoryDigest>> history_digests(ObjectReader& store, const std::string& directory) {
  TRY(auto listed, store.children(history_prefix(directory)));
  std::vector<HistoryDigest> digests;
  for (const auto& object : listed.objects) {
    std::string_view name = path::basename(object.key);
    if (!name.ends_with(k_json)) continue;
    if (auto digest = HistoryDigest::parse(name.substr(0, name.size() - k_json.size()))) digests.push_back(*digest);
  }
  std::ranges::sort(digests);
  return digests;
}

Result<std::vector<Stored<HistoryRecord>>> history_records(ObjectReader& store, const std::string& directory) {
  TRY(auto digests, history_digests(store, directory));
  std::vector<Stored<HistoryRecord>> records;
  for (const auto& digest : digests) {
    TRY(auto record, load_history(store, history_key(directory, digest)));
    records.push_back({digest, std::move(record)});
  }
  return records;
}

Result<HistoryDigest> put_history(ObjectStore& store, const HistoryRecord& record) {
  auto bytes = to_json(record);
  auto digest = sha256(bytes);
  auto key = fmt::format("{}{}{}", history_prefix(record.directory), digest.hex(), k_json);
  TRY_DO(parse_history(bytes, key)); // a record that nobody can read would make the directory unusable
  if (bytes.size() > k_record_bytes_max)
    return fail(ErrorKind::resource_exhausted, "R007",
                fmt::format("the history of {} would have {} bytes, more than the {} that are read at once",
                            record.directory, bytes.size(), k_record_bytes_max),
                "move files that nobody installs any more out of the directory, then run the command again");
  TRY_DO(store::put_once(
      store, key,
      {content::Rope::literal(std::move(bytes)), digest, "application/json", "public, max-age=31536000, immutable"}));
  return HistoryDigest(digest);
}

FileRecord shown_file(const HistoryFile& file) {
  FileRecord shown;
  shown.filename = file.filename;
  shown.project = file.project;
  shown.version = file.version;
  shown.size = file.size;
  shown.sha256 = file.sha256.value_or(Sha256());
  shown.metadata_sha256 = file.metadata_sha256;
  shown.requires_python = file.requires_python;
  shown.upload_time = file.upload_time;
  shown.key = file.key;
  shown.yanked = file.yanked;
  return shown;
}

Result<History> history_of(ObjectReader& store, const std::string& directory) {
  TRY(auto records, history_records(store, directory));
  History history;
  std::map<std::string, HistoryFile> files;
  for (auto& [digest, record] : records) {
    history.token += history_key(directory, digest);
    history.given_up.insert(history.given_up.end(), record.given_up.begin(), record.given_up.end());
    for (auto& file : record.files) {
      auto name = file.filename;
      files.try_emplace(std::move(name), std::move(file));
    }
  }
  for (auto& [name, file] : files) history.files.push_back(std::move(file));
  return history;
}

namespace {
/// The blocked file that this one is. A digest that a page of another tool says may be wrong, but a directory has each
/// name once.
const BlockedFile* blocked_in(const std::vector<BlockedFile>& blocked, const HistoryFile& file) {
  bool is_sure = file.sha256 && file.digest_from != digest_source::k_page;
  auto at = std::ranges::find_if(blocked, [&](const BlockedFile& one) {
    return one.sha256 == file.sha256 || (!is_sure && one.filename == file.filename);
  });
  return at == blocked.end() ? nullptr : &*at;
}
} // namespace

Result<void> hide_yanked(ObjectReader& store, const DistributionRecord& distribution, History& history) {
  const auto& blocked = distribution.shown.blocked;
  auto is_blocked = [&](const HistoryFile& file) { return blocked_in(blocked, file) != nullptr; };
  if (std::ranges::none_of(history.files, is_blocked)) return {};
  TRY(auto moves, distribution_moves(store, distribution, k_all_distribution_moves));
  auto yanked = yanked_there(distribution.shown, moves);
  std::erase_if(history.files, [&](const HistoryFile& file) {
    const auto* one = blocked_in(blocked, file);
    return one && yanked.contains(one->sha256);
  });
  return {};
}

std::vector<FileRecord> with_history(std::vector<FileRecord> files, const History& history) {
  std::set<std::string> names;
  for (const auto& file : files) names.insert(file.filename);
  for (const auto& file : history.files)
    if (!names.contains(file.filename)) files.push_back(shown_file(file));
  return files;
}

Result<std::string> history_token(ObjectReader& store, const std::string& directory) {
  TRY(auto digests, history_digests(store, directory));
  std::string token;
  for (const auto& digest : digests) token += history_key(directory, digest);
  return token;
}

} // namespace quarry::registry
