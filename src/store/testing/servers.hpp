#pragma once
// Servers for tests, started once per test program on loopback and stopped with it: the double
// (tests/support/s3_double.py) and Ceph's radosgw (tests/support/radosgw.py).
#include "base/json.hpp"
#include "s3/bucket.hpp"
#include "store/s3_store.hpp"
#include "sys/clock.hpp"
#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace quarry::store::testing {

inline const sys::RealClock& clock() {
  static const sys::RealClock instance;
  return instance;
}

class Server {
public:
  explicit Server(const std::vector<std::string>& words);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { // its input ends, so it does
    ::close(input_);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }

  std::map<std::string, std::string> environment() const {
    return {{"AWS_ENDPOINT_URL", endpoint},
            {"AWS_ACCESS_KEY_ID", access_key},
            {"AWS_SECRET_ACCESS_KEY", secret_key},
            {"AWS_EC2_METADATA_DISABLED", "true"}};
  }
  /// One request, signed, of a kind that stores do not make.
  s3::Outcome call(const s3::Call& what, const std::string& in_bucket) const {
    auto variables = environment();
    auto location = s3::parse_location("s3://" + in_bucket, variables, {});
    auto transport = net::make_client({});
    s3::Bucket plain(*location, transport, s3::make_credential_cache(variables, {}, transport, clock(), "us-east-1"),
                     clock());
    return plain.call(what);
  }
  /// The double's side door: arms faults, reads which requests came.
  Json control(const std::string& method, const std::string& body = "") const;

  std::string endpoint, access_key, secret_key, bucket = "quarry-test";

private:
  pid_t child_ = 0;
  int input_ = -1;
};

/// The double with these flags; one process per kind, shared by all tests of the program.
inline Server& s3_double(const std::vector<std::string>& flags = {}) {
  static std::map<std::vector<std::string>, std::unique_ptr<Server>> servers;
  auto& server = servers[flags];
  if (!server) {
    std::vector<std::string> words = {QUARRY_SOURCE_DIR "/tests/support/s3_double.py", "--part-min", "65536"};
    words.insert(words.end(), flags.begin(), flags.end());
    server = std::make_unique<Server>(words);
  }
  return *server;
}

/// With the bucket that it needs.
inline Server& radosgw() {
  static const auto server = [] {
    auto started = std::make_unique<Server>(std::vector<std::string>{QUARRY_SOURCE_DIR "/tests/support/radosgw.py"});
    auto made = started->call({.action = "make a bucket", .method = "PUT", .body = content::Rope()}, started->bucket);
    if (!made) throw std::runtime_error(render(made.error().error));
    return started;
  }();
  return *server;
}

/// Retries that wait 5 ms at most, and the smallest parts that the double accepts.
inline S3Tuning tuning(std::uint64_t part_bytes = 64u << 10) {
  S3Tuning tuned;
  tuned.retry.base_ms = tuned.retry.throttled_base_ms = 1;
  tuned.retry.cap_ms = 5;
  tuned.parts.part_bytes = part_bytes;
  return tuned;
}

inline std::unique_ptr<ObjectStore> open_at(const Server& server, const std::string& prefix,
                                            const S3Tuning& tuned = tuning(),
                                            std::map<std::string, std::string> more = {}) {
  auto environment = server.environment();
  for (auto& [name, value] : more) environment[name] = value;
  auto opened = open_s3_store("s3://" + server.bucket + "/" + prefix, {environment, clock()}, tuned);
  if (!opened) throw std::runtime_error(render(opened.error()));
  return std::move(*opened);
}

} // namespace quarry::store::testing
