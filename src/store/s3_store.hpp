#pragma once
// Opens the S3 backend with settings that tests change. Commands use open_store().
#include "net/retry.hpp"
#include "s3/put.hpp"
#include "store/object_store.hpp"

namespace quarry::store {

struct S3Tuning {
  net::RetryLimits retry;
  s3::PartLimits parts;
  /// Memory for parts in flight, over all uploads of the store. At least parts.part_bytes: with less an upload in parts
  /// fails (K013), and a smaller object that does not fit waits forever.
  std::uint64_t memory_bytes = 48u << 20;
};

/// Opens "s3://bucket/prefix" with the endpoint and region that the variables and files of the aws command name
/// (s3/location.hpp), and the credentials of s3/credentials.hpp. Fails with invalid_argument: K001 (locator or region),
/// H001 (endpoint), K010 (configuration file), R005 (prefix). If a configuration file cannot be read, it fails with the
/// error of reading (D00x). Looks for credentials at the first request.
Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& locator, const Surroundings& surroundings,
                                                   const S3Tuning& tuning = {});

} // namespace quarry::store
