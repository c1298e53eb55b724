#pragma once
// Private keys on the command line, and what they sign.
#include "cli/command.hpp"
#include "digest/ed25519.hpp"
#include "signature/stored.hpp"
#include <optional>
#include <string>

namespace quarry::cli {

/// `--sign KEY`
Flag sign_flag();
/// The key of a file; B006, D0xx.
Result<Ed25519PrivateKey> read_key(const std::string& path);
/// That of `--sign`, read before anything is done; nullopt without the flag.
Result<std::optional<Ed25519PrivateKey>> signing_key(const Arguments& arguments);
/// invalid_argument C006 where `--sign` has nothing to sign: no protected channel feeds the distribution, so its moves
/// have no policy. With the flag a read, and P120.
Result<void> refuse_to_sign(const Arguments& arguments, store::ObjectReader& store, const std::string& distribution);
/// Signs a record that is stored, and says so; nothing without a key.
Result<void> sign_record(Context& context, store::ObjectStore& store, const signature::Subject& record,
                         const std::optional<Ed25519PrivateKey>& key);

} // namespace quarry::cli
