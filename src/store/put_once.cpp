#include "store/put_once.hpp"

#include <fmt/core.h>

namespace quarry::store {

Result<std::optional<Sha256>> digest_of(ObjectStore& store, const std::string& key) {
  auto content = store.open(key);
  if (!content && content.error().kind == ErrorKind::not_found) return std::optional<Sha256>();
  if (!content) return fail(std::move(content).error());
  TRY(auto digest, content::sha256_of(*content), "while reading " + key);
  return std::optional(digest);
}

Result<bool> put_once(ObjectStore& store, const std::string& key, const Once& once) {
  PutOptions options{Precondition::if_absent(), once.content_type, once.cache_control, once.on_progress, once.sha256};
  auto written = store.put(key, once.content, options);
  if (written) return true;
  auto error = std::move(written).error();
  bool lost = error.kind == ErrorKind::outcome_unknown;
  if (!lost && error.code != "R002") return fail(std::move(error));
  TRY(auto found, digest_of(store, key));
  if (!found) return fail(std::move(error)); // a lost write that did not happen, or a rival that removed it: run again
  if (*found == once.sha256) return lost;
  Error conflict{ErrorKind::already_exists,
                 "R009",
                 fmt::format("`{}` is published with other bytes", key),
                 {},
                 {},
                 "a published name never gets other bytes: give the new files another version"};
  conflict.details = {"published  sha256 " + found->hex(), "new        sha256 " + once.sha256.hex()};
  return fail(std::move(conflict));
}

} // namespace quarry::store
