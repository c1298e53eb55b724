#include "s3/journal.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "sys/identity.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_journal_max = 4 << 20; // 10,000 parts of 150 bytes
constexpr std::string_view k_journal_schema = "quarry.upload-journal/1";

std::optional<JournalEntry> parse_head(const Json& line) {
  JournalEntry entry;
  entry.upload_id = json::string_or(line, "upload_id", "");
  entry.nonce = json::string_or(line, "nonce", "");
  entry.sha256 = json::string_or(line, "sha256", "");
  entry.headers = json::string_or(line, "headers", "");
  auto size = json::unsigned_at({line, "journal"}, "size"), part = json::unsigned_at({line, "journal"}, "part_size");
  if (!json::require_schema({line, "journal"}, k_journal_schema) || entry.upload_id.empty() || !size || !part)
    return {};
  entry.size = *size;
  entry.part_size = *part;
  return entry;
}

void read_part(const Json& line, JournalEntry& entry) {
  auto number = json::unsigned_at({line, "journal"}, "part"), size = json::unsigned_at({line, "journal"}, "size");
  auto crc = json::unsigned_at({line, "journal"}, "crc64nvme");
  if (number && size && crc)
    entry.parts[static_cast<unsigned>(*number)] = {json::string_or(line, "etag", ""), *crc, *size};
}

std::optional<JournalEntry> parse(std::string_view text) {
  std::optional<JournalEntry> entry;
  for (const auto& line : text::lines(text)) {
    auto document = json::parse({line, "journal"});
    bool whole = document && document->is_object(); // false: cut short by a kill or a full disk
    if (entry && !whole) continue;
    if (!whole) break;
    if (entry) {
      read_part(*document, *entry);
      continue;
    }
    entry = parse_head(*document);
    if (!entry) break;
  }
  return entry;
}

} // namespace

std::optional<Journal> Journal::open(const JournalPlace& place, const std::string& object) {
  if (place.directory.empty() || !sys::make_directories(place.directory, 0700)) return {};
  auto path = path::join(place.directory, quarry::sha256(object).hex() + ".jsonl");
  auto file = sys::File::open_append(path);
  if (!file || ::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) return {};
  // Its owner may have removed the file before we locked it. The name is then free for another run, whose upload is not
  // ours to resume.
  if (!sys::is_named(*file, path)) return {};
  Journal journal(std::move(*file), path);
  if (auto text = sys::read_file(path, k_journal_max)) {
    journal.entry_ = parse(*text);
    if (!text->empty() && !text->ends_with('\n'))
      static_cast<void>(journal.file_.write("\n")); // the next line is its own
  }
  return journal;
}

void Journal::begin(const JournalEntry& entry) {
  entry_ = entry;
  entry_->parts.clear();
  Json head{{"schema", k_journal_schema},  {"upload_id", entry.upload_id}, {"nonce", entry.nonce},
            {"sha256", entry.sha256},      {"headers", entry.headers},     {"size", entry.size},
            {"part_size", entry.part_size}};
  static_cast<void>(file_.truncate(0));
  static_cast<void>(file_.write(json::text(head) + "\n"));
}

void Journal::add(unsigned number, const JournalPart& part) {
  Json line{{"part", number}, {"etag", part.etag}, {"crc64nvme", part.crc64nvme}, {"size", part.size}};
  std::lock_guard lock(*mutex_);
  static_cast<void>(file_.write(json::lossy_text(line) + "\n")); // an ETag may be any bytes
}

void Journal::remove() { static_cast<void>(sys::remove_file(path_)); }

JournalPlace journal_place(const std::map<std::string, std::string>& environment) {
  auto variable = [&](const std::string& name) {
    auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  auto state = variable("XDG_STATE_HOME");
  if (state.empty() && !variable("HOME").empty()) state = path::join(variable("HOME"), ".local/state");
  return {path::is_absolute(state) ? path::join(state, "quarry/uploads") : std::string()};
}

} // namespace quarry::s3
