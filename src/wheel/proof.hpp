#pragma once
// The record that Quarry leaves beside a wheel that it has packed: `.{file name}.proof`. It says which bytes were read
// back and found sound, so that `publish` need not inflate them again (docs/formats/proof.md).
//
// A record is authenticated with a key of this user on this machine. One that was downloaded with its wheel, or written
// by anyone else, is worth nothing, and neither is one of another version of the verifier.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::wheel {

struct Proof {
  std::string file_name;
  std::uint64_t size = 0;
  Sha256 sha256;          ///< of the file
  Sha256 metadata_sha256; ///< of its METADATA
};

/// Names a version of the rules by which wheels are verified: "quarry 0.1 1f2e…".
struct VerifierName {
  std::string text;
};

/// The key, and which program uses it. A value; safe to share between threads.
class Prover {
public:
  /// The key at `path` is made if it is missing. Fails with D015 if others
  /// can read the key, and with D00x if it can be neither read nor made.
  static Result<Prover> open(const std::string& path, VerifierName verifier);

  /// Writes the record beside the wheel, atomically. A name that would be too long for a file gets no record.
  Result<void> record(const std::string& wheel_path, const Proof& proof) const;
  /// nullopt: there is no record, or it was not made by this user, on this machine, with this verifier, for a file of
  /// this name. Reads the record only, never the wheel: the caller compares size and digests.
  std::optional<Proof> recall(const std::string& wheel_path) const;

private:
  Prover(std::string key, VerifierName verifier) : key_(std::move(key)), verifier_(std::move(verifier)) {}
  Sha256 seal_of(const Proof& proof) const;
  std::string key_;
  VerifierName verifier_;
};

/// Where the record of a wheel is.
std::string proof_path(const std::string& wheel_path);

} // namespace quarry::wheel
