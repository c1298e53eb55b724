#include "run/bucket.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace quarry::run {

namespace {
constexpr std::string_view k_internal_repository = "ROCm/therock-releases-internal";
constexpr std::string_view k_ci = "therock-ci-artifacts", k_ci_external = "therock-ci-artifacts-external";
constexpr std::int64_t k_feb_cutover_us = 1'762'877'928'000'000; // 2025-11-11T16:18:48Z, when the ci buckets appeared
constexpr std::size_t k_owner_max = 39, k_repository_max = 100;  // GitHub's own bounds
constexpr std::size_t k_bucket_min = 3, k_bucket_max = 63;       // S3's

bool is_name(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || extra.find(static_cast<char>(c)) != extra.npos;
  });
}

Result<void> check_bucket(std::string_view name) {
  bool fits = name.size() >= k_bucket_min && name.size() <= k_bucket_max && text::lower(name) == name &&
              is_name(name, ".-") && std::isalnum(static_cast<unsigned char>(name.front())) &&
              std::isalnum(static_cast<unsigned char>(name.back())) && name.find("..") == name.npos;
  if (fits) return {};
  return fail(ErrorKind::invalid_argument, "L027", fmt::format("{:?} is not the name of a bucket", std::string(name)),
              "a bucket has 3 to 63 lower-case letters, digits, dots and hyphens");
}

Result<void> check_release_type(std::string_view type, Era era) {
  const auto& known = release_types(era);
  if (type.empty() || std::find(known.begin(), known.end(), type) != known.end()) return {};
  return fail(ErrorKind::invalid_argument, "L023",
              fmt::format("{:?} is not a release type of {}", std::string(type), to_string(era)),
              fmt::format("choose one of: {}", text::join(known, ", ")));
}

std::string directory_of(std::string_view repository) { return text::replace_all(repository, "/", "-") + "/"; }

std::string fork_reason(const Origin& origin) {
  return fmt::format("repository {}{}", origin.repository, origin.fork ? ", a fork's branch" : ", not a fork");
}

/// Feb: a release type wins over everything, else home, internal, external; before the cutover other names.
Bucket choose_feb(const Origin& origin) {
  bool home = same_repository(origin.repository, k_home_repository) && !origin.fork;
  Bucket bucket{"", home ? "" : directory_of(origin.repository), {fork_reason(origin)}};
  if (!origin.release_type.empty()) {
    bucket.name = fmt::format("therock-{}-artifacts", origin.release_type);
    bucket.reasons.push_back("release type " + origin.release_type);
    return bucket;
  }
  bool old = origin.updated_at_us && *origin.updated_at_us <= k_feb_cutover_us;
  if (home)
    bucket.name = old ? "therock-artifacts" : k_ci;
  else if (same_repository(origin.repository, k_internal_repository) && !origin.fork)
    bucket.name = "therock-artifacts-internal";
  else
    bucket.name = old ? "therock-artifacts-external" : k_ci_external;
  bucket.reasons.push_back("no release type");
  if (old) bucket.reasons.push_back("run updated before the buckets changed on 2025-11-11T16:18:48Z");
  return bucket;
}

/// Aug, and ours: the release type decides; only the external bucket keeps repositories apart.
Bucket choose_aug(const Origin& origin) {
  auto type = origin.release_type.empty() ? std::string("ci") : origin.release_type;
  Bucket bucket{
      "", "", {fork_reason(origin), "release type " + type + (origin.release_type.empty() ? " (not given)" : "")}};
  if (type != "ci") {
    constexpr std::string_view k_bkc = "-bkc"; // best known configuration: lives beside its base type
    auto base = type.ends_with(k_bkc) ? type.substr(0, type.size() - k_bkc.size()) : type;
    bucket.name = fmt::format("therock-{}-artifacts", base);
    return bucket;
  }
  bool home = same_repository(origin.repository, k_home_repository) && !origin.fork;
  bucket.name = home ? k_ci : k_ci_external;
  if (!home) bucket.external_repo = directory_of(origin.repository);
  return bucket;
}
} // namespace

Result<Era> parse_era(std::string_view text) {
  for (auto era : {Era::quarry, Era::feb, Era::aug})
    if (to_string(era) == text) return era;
  return fail(ErrorKind::invalid_argument, "L024", fmt::format("{:?} is not an era", std::string(text)),
              "choose one of: quarry, feb, aug");
}

std::string_view to_string(Era era) { return era == Era::feb ? "feb" : era == Era::aug ? "aug" : "quarry"; }

Result<void> check_repository(std::string_view repository) {
  auto slash = repository.find('/');
  auto owner = repository.substr(0, slash);
  auto name = slash == repository.npos ? std::string_view{} : repository.substr(slash + 1);
  bool fits = !owner.empty() && owner.size() <= k_owner_max && is_name(owner, "-") && owner.front() != '-' &&
              !name.empty() && name.size() <= k_repository_max && is_name(name, "._-") && name != "." && name != "..";
  if (fits) return {};
  return fail(ErrorKind::invalid_argument, "L022",
              fmt::format("{:?} is not a repository", std::string(repository.substr(0, 200))),
              "write it as OWNER/NAME, such as ROCm/TheRock");
}

bool same_repository(std::string_view a, std::string_view b) { return text::lower(a) == text::lower(b); }

const std::vector<std::string>& release_types(Era era) {
  static const std::vector<std::string> k_feb_types = {"ci", "dev", "nightly", "prerelease"};
  static const std::vector<std::string> k_types = {"ci", "dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease"};
  return era == Era::feb ? k_feb_types : k_types;
}

Result<Bucket> choose_bucket(const Origin& origin, Era era, std::string_view named) {
  TRY_DO(check_repository(origin.repository));
  TRY_DO(check_release_type(origin.release_type, era));
  auto bucket = era == Era::feb ? choose_feb(origin) : choose_aug(origin);
  if (named.empty()) return bucket;
  TRY_DO(check_bucket(named));
  // A bucket that was asked for belongs to whoever asked: only the shared external one keeps repositories apart.
  if (era == Era::feb || named != k_ci_external || bucket.name != k_ci_external) bucket.external_repo.clear();
  bucket.name = named;
  bucket.reasons = {"the bucket was named"};
  return bucket;
}

} // namespace quarry::run
