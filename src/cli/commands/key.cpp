#include "cli/keys.hpp"

#include "base/text.hpp"
#include "cli/commands.hpp"
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
  TRY(auto file, sys::File::create_new(path, k_owner_only), "a key that exists is never replaced");
  TRY_DO(file.write(key.pem()));
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

/// The channel's policy with this key marked; its name or the key itself names it.
Result<gate::Policy> without_key(store::ObjectStore& store, const std::string& channel, const std::string& key,
                                 const std::string& reason) {
  TRY_DO(registry::require_channel(store, channel));
  TRY(auto policy, promote::policy_of(store, channel));
  auto unknown = fail(ErrorKind::not_found, "O023", fmt::format("the policy of channel {} has no key {}", channel, key),
                      "name it by the policy's `name` or `key`; an unprotected channel has no policy");
  if (!policy) return unknown;
  bool found = false;
  for (auto& signer : policy->signers)
    if (signer.key == key || signer.name == key) {
      signer.revoked = reason;
      found = true;
    }
  if (!found) return unknown;
  return std::move(*policy);
}

Result<int> run_key_revoke(Context& context, const Arguments& arguments) {
  auto reason = arguments.get("--reason"), name = arguments.get("--channel");
  TRY_DO(check_line("--reason", reason));
  if (text::trim(reason).empty())
    return fail(ErrorKind::invalid_argument, "O015", "the reason is empty",
                "say why: whoever looks at the channel in a year has only the ledger");
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto policy, without_key(*store, name, arguments.operands.at(0), reason));
  promote::Author author{who(context), sys::Timestamp::from_us(context.clock.now_us()), reason};
  TRY(auto guarded, promote::protect(*store, name, policy, author));
  const auto& channel = guarded.channel;
  context.out.data(fmt::format("{}  {}@{}  policy {}\n", guarded.moved ? "revoked" : "revoked before", channel.name,
                               channel.generation, channel.guard.policy.short_hex()));
  context.out.document({{"schema", "quarry.key-revoke/1"},
                        {"channel", channel.name},
                        {"generation", channel.generation},
                        {"policy", channel.guard.policy},
                        {"moved", guarded.moved}});
  return 0;
}

Command key_create_command() {
  return {.path = {"key", "create"},
          .summary = "make a key that signs evidence and waivers",
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
      .operands = {{"KEY", "the `key` or the `name` of a `[[signer]]` of the policy"}},
      .flags = {{.name = "--channel", .value = "NAME", .help = "the protected channel", .required = true},
                {.name = "--reason", .value = "TEXT", .help = "why, for the policy and the ledger", .required = true},
                store_flag()},
      .examples = {{"quarry key revoke ci-tester --channel stable --reason \"leaked in a log\"",
                    "its results do not count any more"}},
      .exit_codes = {{3, "there is no such channel, or its policy has no such key"}},
      .schema = "quarry.key-revoke/1",
      .run = run_key_revoke};
}

} // namespace

std::vector<Command> key_commands() { return {key_create_command(), key_show_command(), key_revoke_command()}; }

} // namespace quarry::cli
