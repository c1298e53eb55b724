// Specifiers as packaging 26 understands them: where PEP 440 and that library differ (pre-releases of a post-release's
// bound, local versions against `>`), installers follow the library.
#include "base/text.hpp"
#include "dist/version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

constexpr std::array<std::string_view, 8> k_operators{"===", "~=", "==", "!=", "<=", ">=", "<", ">"};

Unexpected specifier_error(std::string_view clause, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "M005",
              fmt::format("{:?} is not a version specifier: {}", clause.substr(0, 100), why),
              "write it like >=3.10 or !=3.11.*, several with commas");
}

bool takes_local(std::string_view op) { return op == "==" || op == "!="; }

/// Do the release numbers of `version`, padded with zeros, start with the first `count` of `prefix`?
bool release_starts_with(const Version& version, const Version& prefix, std::size_t count) {
  if (version.epoch() != prefix.epoch()) return false;
  for (std::size_t i = 0; i < count; ++i)
    if ((i < version.release().size() ? version.release()[i] : "0") != prefix.release()[i]) return false;
  return true;
}

/// `>V` leaves out V's local versions always, and its post-releases unless V is a post-release (or a development
/// release, which has none).
bool is_after(const Version& version, const Version& bound) {
  if (version.public_version() <= bound) return false;
  return bound.is_postrelease() || bound.is_devrelease() || !version.same_release_and_pre(bound);
}

/// `<V` leaves out V's own pre-releases unless V is one.
bool is_before(const Version& version, const Version& bound) {
  return version < (bound.is_prerelease() ? bound : bound.first_development_release());
}

bool matches(std::string_view op, const Version& bound, bool wildcard, const Version& version) {
  if (wildcard) return release_starts_with(version, bound, bound.release().size()) == (op == "==");
  const auto& compared = bound.local().empty() ? version.public_version() : version;
  if (op == "==") return compared == bound;
  if (op == "!=") return compared != bound;
  if (op == "<=") return version.public_version() <= bound;
  if (op == ">=") return version >= bound;
  if (op == ">") return is_after(version, bound);
  if (op == "<") return is_before(version, bound);
  return version >= bound && release_starts_with(version, bound, bound.release().size() - 1); // ~=
}

} // namespace

Result<Specifiers::Clause> Specifiers::parse_clause(std::string_view text) {
  auto op =
      std::find_if(k_operators.begin(), k_operators.end(), [&](auto candidate) { return text.starts_with(candidate); });
  if (op == k_operators.end()) return specifier_error(text, "it starts with none of == != <= >= < > ~= ===");
  Clause clause{std::string(*op), std::string(text::trim(text.substr(op->size()))), std::nullopt, false};
  if (*op == "===") {
    if (clause.text.find_first_of(" \t\r\n\f\v;)") != std::string::npos)
      return specifier_error(text, "text after === has no blanks, ; or )");
    if (auto version = Version::parse(clause.text)) clause.version = *version;
    return clause;
  }
  std::string_view digits = clause.text;
  if (digits.ends_with(".*") && takes_local(*op)) {
    clause.wildcard = true;
    digits.remove_suffix(2);
  }
  auto version = Version::parse(digits);
  if (!version) return specifier_error(text, "there is no version after the operator");
  if (clause.wildcard && !version->is_release_only())
    return specifier_error(text, "only release numbers may precede .*");
  if (!takes_local(*op) && !version->local().empty())
    return specifier_error(text, "only == and != take a local version");
  if (*op == "~=" && version->release().size() < 2) return specifier_error(text, "~= needs two release numbers");
  clause.version = *version;
  return clause;
}

Result<Specifiers> Specifiers::parse(std::string_view text) {
  if (text.size() > k_specifiers_bytes_max) return specifier_error(text, "it is longer than 8 KiB");
  Specifiers specifiers;
  for (const auto& part : text::split(text, ',')) {
    auto clause = text::trim(part);
    if (clause.empty()) continue;
    TRY(auto parsed, parse_clause(clause));
    specifiers.clauses_.push_back(std::move(parsed));
  }
  return specifiers;
}

bool Specifiers::name_prereleases() const {
  return std::any_of(clauses_.begin(), clauses_.end(),
                     [](const Clause& c) { return c.op != "!=" && c.version && c.version->is_prerelease(); });
}

bool Specifiers::pin() const {
  return std::any_of(clauses_.begin(), clauses_.end(),
                     [](const Clause& c) { return c.op == "===" || (c.op == "==" && !c.wildcard); });
}

bool Specifiers::contains(const Version& version, bool prereleases) const {
  if (!prereleases && version.is_prerelease() && !name_prereleases()) return false;
  return std::all_of(clauses_.begin(), clauses_.end(), [&](const Clause& c) {
    if (c.op == "===") return text::lower(c.text) == version.str();
    return matches(c.op, *c.version, c.wildcard, version);
  });
}

bool Specifiers::Clause::same_as(const Clause& other) const {
  if (op != other.op || wildcard != other.wildcard) return false;
  if (text == other.text) return true;
  // 1.0 and 1.0.0 are one version, but ~=1.0 and ~=1.0.0 are two demands.
  return op != "===" && op != "~=" && !wildcard && *version == *other.version;
}

std::string Specifiers::str() const {
  std::vector<Clause> sorted = clauses_, kept;
  std::sort(sorted.begin(), sorted.end(),
            [](const Clause& a, const Clause& b) { return a.op + a.text < b.op + b.text; });
  for (const auto& clause : sorted)
    if (std::none_of(kept.begin(), kept.end(), [&](const Clause& k) { return k.same_as(clause); }))
      kept.push_back(clause);
  std::string out;
  for (const auto& clause : kept) out += (out.empty() ? "" : ",") + clause.op + clause.text;
  return out;
}

} // namespace quarry::dist
