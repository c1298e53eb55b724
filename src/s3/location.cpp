#include "s3/location.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "s3/sigv4.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::string_view k_scheme = "s3://";
constexpr std::string_view k_fallback_region = "us-east-1";

std::string first_of(const std::map<std::string, std::string>& environment, std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (auto found = environment.find(name); found != environment.end() && !found->second.empty()) return found->second;
  return {};
}

// The rules that all S3 services share: 3 to 63 of a-z 0-9 . - with a letter or digit at both ends.
bool is_bucket(std::string_view name) {
  auto plain = [](char c) { return ascii::is_lower(c) || ascii::is_digit(c); };
  return name.size() >= 3 && name.size() <= 63 && plain(name.front()) && plain(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '.' || c == '-'; }) &&
         name.find("..") == name.npos;
}

bool is_region(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '-';
  });
}

Unexpected wrong(const std::string& locator, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "K001",
              fmt::format("`{}` is not a place in object storage: {}", locator, why), "write it as s3://bucket/prefix");
}

net::Url amazon(const std::string& region) {
  net::Url url;
  url.host = amazon_host(AmazonService::s3, region);
  return url;
}

} // namespace

Result<Location> parse_location(const std::string& locator, const std::map<std::string, std::string>& environment,
                                const Profile& profile) {
  Location location;
  if (!locator.starts_with(k_scheme)) return wrong(locator, "it does not begin with s3://");
  auto rest = locator.substr(k_scheme.size());
  auto slash = std::min(rest.find('/'), rest.size());
  location.bucket = rest.substr(0, slash);
  location.prefix = rest.substr(std::min(slash + 1, rest.size()));
  while (location.prefix.ends_with("/")) location.prefix.pop_back();
  if (!is_bucket(location.bucket)) return wrong(locator, fmt::format("`{}` is not a bucket name", location.bucket));
  location.region = first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (location.region.empty()) location.region = profile.value("region");
  if (location.region.empty()) location.region = k_fallback_region;
  if (!is_region(location.region)) return wrong(locator, fmt::format("`{}` is not a region", location.region));
  location.configured_region = location.region;
  auto endpoint = first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (endpoint.empty()) endpoint = profile.value("endpoint_url");
  location.is_aws = endpoint.empty();
  location.endpoint = amazon(location.region);
  if (!location.is_aws) {
    TRY(location.endpoint, net::parse_url(endpoint), "while reading the endpoint");
    while (location.endpoint.path.ends_with("/")) location.endpoint.path.pop_back();
  } else {
    location.endpoint.path.clear();
  }
  auto style = profile.value("addressing_style");
  bool dots = location.bucket.find('.') != std::string::npos; // no certificate of *.s3 covers them
  location.path_style = style == "path" || (style != "virtual" && (!location.is_aws || dots));
  return location;
}

std::string amazon_host(AmazonService asked, const std::string& region) {
  const std::string_view service = asked == AmazonService::s3 ? "s3" : "sts";
  return fmt::format("{}.{}.amazonaws.com{}", service, region, region.starts_with("cn-") ? ".cn" : "");
}

net::Url url_of(const Location& location, const BucketKey& key) {
  auto url = location.endpoint;
  if (location.path_style)
    url.path += "/" + location.bucket;
  else
    url.host = location.bucket + "." + url.host;
  if (!key.empty() || url.path.empty()) url.path += "/" + uri_encode(key.text(), Slash::kept);
  return url;
}

std::string configured_name(const Location& location, const BucketKey& key) {
  return url_of(in_region(location, location.configured_region), key).text();
}

Location in_region(Location location, const std::string& region) {
  if (!is_region(region)) return location; // it would become part of a host's name
  location.region = region;
  if (location.is_aws) location.endpoint = amazon(region), location.endpoint.path.clear();
  return location;
}

} // namespace quarry::s3
