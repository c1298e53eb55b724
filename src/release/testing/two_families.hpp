#pragma once
// A release of two families, for tests: each has its own `rocm`, so each goes into a channel of its own.
#include "gate/testing/policies.hpp"
#include "registry/testing/samples.hpp"
#include "release/plan.hpp"
#include "sys/clock.hpp"
#include <gtest/gtest.h>

namespace quarry::release::testing {

inline const std::int64_t k_planned_us = *sys::parse_rfc3339("2026-11-20T12:00:00Z");
inline const auto k_moved_at = sys::Timestamp::from_us(k_planned_us);

/// `more` are keys, before its tables.
inline gate::Policy policy(const std::string& more = {}) {
  return gate::testing::parsed_policy(more +
                                      "approvers = [\"lead\"]\n[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\n"
                                      "pythons=[\"*\"]\nsuites=[\"smoke\"]\n");
}

/// The packages of one family of run 42: its own `rocm`, whose bytes name the family, and its libraries.
inline registry::SealedSet packages_of(store::ObjectStore& store, const std::string& group, const std::string& under,
                                       const std::string& project) {
  auto digest = registry::testing::put_sample_set(
      store, "42-linux/python/" + group,
      {{"rocm-7.2.0.tar.gz", "rocm", "7.2.0", "families: " + group},
       {"rocm_sdk_libraries_" + under + "-7.2.0-py3-none-linux_x86_64.whl", project, "7.2.0"}},
      group);
  EXPECT_TRUE(registry::seal(store, digest, k_moved_at));
  return *registry::load_sealed(store, digest);
}

inline void waive_everything(store::ObjectStore& store, const std::string& channel) {
  registry::WaiverRecord waiver;
  waiver.channel = channel;
  waiver.reason = "a test of moves";
  waiver.approver = "lead";
  waiver.created = sys::Timestamp::from_us(k_planned_us - 1'000'000);
  waiver.expires = sys::Timestamp::from_us(k_planned_us + 3'600'000'000);
  EXPECT_TRUE(registry::put_waiver(store, waiver));
}

struct TwoFamilies {
  std::vector<registry::SealedSet> sets;
  explicit TwoFamilies(store::ObjectStore& store)
      : sets{packages_of(store, "gfx94X-dcgpu", "gfx94x_dcgpu", "rocm-sdk-libraries-gfx94x-dcgpu"),
             packages_of(store, "gfx110X-all", "gfx110x_all", "rocm-sdk-libraries-gfx110x-all")} {}
};

inline Request request_of(const std::vector<registry::SealedSet>& sets) {
  Request request;
  request.source.resolved.source = "release:test";
  request.source.resolved.sets = sets;
  request.pattern = "stable-{family}";
  request.policy_of = [](const std::string&) -> Result<gate::Policy> { return policy(); };
  request.now_us = k_planned_us;
  return request;
}

inline Options options_of(std::optional<std::string> execute = {}, bool dry_run = false) {
  promote::Options each{"tester", k_moved_at, "why", {}, dry_run};
  if (execute) each.execute = *registry::ReviewedPlan::parse(*execute);
  return {std::move(each), {}};
}

} // namespace quarry::release::testing
