#pragma once
// Finds a bucket's endpoint, region and addressing style, from a locator and the variables and profiles that aws reads.
// Pure.
#include "net/url.hpp"
#include "s3/bucket_key.hpp"
#include "s3/profile.hpp"
#include <map>
#include <optional>
#include <string>

namespace quarry::s3 {

struct Location {
  std::string bucket, prefix; ///< prefix without a slash at its end; may be empty
  net::Url endpoint;          ///< of the service, without the bucket
  std::string region;
  bool path_style = false; ///< the bucket is in the path; otherwise in front of the host
  bool is_aws = true;      ///< Amazon's own endpoint, because no other one was named
  /// The region that parse_location() found; in_region() leaves it as it is. Empty: not known.
  std::string configured_region = {};
};

/// Parses "s3://bucket/prefix". The first of these that is set and not empty decides:
///   endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's `endpoint_url`, Amazon's endpoint of the region
///   region: AWS_REGION, AWS_DEFAULT_REGION, the profile's `region`, us-east-1
///   addressing: the profile's `addressing_style` if it is `path` or `virtual`; else by path if the bucket's name has a
///   dot or is_aws is false
/// Fails with invalid_argument: K001 if the locator does not begin with s3:// or the bucket name or region is invalid,
/// H001 if the endpoint is not a URL. The prefix is not checked: that of "s3://bucket//x" is "/x".
Result<Location> parse_location(const std::string& locator, const std::map<std::string, std::string>& environment,
                                const Profile& profile);

enum class AmazonService : std::uint8_t { s3, sts };
/// Returns Amazon's host of a service: "s3.eu-west-1.amazonaws.com", with ".cn" at the end for regions in China.
std::string amazon_host(AmazonService service, const std::string& region);
/// Returns the URL of a key (given unencoded); for an empty key, that of the bucket.
net::Url url_of(const Location& location, const BucketKey& key);
/// Returns a name of an object that does not depend on the region in which the bucket was found: the URL of its key in
/// the configured region. Pure.
std::string configured_name(const Location& location, const BucketKey& key);
/// Returns the location of the same bucket in another region. An endpoint that somebody named stays; only the region
/// that is signed changes. A text that cannot be a region changes nothing: it comes from a server's answer.
Location in_region(Location location, const std::string& region);

} // namespace quarry::s3
