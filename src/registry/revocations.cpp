#include "registry/revocations.hpp"

#include "base/codes.hpp"
#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {
constexpr const char* k_revocation_schema = "quarry.revocation/1";
constexpr std::string_view k_revoked = "waivers/revoked/";
constexpr std::uint64_t k_revocation_bytes_max = 1u << 16; // who and why, a line each
} // namespace

template <class V, Either<RevocationRecord> R> void fields(V& v, R& r) {
  v.digest("waiver", r.waiver);
  v.text("who", r.who, Need::optional);
  v.text("reason", r.reason);
  v.time("time", r.time);
}

std::string revocation_key(const WaiverDigest& waiver) {
  return std::string(k_revoked) + waiver.hex() + std::string(k_json);
}

Result<bool> revoke(ObjectStore& store, const RevocationRecord& record) {
  TRY_DO(load_waiver(store, record.waiver));
  store::PutOptions options;
  options.precondition = store::Precondition::if_absent();
  options.content_type = "application/json";
  auto bytes = write_document(k_revocation_schema, record);
  auto put = store.put(revocation_key(record.waiver), content::Rope::literal(bytes), options);
  if (put) return true;
  if (put.error().is(codes::object_exists)) return false;
  return fail(std::move(put).error());
}

Result<std::vector<WaiverDigest>> list_revoked(ObjectReader& store) {
  TRY(auto listed, store.children(std::string(k_revoked)));
  std::vector<WaiverDigest> revoked;
  for (const auto& object : listed.objects) {
    std::string_view name(object.key);
    name.remove_prefix(k_revoked.size());
    if (!name.ends_with(k_json)) continue;
    if (auto waiver = WaiverDigest::parse(name.substr(0, name.size() - k_json.size()))) revoked.push_back(*waiver);
  }
  std::sort(revoked.begin(), revoked.end());
  return revoked;
}

Result<std::map<WaiverDigest, RevocationRecord>> load_revocations(ObjectReader& store) {
  TRY(auto revoked, list_revoked(store));
  std::vector<RevocationRecord> records(revoked.size());
  TRY_DO(parallel_for(revoked.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto bytes = store.get(revocation_key(revoked[i]), k_revocation_bytes_max);
    bool junk = !bytes && bytes.error().is(codes::too_large); // too long for a revocation
    if (!bytes && !junk) return fail(std::move(bytes).error());
    auto text = bytes ? bytes->value_or("") : std::string();
    auto document = FlatJson::parse({text, "a revocation"});
    RevocationRecord read;
    if (document && Reader::read(document->root(), Place{"a revocation"}, read)) records[i] = std::move(read);
    records[i].waiver = revoked[i];
    return {};
  }));
  std::map<WaiverDigest, RevocationRecord> found;
  for (auto& record : records) found.emplace(record.waiver, std::move(record));
  return found;
}

} // namespace quarry::registry
