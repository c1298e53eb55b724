#include "registry/record_text.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "registry/fields.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {
constexpr const char* k_release_schema = "quarry.release/1";
} // namespace

template <class V, Either<ExpectedParts> R> void fields(V& v, R& r) {
  v.words("platforms", r.platforms);
  v.texts("families", r.families);
  v.texts("pythons", r.pythons);
  v.texts("projects", r.projects);
  v.texts("frameworks", r.frameworks);
}

template <class V, Either<ReleaseRecord> R> void fields(V& v, R& r) {
  v.text("name", r.name, Need::optional);
  v.digests("sets", r.sets);
  v.nested("expect", r.expect);
  v.text("notes", r.notes, Need::optional);
}

std::string to_json(const ReleaseRecord& record) { return write_document(k_release_schema, record); }

Result<ReleaseRecord> parse_release(NamedText named) {
  const auto what = named.name;
  TRY(auto record, read_document<ReleaseRecord>(named.text, Place{what}, k_release_schema));
  auto unsorted = std::adjacent_find(record.sets.begin(), record.sets.end(),
                                     [](const SetDigest& a, const SetDigest& b) { return !(a < b); });
  if (record.expect.platforms.empty() && !record.expect.empty())
    return fail(ErrorKind::corrupt, "R012", fmt::format("{}: it expects something on no platform", what));
  if (!record.sets.empty() && unsorted == record.sets.end()) return record;
  return fail(ErrorKind::corrupt, "R012",
              fmt::format("{}: {}", what,
                          record.sets.empty() ? "it names no set" : "its sets are out of order or named twice"));
}

namespace {
bool may_be_digits(const std::string& word) {
  return word.size() >= 8 && word.size() <= ReleaseDigest::k_digits &&
         word.find_first_not_of("0123456789abcdef") == word.npos;
}

/// The record that cannot be read may have had the name too, so nobody knows which release is meant.
Unexpected may_be_another(const std::string& name, const Findings& skipped) {
  auto error = Error::of(ErrorKind::corrupt, "R021",
                         fmt::format("which release is called {} is unknown: {} cannot be read", name,
                                     skipped.size() == 1 ? "a record" : fmt::format("{} records", skipped.size())));
  for (const auto& finding : skipped) error.details.push_back(finding.place + ": " + finding.message);
  error.hint = "name the release by its digest, or restore the record from a copy of the store";
  return fail(std::move(error));
}

Result<ReleaseDigest> release_called(ObjectReader& store, const std::string& name) {
  Findings skipped;
  TRY(auto releases, list_releases(store, skipped));
  std::vector<std::string> found;
  for (const auto& [digest, record] : releases)
    if (record.name == name) found.push_back("release:" + digest.hex());
  if (found.size() < 2 && !skipped.empty()) return may_be_another(name, skipped);
  if (found.size() == 1) return *ReleaseDigest::parse(found.front().substr(std::string_view("release:").size()));
  if (found.empty())
    return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no release called {}", store.describe(), name),
                "`quarry release list` names them");
  return fail(
      Error::of(ErrorKind::invalid_argument, "R024", fmt::format("{} releases are called {}", found.size(), name))
          .with_details(std::move(found))
          .with_hint("name the one that you mean by its digest; `quarry release show` tells what it holds"));
}
} // namespace

Result<void> check_release_name(const std::string& name) {
  auto refuse = [](const std::string& why) {
    return fail(ErrorKind::invalid_argument, "R025", why, "name it as people call it, such as 7.2.0");
  };
  if (text::trim(name).empty()) return refuse("the name of the release is empty");
  if (may_be_digits(text::lower(name)))
    return refuse(fmt::format("{} cannot be the name of a release: it looks like the digits of one", name));
  return {};
}

Result<ReleaseDigest> find_release(ObjectReader& store, const std::string& word) {
  if (!may_be_digits(word)) return release_called(store, word);
  auto digest = complete_release_digest(store, word);
  if (digest || digest.error().kind != ErrorKind::not_found) return digest;
  auto called = release_called(store, word); // a name may look like digits: 20261123
  bool meant = called || called.error().kind != ErrorKind::not_found;
  return meant ? std::move(called) : std::move(digest);
}

Result<Resolved> resolve_release(ObjectReader& store, const std::string& word) {
  TRY(auto digest, find_release(store, word));
  TRY(auto record, load_release(store, digest));
  Resolved resolved;
  resolved.source = "release:" + digest.hex();
  resolved.release = digest;
  TRY(resolved.sets, load_all_sealed(store, record.sets), "which release:" + digest.short_hex() + " names");
  auto files = union_of(resolved.sets);
  if (files) resolved.files = std::move(*files);
  return resolved;
}

} // namespace quarry::registry
