#include "wheel/proof.hpp"

#include "base/json.hpp"
#include "digest/hmac.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/secret_file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::wheel {

namespace {

constexpr std::string_view k_schema = "quarry.proof/1";
constexpr std::uint64_t k_record_bytes_max = 4096; // ours have 600
constexpr std::size_t k_name_bytes_max = 255;      // NAME_MAX of Linux

std::optional<Sha256> digest_at(const Json& object, std::string_view key) {
  auto text = json::string_at({object, "proof"}, key);
  return text ? Sha256::from_hex(*text) : std::nullopt;
}

} // namespace

std::string proof_path(const std::string& wheel_path) {
  return path::join(path::dirname(wheel_path), fmt::format(".{}.proof", path::basename(wheel_path)));
}

Result<Prover> Prover::open(const std::string& path, VerifierName verifier) {
  TRY(auto key, sys::read_or_create_secret(path));
  return Prover(std::move(key), std::move(verifier));
}

// One field a line: no field can hold a line break, so no two proofs have the same text.
Sha256 Prover::seal_of(const Proof& proof) const {
  return hmac_sha256(key_, fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", k_schema, verifier_.text, proof.file_name,
                                       proof.size, proof.sha256.hex(), proof.metadata_sha256.hex()));
}

Result<void> Prover::record(const std::string& wheel_path, const Proof& proof) const {
  auto path = proof_path(wheel_path);
  if (path::basename(path).size() > k_name_bytes_max) return {};
  Json object{{"schema", k_schema},
              {"file", proof.file_name},
              {"size", proof.size},
              {"sha256", proof.sha256.hex()},
              {"metadata_sha256", proof.metadata_sha256.hex()},
              {"verifier", verifier_.text},
              {"seal", seal_of(proof).hex()}};
  return sys::write_file(path, json::pretty(object));
}

std::optional<Proof> Prover::recall(const std::string& wheel_path) const {
  auto text = sys::read_file(proof_path(wheel_path), k_record_bytes_max);
  if (!text) return std::nullopt;
  auto object = json::parse({*text, "proof"});
  if (!object || !json::require_schema({*object, "proof"}, k_schema)) return std::nullopt;
  auto size = json::unsigned_at({*object, "proof"}, "size");
  auto digest = digest_at(*object, "sha256"), metadata = digest_at(*object, "metadata_sha256");
  auto seal = digest_at(*object, "seal");
  if (!size || !digest || !metadata || !seal) return std::nullopt;
  Proof proof{std::string(path::basename(wheel_path)), *size, *digest, *metadata};
  return same_secret(*seal, seal_of(proof)) ? std::optional(std::move(proof)) : std::nullopt;
}

} // namespace quarry::wheel
