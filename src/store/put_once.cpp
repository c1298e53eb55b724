#include "store/put_once.hpp"
#include "base/codes.hpp"

#include <fmt/core.h>

namespace quarry::store {

namespace {
Unexpected other_bytes_there(const std::string& key, const Sha256& published, const Sha256& wanted) {
  auto conflict = Error::of(ErrorKind::already_exists, "R009", fmt::format("`{}` is published with other bytes", key))
                      .with_hint("a published name never gets other bytes: give the new files another version");
  conflict.details = {"published  sha256 " + published.hex(), "new        sha256 " + wanted.hex()};
  return fail(std::move(conflict));
}
} // namespace

std::optional<Sha256> recorded_at(const ObjectInfo& info, std::optional<std::uint64_t> size) {
  return !size || info.size == *size ? info.recorded_sha256 : std::nullopt;
}

Result<bool> put_once(ObjectWriter& store, const std::string& key, const Once& once) {
  PutOptions options{Precondition::if_absent(), once.content_type, once.cache_control, once.on_progress, once.sha256};
  auto written = store.put(key, once.content, options);
  if (written) return true;
  auto error = std::move(written).error();
  bool lost = error.kind == ErrorKind::outcome_unknown;
  if (!lost && !error.is(codes::object_exists)) return fail(std::move(error));
  TRY(auto found, store.digest(key));
  if (!found)
    return fail(std::move(error)); // the lost write did not happen, or another job removed the object: run again
  if (*found == once.sha256) return lost;
  return other_bytes_there(key, *found, once.sha256);
}

Result<bool> copy_once(ObjectReader& source, const std::string& from, ObjectStore& target, const std::string& to,
                       const Once& once) {
  TRY(auto present, target.head(to));
  if (present && !once.hash && recorded_at(*present, once.size) == once.sha256) return false;
  bool lost = false; // the reply of the server that copied
  if (!present) {
    PutOptions options{Precondition::if_absent(), once.content_type, once.cache_control, once.on_progress, once.sha256};
    options.hash_source = once.hash;
    options.source_size = once.size;
    auto copied = target.copy_from(source, from, to, options);
    lost = !copied && copied.error().kind == ErrorKind::outcome_unknown;
    if (!copied && !lost && !copied.error().is(codes::object_exists)) return fail(std::move(copied).error());
    if (copied && *copied) return true;
    if (copied) {
      auto through = once;
      TRY(through.content, source.open(from));
      return put_once(target, to, through);
    }
  }
  TRY(auto found, target.digest(to));
  if (found == once.sha256) return lost;
  if (found) return other_bytes_there(to, *found, once.sha256);
  return fail(ErrorKind::outcome_unknown, "R004",
              fmt::format("{} did not confirm that `{}` was written", target.describe(), to),
              "run the same command again: it looks first");
}

} // namespace quarry::store
