#include "cli/keys.hpp"

#include "cli/facts.hpp"
#include "registry/distributions.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_key_bytes_max = 1u << 16; // a PEM file of one key has 119 bytes
} // namespace

Flag sign_flag() {
  return {.name = "--sign", .value = "KEY", .help = "sign the record with this private key (`quarry key create`)"};
}

Result<Ed25519PrivateKey> read_key(const std::string& path) {
  if (path.empty())
    return fail(ErrorKind::invalid_argument, "C006", "the name of the key's file is empty", "is a variable unset?");
  // A secret of CI is often given as its content. A message that repeats it would be kept in the job's log.
  if (path.starts_with("-----") || path.find('\n') != std::string::npos)
    return fail(ErrorKind::invalid_argument, "C006", "a key was given where the name of its file is wanted",
                "write it to a file that only this job can read, and name that file");
  TRY(auto pem, sys::read_file(path, k_key_bytes_max), "while reading the key");
  auto key = Ed25519PrivateKey::parse(pem);
  if (!key) return fail(std::move(key).error().with_context("while reading " + path));
  return std::move(*key);
}

Result<std::optional<Ed25519PrivateKey>> signing_key(const Arguments& arguments) {
  auto path = arguments.find("--sign");
  if (!path) return std::optional<Ed25519PrivateKey>();
  TRY(auto key, read_key(*path));
  return std::optional(std::move(key));
}

Result<void> refuse_to_sign(const Arguments& arguments, store::ObjectReader& store, const std::string& distribution) {
  if (!arguments.has("--sign")) return {};
  TRY(auto now, registry::require_distribution(store, distribution));
  if (!now.record.fed_by.empty()) return {};
  return fail(ErrorKind::invalid_argument, "C006",
              fmt::format("no protected channel feeds distribution {}, so nobody asks for a signature of its moves",
                          distribution),
              "omit --sign");
}

Result<void> sign_record(Context& context, store::ObjectStore& store, const signature::Subject& record,
                         const std::optional<Ed25519PrivateKey>& key) {
  if (!key) return {};
  TRY(auto place, signature::sign(store, record, *key));
  context.out.data(fact("signed", "{}", place));
  return {};
}

} // namespace quarry::cli
