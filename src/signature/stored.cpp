#include "signature/stored.hpp"

#include "base/codes.hpp"
#include "content/rope.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>

namespace quarry::signature {

using store::ObjectReader;
using store::ObjectStore;

namespace {
constexpr std::uint64_t k_envelope_bytes_max = 1u << 14; // a statement about one record and a few signatures
constexpr unsigned k_looks = 8;

std::string place_of(const Sha256& record) { return fmt::format("signatures/{}/", record.hex()); }
} // namespace

Result<std::string> sign(ObjectStore& store, const Subject& subject, const Ed25519PrivateKey& key) {
  auto at = place_of(subject.sha256) + key.public_key().id() + ".json";
  store::PutOptions options;
  options.precondition = store::Precondition::if_absent();
  options.content_type = "application/json";
  auto written = store.put(at, content::Rope::literal(envelope(subject, key)), options);
  if (written) return at;
  if (!written.error().is(codes::object_exists)) return fail(std::move(written).error());
  TRY(auto present, store.get(at, k_envelope_bytes_max));
  if (present && verifies(*present, subject, key.public_key())) return at;
  return fail(ErrorKind::corrupt, "R011", fmt::format("{} is not a signature of this key", at),
              "find out who wrote it; remove it, and sign again");
}

Result<Envelopes> load(ObjectReader& store, const std::set<Sha256>& records) {
  std::vector<Sha256> wanted(records.begin(), records.end());
  std::vector<std::vector<std::string>> found(wanted.size());
  TRY_DO(parallel_for(wanted.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(auto listed, store.children(place_of(wanted[i])));
    for (const auto& object : listed.objects) {
      auto bytes = store.get(object.key, k_envelope_bytes_max);
      if (!bytes && bytes.error().kind == ErrorKind::resource_exhausted) continue; // too long for an envelope
      if (!bytes) return fail(std::move(bytes).error());
      if (*bytes) found[i].push_back(std::move(**bytes));
    }
    return {};
  }));
  Envelopes envelopes;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found[i].empty()) envelopes.emplace(wanted[i], std::move(found[i]));
  return envelopes;
}

} // namespace quarry::signature
