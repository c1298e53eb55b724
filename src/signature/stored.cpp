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

namespace {
/// nullopt: no object has this key, or it is too long to be an envelope.
Result<std::optional<std::string>> envelope_at(ObjectReader& store, const std::string& key) {
  auto bytes = store.get(key, k_envelope_bytes_max);
  if (!bytes && bytes.error().is(codes::too_large)) return std::optional<std::string>();
  return bytes;
}
} // namespace

Result<Envelopes> load_of(ObjectReader& store, const Sha256& record, const std::vector<Ed25519PublicKey>& keys) {
  std::vector<std::optional<std::string>> found(keys.size());
  TRY_DO(parallel_for(keys.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(found[i], envelope_at(store, place_of(record) + keys[i].id() + ".json"));
    return {};
  }));
  Envelopes envelopes;
  for (auto& envelope : found)
    if (envelope) envelopes[record].push_back(std::move(*envelope));
  return envelopes;
}

Result<Envelopes> load(ObjectReader& store, const std::set<Sha256>& records) {
  std::vector<Sha256> wanted(records.begin(), records.end());
  std::vector<std::vector<std::string>> found(wanted.size());
  TRY_DO(parallel_for(wanted.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(auto listed, store.children(place_of(wanted[i])));
    for (const auto& object : listed.objects) {
      TRY(auto envelope, envelope_at(store, object.key));
      if (envelope) found[i].push_back(std::move(*envelope));
    }
    return {};
  }));
  Envelopes envelopes;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found[i].empty()) envelopes.emplace(wanted[i], std::move(found[i]));
  return envelopes;
}

} // namespace quarry::signature
