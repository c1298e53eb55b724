#include "promote/expiry.hpp"

#include <array>
#include <fmt/core.h>

namespace quarry::promote {

namespace {

/// The first key of these sets that the rule covers, and how many of them it covers.
struct Covered {
  std::string first;
  std::size_t count = 0;
};

Covered keys_covered(const std::vector<registry::SealedSet>& sets, const s3::ExpiryRule& rule) {
  Covered covered;
  auto look = [&](const std::string& key) {
    if (!key.starts_with(rule.prefix)) return;
    if (covered.count++ == 0) covered.first = key;
  };
  for (const auto& sealed : sets) {
    for (const auto& file : sealed.set.files) {
      look(file.key);
      if (file.metadata_sha256) look(file.key + ".metadata");
    }
    look(registry::seal_key(sealed.set.directory, sealed.digest));
  }
  return covered;
}

} // namespace

std::string records_covered(const s3::ExpiryRule& rule) {
  constexpr std::array<std::string_view, 13> k_records{
      "channels/", "sets/",     "views/", "ledger/",     "policies/",    "verdicts/", "evidence/",
      "waivers/",  "releases/", "plans/", "signatures/", "derivations/", "locks/"};
  if (rule.tagged) return {};
  for (auto prefix : k_records)
    if (prefix.starts_with(rule.prefix) || rule.prefix.starts_with(prefix)) return std::string(prefix);
  return {};
}

Result<void> refuse_expiring(const std::vector<registry::SealedSet>& sets, const std::vector<s3::ExpiryRule>& rules) {
  for (const auto& rule : rules) {
    if (rule.tagged) continue;
    auto name = rule.id.empty() ? std::string("a rule") : fmt::format("the rule `{}`", rule.id);
    auto hint = "narrow the rule, copy the files to where no rule covers them with `--pin`, or move the channel and "
                "its runs to a "
                "bucket without it: docs/guides/lifecycle.md";
    if (auto records = records_covered(rule); !records.empty())
      return fail(ErrorKind::held, "O031",
                  fmt::format("{} of the bucket deletes records below {} {}: the channel would be lost", name, records,
                              rule.when),
                  hint);
    auto covered = keys_covered(sets, rule);
    if (covered.count == 0) continue;
    return fail(ErrorKind::held, "O031",
                fmt::format("{} of the bucket deletes {} {}{}", name, covered.first, rule.when,
                            covered.count > 1 ? fmt::format(", and {} more of these sets", covered.count - 1) : ""),
                hint);
  }
  return {};
}

} // namespace quarry::promote
