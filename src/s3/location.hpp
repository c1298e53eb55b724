#pragma once
// Where a bucket is and how it is addressed, from a locator and the variables and profiles that aws reads.
#include "net/url.hpp"
#include "s3/profile.hpp"
#include <map>
#include <optional>
#include <string>

namespace quarry::s3 {

struct Location {
  std::string bucket, prefix; ///< prefix without slashes at its ends, may be empty
  net::Url endpoint;          ///< of the service, without the bucket
  std::string region;
  bool path_style = false; ///< the bucket is in the path; otherwise in front of the host
  bool is_aws = true;      ///< no endpoint was named: Amazon's own
};

/// "s3://bucket/prefix". Endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's `endpoint_url`, else Amazon's
/// of the region. Region: AWS_REGION, AWS_DEFAULT_REGION, the profile's `region`, else us-east-1. Addressing: the
/// profile's `addressing_style`, else by path for buckets with dots and for endpoints that are not Amazon's.
/// invalid_argument K001: no bucket name, a prefix that is no key.
Result<Location> parse_location(const std::string& locator, const std::map<std::string, std::string>& environment,
                                const Profile& profile);

/// Amazon's own host of a service: "s3.eu-west-1.amazonaws.com"; in China's partition below `.cn`.
std::string amazon_host(std::string_view service, const std::string& region);
/// The URL of a key (not encoded); an empty key is the bucket itself.
net::Url url_of(const Location& location, const std::string& key);
/// The same bucket in another region.
Location in_region(Location location, const std::string& region);

} // namespace quarry::s3
