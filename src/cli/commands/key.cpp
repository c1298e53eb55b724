#include "cli/keys.hpp"

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/moves.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "promote/guard.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr unsigned k_owner_only = 0600;

Json key_json(const Ed25519PublicKey& key, const char* schema) {
  return {{"schema", schema}, {"key", key.base64()}, {"id", key.id()}, {"public_pem", key.pem()}};
}

std::string key_text(const Ed25519PublicKey& key) { return fmt::format("key  {}\nid   {}\n", key.base64(), key.id()); }

Result<int> run_key_create(Context& context, const Arguments& arguments) {
  auto path = arguments.get("--output");
  TRY(auto key, Ed25519PrivateKey::create());
  TRY(auto file, sys::AtomicFile::create(path, k_owner_only));
  TRY_DO(file.file().write(key.pem()));
  TRY_DO(file.commit_new());
  context.out.data(key_text(key.public_key()));
  context.out.document(key_json(key.public_key(), "quarry.key-create/1"));
  context.out.note(fmt::format("{} is the private key: keep it as a secret of the job that signs", path));
  return 0;
}

Result<int> run_key_show(Context& context, const Arguments& arguments) {
  TRY(auto key, read_key(arguments.operands.at(0)));
  context.out.data(key_text(key.public_key()) + key.public_key().pem());
  context.out.document(key_json(key.public_key(), "quarry.key-show/1"));
  return 0;
}

/// A signer of the policy that a channel had when it was read.
struct Revoking {
  gate::Policy policy; ///< with the key marked
  registry::PolicyDigest instead_of;
  std::vector<gate::Signer> before; ///< that were revoked already
  gate::Signer signer;              ///< that is revoked now; its key is empty if there is none
};

bool is_named(const gate::Signer& signer, const std::string& word) {
  if (signer.key == word || signer.name == word) return true;
  auto key = Ed25519PublicKey::parse(signer.key);
  return key && key->id() == word;
}

Unexpected several_keys(const std::string& name, const std::vector<gate::Signer*>& signers) {
  std::vector<std::string> keys;
  for (const auto* signer : signers) keys.push_back(signer->key);
  return fail(
      Error::of(ErrorKind::invalid_argument, "O025", fmt::format("{} has {} keys that count", name, keys.size()))
          .with_details(std::move(keys))
          .with_hint("nothing was changed: name the key itself"));
}

/// The channel's policy with this key marked; its name, its id or the key itself names it.
Result<Revoking> without_key(store::ObjectReader& store, const std::string& channel, const std::string& word,
                             const std::string& reason) {
  TRY_DO(registry::require_channel(store, channel));
  TRY(auto policy, promote::policy_of(store, channel));
  if (!policy)
    return fail(ErrorKind::not_found, "O023", fmt::format("channel {} is not protected", channel),
                "it has no policy that names keys; look at the policy that you promote with");
  Revoking revoking;
  revoking.instead_of = registry::PolicyDigest::parse(policy->digest).value_or(registry::PolicyDigest());
  std::vector<gate::Signer*> valid;
  for (auto& signer : policy->signers) {
    if (!is_named(signer, word)) continue;
    if (signer.revoked.empty())
      valid.push_back(&signer);
    else
      revoking.before.push_back(signer);
  }
  if (valid.size() > 1) return several_keys(word, valid);
  if (valid.empty() && revoking.before.empty())
    return fail(ErrorKind::not_found, "O023", fmt::format("the policy of channel {} has no key {}", channel, word),
                "name it by the policy's `name` or `key`, or by the id that `quarry key show` prints");
  if (!valid.empty()) {
    valid.front()->revoked = reason;
    revoking.signer = *valid.front();
  }
  revoking.policy = std::move(*policy);
  return revoking;
}

Result<int> run_key_revoke(Context& context, const Arguments& arguments) {
  auto name = arguments.get("--channel");
  TRY(auto author, author_of(context, arguments));
  author.called = "revocation of a key";
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto revoking, without_key(*store, name, arguments.operands.at(0), author.why));
  TRY(auto guarded, promote::protect(*store, name, revoking.policy, author, {revoking.instead_of}));
  const auto& channel = guarded.channel;
  const auto& signer = revoking.signer.key.empty() ? revoking.before.front() : revoking.signer;
  context.out.data(fmt::format("{}  {}@{}  policy {}  key {} of {}\n", guarded.moved ? "revoked" : "revoked before",
                               channel.name, channel.generation, channel.guard.policy.short_hex(), signer.key,
                               signer.name));
  context.out.document({{"channel", channel.name},
                        {"generation", channel.generation},
                        {"policy", channel.guard.policy},
                        {"name", signer.name},
                        {"key", signer.key},
                        {"moved", guarded.moved}});
  return 0;
}

Command key_create_command() {
  return {.path = {"key", "create"},
          .summary = "make a key that signs evidence, waivers, verdicts and moves",
          .description =
              "Writes an Ed25519 private key in PEM, readable by its owner only, and prints the public key as "
              "a policy's `[[signer]]` takes it. A file that exists is not replaced. OpenSSL reads it: "
              "`openssl pkey -in FILE -pubout`.",
          .operands = {},
          .flags = {{.name = "--output", .value = "FILE", .help = "the new file of the private key", .required = true}},
          .examples = {{"quarry key create --output tester.pem", "the key of a test job"}},
          .exit_codes = {{7, "the file exists"}},
          .schema = "quarry.key-create/1",
          .run = run_key_create};
}

Command key_show_command() {
  return {.path = {"key", "show"},
          .summary = "print the public key of a private one",
          .description =
              "The 32 bytes in base64, as a policy's `[[signer]]` takes them, the id that envelopes name, and "
              "the public key in PEM.",
          .operands = {{"FILE", "the private key in PEM"}},
          .flags = {},
          .examples = {{"quarry key show tester.pem", "what to write into the policy"}},
          .exit_codes = {},
          .schema = "quarry.key-show/1",
          .run = run_key_show};
}

Command key_revoke_command() {
  return {
      .path = {"key", "revoke"},
      .summary = "let nothing that a key has signed count for a channel",
      .description = "Binds the policy of a protected channel again, with the key marked as revoked and the reason, as "
                     "a move with an entry in the ledger. Nothing that the key has ever signed counts from then on: "
                     "whoever has a stolen key can write any date. What the channel shows stays.",
      .operands = {{"KEY", "the `key` or the `name` of a `[[signer]]` of the policy, or the id of the key"}},
      .flags = {{.name = "--channel", .value = "NAME", .help = "the protected channel", .required = true},
                {.name = "--reason", .value = "TEXT", .help = "why, for the policy and the ledger", .required = true},
                sign_flag(),
                store_flag()},
      .examples = {{"quarry key revoke ci-tester --channel stable --reason \"leaked in a log\"",
                    "its results do not count any more"}},
      .exit_codes = {{2, "the name has several keys that count"},
                     {3, "the channel does not exist or is not protected, or its policy does not name the key"},
                     {7, "somebody changed the channel's policy meanwhile"},
                     {10, "the policy wants the move signed"}},
      .schema = "quarry.key-revoke/1",
      .run = run_key_revoke};
}

} // namespace

std::vector<Command> key_commands() { return {key_create_command(), key_show_command(), key_revoke_command()}; }

} // namespace quarry::cli
