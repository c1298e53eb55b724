#include "version/version_rules.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/version.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <cctype>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::version {

namespace {
constexpr std::size_t k_commit_digits = 40, k_short_commit = 8; // SHA-1; what today's rpm versions carry
constexpr std::size_t k_suffix_max = 100;                       // the longest in use has 46 characters

Unexpected wrong(std::string code, std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, std::move(code), std::move(message), std::move(hint));
}

Result<void> check_base(const std::string& base) {
  auto version = dist::Version::parse(base);
  bool fits = version && version->is_release_only() && version->str() == base && version->epoch() == "0" &&
              version->release().size() >= 2;
  if (fits) return {};
  return wrong("N002", fmt::format("{:?} is not a base version", base.substr(0, 100)),
               "write it as numbers and dots, such as 7.12.0");
}

/// A day of the calendar, as YYYYMMDD.
Result<void> check_date(const std::string& date, std::string_view what) {
  bool digits =
      date.size() == 8 && std::all_of(date.begin(), date.end(), [](unsigned char c) { return std::isdigit(c); });
  if (digits && date >= "20000101" &&
      sys::parse_rfc3339(fmt::format("{}-{}-{}T00:00:00Z", date.substr(0, 4), date.substr(4, 2), date.substr(6, 2))))
    return {};
  return wrong("N003",
               date.empty() ? fmt::format("{} is missing", what) : fmt::format("{} {:?} is not a day", what, date),
               "write it as YYYYMMDD, such as 20261121");
}

Result<std::string> commit_of(const std::string& commit) {
  auto lower = text::lower(commit);
  if (lower.size() == k_commit_digits && text::from_hex(lower)) return lower;
  return wrong("N004", commit.empty() ? "the commit is missing" : fmt::format("{:?} is not a whole commit id", commit),
               "give all 40 hex digits with --sha");
}

Result<std::string> candidate_of(const VersionRequest& request) {
  const auto& number = request.prerelease;
  bool fits = number && !number->empty() && number->size() <= 9 && text::parse_u64(*number) &&
              (number->size() == 1 || number->front() != '0');
  if (fits) return *number;
  return wrong("N005",
               number ? fmt::format("{:?} is not the number of a release candidate", *number)
                      : "a prerelease needs the number of its candidate",
               "give --prerelease-version N, a whole number without leading zeros");
}

/// What stands behind the base for one release type: each branch is one row of docs/formats/versions.md.
Result<std::string> suffix_of(const VersionRequest& request, PackageType type) {
  bool wheel = type == PackageType::wheel;
  const auto& kind = request.release_type;
  if (kind == "release") return std::string();
  if (kind == "prerelease") {
    TRY(auto number, candidate_of(request));
    return (wheel ? "rc" : type == PackageType::deb ? "~pre" : "~rc") + number;
  }
  if (kind == "nightly") {
    TRY_DO(check_date(request.date, "the date"));
    return (wheel ? "a" : "~") + request.date;
  }
  if (kind == "nightly-bkc") {
    TRY_DO(check_date(request.date, "the date"));
    if (request.base_date > request.date)
      return wrong("N003", fmt::format("the base date {} is after {}", request.base_date, request.date),
                   "correct --base-date or --date");
    return fmt::format("{}{}{}bkc.{}", wheel ? "a" : "~", request.base_date, wheel ? "+" : ".", request.date);
  }
  if (type == PackageType::deb) {
    TRY_DO(check_date(request.date, "the date"));
    return "~dev" + request.date;
  }
  TRY(auto commit, commit_of(request.commit));
  if (wheel) return ".dev0+" + commit;
  TRY_DO(check_date(request.date, "the date"));
  return fmt::format("~{}g{}", request.date, commit.substr(0, k_short_commit));
}

Result<void> check_result(const std::string& version, PackageType type) {
  if (type == PackageType::wheel) {
    auto parsed = dist::Version::parse(version);
    if (parsed && parsed->str() == version) return {};
    return wrong("N006",
                 parsed ? fmt::format("{:?} is not in normal form: installers call it {}", version, parsed->str())
                        : fmt::format("{:?} is not a version for wheels", version),
                 "write the suffix as PEP 440 does, such as .dev3, rc1 or +local.4");
  }
  bool fits = std::all_of(version.begin(), version.end(),
                          [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '+' || c == '~'; });
  if (fits) return {};
  return wrong("N006",
               fmt::format("{:?} is not a version for {} packages", version, type == PackageType::deb ? "deb" : "rpm"),
               "letters, digits, dots, `+` and `~` only; a hyphen begins the packaging's own number");
}
} // namespace

std::string_view output_name(PackageType type) {
  return type == PackageType::wheel ? "rocm_package_version"
         : type == PackageType::deb ? "rocm_deb_package_version"
                                    : "rocm_rpm_package_version";
}

const std::vector<std::string>& version_release_types(bool feb) {
  static const std::vector<std::string> k_feb = {"release", "prerelease", "nightly", "dev"};
  static const std::vector<std::string> k_all = {"release", "prerelease", "nightly", "nightly-bkc",
                                                 "ci",      "dev",        "dev-bkc"};
  return feb ? k_feb : k_all;
}

bool needs_commit(std::string_view release_type, PackageType type) {
  return (release_type == "ci" || release_type.starts_with("dev")) && type != PackageType::deb;
}

Result<std::string> compute_version(const VersionRequest& request, PackageType type) {
  TRY_DO(check_base(request.base));
  if (request.release_type.ends_with("-bkc")) TRY_DO(check_date(request.base_date, "the base date"));
  std::string version;
  if (request.custom_suffix) {
    if (request.custom_suffix->size() > k_suffix_max)
      return wrong("N006", fmt::format("the suffix has more than {} characters", k_suffix_max), "use a shorter one");
    version = request.base + *request.custom_suffix;
  } else {
    const auto& known = version_release_types(false);
    if (std::find(known.begin(), known.end(), request.release_type) == known.end())
      return wrong("N001", fmt::format("{:?} is not a release type", request.release_type),
                   "choose one of: " + text::join(known, ", "));
    TRY(auto suffix, suffix_of(request, type));
    version = request.base + suffix;
  }
  TRY_DO(check_result(version, type));
  return version;
}

Result<VersionFile> parse_version_file(NamedText named) {
  const auto json = named.text;
  const std::string what(named.name);
  constexpr std::string_view k_hint = "it needs \"rocm-version\", such as \"7.12.0\"";
  TRY(auto document, json::parse({json, what}));
  auto text_at = [](const Json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
  };
  VersionFile file{text_at(document, "rocm-version"), ""};
  if (file.base.empty())
    return wrong("N007", fmt::format("{} has no text \"rocm-version\"", what), std::string(k_hint));
  auto metadata = document.find("release-metadata");
  if (metadata == document.end()) return file;
  // Refused even where the release type does not need it: the file is wrong, and the next bkc release would fail.
  auto date = metadata->is_object() ? metadata->find("base-date") : metadata->end();
  bool is_text = metadata->is_object() && (date == metadata->end() || date->is_string());
  file.base_date = text_at(*metadata, "base-date");
  if (!is_text || (!file.base_date.empty() && !check_date(file.base_date, "")))
    return wrong("N007", fmt::format("\"release-metadata\" of {} is malformed", what),
                 "it is an object whose \"base-date\", if any, is a day such as \"20260811\"");
  return file;
}

std::string date_of(std::int64_t us) { return text::replace_all(sys::rfc3339(us).substr(0, 10), "-", ""); }

} // namespace quarry::version
