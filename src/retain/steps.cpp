#include "retain/steps.hpp"

#include "store/put_once.hpp"
#include <fmt/core.h>

namespace quarry::retain {

using registry::Retired;
using registry::RetiredRecord;
using registry::Retirement;
using store::ObjectReader;
using store::ObjectStore;

namespace {

RetiredRecord stepped(RetiredRecord record, Retirement::Kind state, const Change& change) {
  record.state = state;
  record.since = sys::Timestamp::from_us(change.now_us);
  if (!change.who.empty()) record.who = change.who;
  if (!change.why.empty()) record.why = change.why;
  return record;
}

/// What is there now: this command may have changed it since it looked.
Result<Retired> present(ObjectReader& store, const Entry& entry) {
  TRY(auto now, registry::read_retired(store, entry.set.directory, entry.digest));
  if (now) return std::move(*now);
  return fail(ErrorKind::precondition_failed, "R003",
              fmt::format("another command removed {}", registry::retired_key(entry.set.directory, entry.digest)),
              "run the same command again");
}

Unexpected overtaken(const Entry& entry, const Retired& now) {
  return fail(ErrorKind::precondition_failed, "R003",
              fmt::format("another command was faster: set:{} is {} now", entry.digest.short_hex(), now.record.state),
              "run the same command again");
}

} // namespace

Result<void> tombstone(ObjectStore& store, const Entry& entry, const std::string& rule, const Change& change) {
  RetiredRecord record;
  if (entry.retired) record.unknown = entry.retired->record.unknown;
  record.set = entry.digest;
  record.directory = entry.set.directory;
  record.rule = rule;
  record.plan = change.plan;
  record.until = sys::Timestamp::from_us(change.now_us + change.grace_us);
  record.seal = entry.seal;
  record.files = entry.set.files.size();
  record.bytes = entry.bytes();
  TRY_DO(registry::swap_retired(store, entry.retired, stepped(std::move(record), Retirement::tombstoned, change)));
  return store.remove(registry::seal_key(entry.set.directory, entry.digest));
}

Result<void> restore(ObjectStore& store, const Entry& entry, const Change& change) {
  TRY(auto now, present(store, entry));
  if (now.record.state == Retirement::purged) return overtaken(entry, now);
  if (now.record.state != Retirement::kept)
    TRY_DO(registry::swap_retired(store, now, stepped(now.record, Retirement::kept, change)));
  const auto& bytes = now.record.seal;
  TRY_DO(store::put_once(
      store, registry::seal_key(entry.set.directory, entry.digest),
      {content::Rope::literal(bytes), sha256(bytes), "application/json", "public, max-age=31536000, immutable"}));
  return {};
}

Result<void> begin_purge(ObjectStore& store, const Entry& entry, const Change& change) {
  TRY(auto now, present(store, entry));
  if (now.record.state == Retirement::purging) return {}; // an earlier run was killed
  if (now.record.state != Retirement::tombstoned) return overtaken(entry, now);
  return registry::swap_retired(store, now, stepped(now.record, Retirement::purging, change));
}

Result<void> end_purge(ObjectStore& store, const Entry& entry, const Change& change) {
  TRY(auto now, present(store, entry));
  if (now.record.state == Retirement::purged) return {};
  if (now.record.state != Retirement::purging) return overtaken(entry, now);
  return registry::swap_retired(store, now, stepped(now.record, Retirement::purged, change));
}

} // namespace quarry::retain
