#pragma once
// The S3 backend, with what tests turn. Commands use open_store().
#include "net/retry.hpp"
#include "s3/put.hpp"
#include "store/object_store.hpp"

namespace quarry::store {

struct S3Tuning {
  net::RetryLimits retry;
  s3::PartLimits parts;
  std::uint64_t memory_bytes = 48u << 20; ///< of parts on their way, over all uploads of the store
};

/// "s3://bucket/prefix"; endpoint, region and credentials as aws finds them in `environment` (s3/location.hpp,
/// s3/credentials.hpp). Nothing is sent yet. invalid_argument K001, K010.
Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& locator, const Surroundings& surroundings,
                                                   const S3Tuning& tuning = {});

} // namespace quarry::store
