#pragma once
// Envelopes in a store: `signatures/{sha256 of the record}/{key id}.json`. A record may have several. As thread-safe as
// the store.
#include "signature/envelope.hpp"
#include "store/object_store.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::signature {

/// Writes the envelope if-absent; a record that this key has signed stays signed. Returns its key in the store. One
/// write. corrupt R011 if something else has its place.
Result<std::string> sign(store::ObjectStore& store, const Subject& subject, const Ed25519PrivateKey& key);

/// The envelopes of these records, as they are stored, by the record's digest. One listing of each record's place and a
/// read for each envelope, eight at the same time. An object of more than 16 KiB is left out.
using Envelopes = std::map<Sha256, std::vector<std::string>>;
Result<Envelopes> load(store::ObjectReader& store, const std::set<Sha256>& records);
/// The envelopes of one record by these keys, as sign() names them: one read for each key, and no listing, which a web
/// server does not offer.
Result<Envelopes> load_of(store::ObjectReader& store, const Sha256& record, const std::vector<Ed25519PublicKey>& keys);

} // namespace quarry::signature
