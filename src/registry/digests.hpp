#pragma once
// Digests that name records, one type for each kind, so that the digest of a view cannot be passed for that of a set.
// A value type: a sha256 or nothing. No I/O, safe to copy between threads.
#include "digest/sha256.hpp"
#include <compare>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::registry {

/// The sha256 of the canonical bytes of one kind of record, or empty (docs/formats/records.md).
template <class Record> class DigestOf {
public:
  static constexpr std::size_t k_digits = 64;

  DigestOf() = default; ///< empty: names no record; each field says what that means
  explicit DigestOf(const Sha256& digest) : digest_(digest) {}
  /// Reads 64 hex digits in lower case, as keys and records have them; nullopt for any other text.
  static std::optional<DigestOf> parse(std::string_view text) {
    if (text.size() != k_digits || text.find_first_not_of("0123456789abcdef") != text.npos) return std::nullopt;
    return DigestOf(*Sha256::from_hex(text));
  }

  bool empty() const { return !digest_; }
  const std::optional<Sha256>& sha256() const { return digest_; }
  std::string hex() const { return digest_ ? digest_->hex() : std::string(); } ///< 64 digits; "" if empty
  std::string short_hex() const { return hex().substr(0, 12); }                ///< for people
  auto operator<=>(const DigestOf&) const = default;

private:
  std::optional<Sha256> digest_;
};

struct SetRecord;
struct ViewRecord;
struct ShardRecord;
struct LedgerRecord;
struct EvidenceRecord;
struct WaiverRecord;
struct PolicyRecord;
struct Plan; ///< of a publish, promotion, rollback or retention: the digest that people review and `--execute` takes
struct VerdictRecord;
struct ReleaseRecord;
using SetDigest = DigestOf<SetRecord>;
using ViewDigest = DigestOf<ViewRecord>;
using ShardDigest = DigestOf<ShardRecord>;
using LedgerDigest = DigestOf<LedgerRecord>;
using EvidenceDigest = DigestOf<EvidenceRecord>;
using WaiverDigest = DigestOf<WaiverRecord>;
using PolicyDigest = DigestOf<PolicyRecord>;
using ReleaseDigest = DigestOf<ReleaseRecord>;
using PlanDigest = DigestOf<Plan>;
/// How many digits of a plan's digest are enough to execute it. Not 8: whoever controls a field of a set can make two
/// plans that agree in 8 digits within minutes.
constexpr std::size_t k_plan_digits_min = 16;
using VerdictDigest = DigestOf<VerdictRecord>;

/// As a value of JSON: its text.
template <class Json, class Record> void to_json(Json& json, const DigestOf<Record>& digest) { json = digest.hex(); }

} // namespace quarry::registry

template <class Record> struct fmt::formatter<quarry::registry::DigestOf<Record>> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context> auto format(const quarry::registry::DigestOf<Record>& digest, Context& context) const {
    return fmt::format_to(context.out(), "{}", digest.hex());
  }
};
