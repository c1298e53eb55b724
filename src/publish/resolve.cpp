#include "publish/resolve.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "registry/distributions.hpp"
#include "registry/releases.hpp"
#include "run/find_runs.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>

namespace quarry::publish {

using registry::Resolved;
using store::ObjectReader;

namespace {

constexpr std::string_view k_file_url = "file://";

std::string without_slash(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

bool is_on_disk(const ObjectReader& store) { return store.url("x").starts_with(k_file_url); }

using Kind = run::LocatorKind;
const std::vector<Kind> k_in_a_store{Kind::run, Kind::set, Kind::channel};

Unexpected not_inside(const ObjectReader& store, const std::string& place) {
  if (!run::bare_word_meanings(place, k_in_a_store).empty())
    return fail(
        ErrorKind::invalid_argument, "P012", fmt::format("`{}` is not a locator", place),
        fmt::format(
            "the forms are run:ID, set:DIGEST, release:DIGEST, channel:NAME, or a directory in the store, such as "
            "`{}/`",
            place));
  return fail(ErrorKind::invalid_argument, "P012", fmt::format("{} is not inside {}", place, store.describe()),
              "publish it first: `quarry publish`; or, if it is in another store, name that: --store");
}

bool exists(ObjectReader& store, const std::string& meaning) {
  auto locator = run::parse_locator(meaning);
  if (!locator) return false;
  if (locator->kind == Kind::channel) {
    auto channel = registry::read_channel(store, locator->channel);
    return channel && *channel;
  }
  if (locator->kind == Kind::set) return registry::resolve_set(store, locator->digest).has_value();
  return run::find_run(store, *locator).has_value();
}

/// What the store has decides which locator a bare word was meant for. A word that it lacks is never called a channel.
Error with_meaning(ObjectReader& store, const std::string& word, Error error) {
  auto meanings = run::bare_word_meanings(word, k_in_a_store);
  if (!error.is(codes::path_outside_store) || meanings.empty()) return error;
  auto meant = meanings;
  std::erase_if(meant, [&](const std::string& meaning) { return !exists(store, meaning); });
  if (meant.empty() && !meanings.front().starts_with("channel:")) meant.push_back(meanings.front());
  if (!meant.empty()) error.hint = fmt::format("did you mean `{}`? {}", text::join(meant, "` or `"), error.hint);
  return error;
}

/// "s3://bucket/prefix/1-linux/python/g", or "1-linux/python/g" below it.
Result<std::string> key_of_place(const ObjectReader& store, std::string place) {
  auto root = without_slash(store.describe()) + "/";
  if (place.find("://") != place.npos) {
    if (!place.starts_with(root)) return not_inside(store, place);
    place = place.substr(root.size());
  }
  auto key = without_slash(place);
  if (key.starts_with('/')) return not_inside(store, place);
  TRY_DO(store::check_key(key));
  return key;
}

Result<Resolved> resolve_directory(ObjectReader& store, const run::Locator& locator) {
  bool path = locator.kind == run::LocatorKind::path;
  auto found = path ? key_of_path(store, locator.path) : key_of_place(store, locator.url);
  if (!found) return fail(with_meaning(store, locator.text, std::move(found).error()));
  const auto& key = *found;
  TRY(auto resolved, registry::resolve_directory(store, key));
  resolved.source = "directory:" + key;
  return resolved;
}

} // namespace

Result<std::string> path_of_key(const ObjectReader& store, const std::string& key) {
  auto url = store.url(key);
  if (url.starts_with(k_file_url)) return text::percent_decode(url.substr(k_file_url.size()));
  return fail(ErrorKind::unsupported, "P012",
              fmt::format("{} is not on this machine, so {} cannot be opened as a file", store.describe(), key),
              "copy it to a disk first, for instance with `quarry store get`");
}

Result<std::string> key_of_path(const ObjectReader& store, const std::string& path) {
  if (!is_on_disk(store)) return key_of_place(store, path);
  TRY(auto absolute, sys::absolute(path));
  TRY(auto inside, path_of_key(store, "x"));
  auto root = inside.substr(0, inside.size() - 1); // ends in '/'
  auto key = without_slash(absolute);
  // Relative to the store, as keys are printed, if the current directory has nothing of that name. A bare word is not.
  bool key_like = path.find('/') != path.npos && path.front() != '/' && path.front() != '.';
  bool relative = key_like && !key.starts_with(root) && !sys::exists(absolute);
  if (relative && sys::is_directory(root + path)) {
    TRY(key, sys::absolute(root + without_slash(path)));
  }
  if (!key.starts_with(root) || key.size() == root.size()) return not_inside(store, path);
  return key.substr(root.size());
}

Result<Resolved> resolve(ObjectReader& store, const run::Locator& locator) {
  TRY_DO(run::require_kind(locator,
                           {Kind::set, Kind::run, Kind::channel, Kind::path, Kind::s3, Kind::http, Kind::release},
                           "find sealed sets in"));
  switch (locator.kind) {
  case Kind::set: return registry::resolve_set(store, locator.digest);
  case Kind::channel: return registry::resolve_channel(store, locator.channel);
  case Kind::release: return registry::resolve_release(store, locator.digest);
  case Kind::path:
  case Kind::s3:
  case Kind::http: return resolve_directory(store, locator);
  default: break;
  }
  TRY(auto layout, run::find_run(store, locator));
  return registry::resolve_group(store, {without_slash(layout.prefix()), locator.group});
}

} // namespace quarry::publish
