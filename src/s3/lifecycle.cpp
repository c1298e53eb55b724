#include "s3/lifecycle.hpp"

#include "s3/replies.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_lifecycle_bytes_max = 4u << 20; // a bucket has at most 1000 rules

/// The first of these leaves that is there: older configurations have the prefix outside of the filter.
std::string first_value(const Record& rule, std::initializer_list<const char*> paths) {
  for (const auto* path : paths)
    if (auto value = rule.value(path); !value.empty()) return value;
  return {};
}

std::string when_of(const Record& rule) {
  auto days = rule.value("Expiration/Days"), date = rule.value("Expiration/Date");
  if (!days.empty()) return fmt::format("after {} {}", days, days == "1" ? "day" : "days");
  return date.empty() ? std::string() : "on " + date.substr(0, 10);
}

} // namespace

Result<std::vector<ExpiryRule>> parse_lifecycle(std::string_view body) {
  TRY(auto reply, parse_reply({body, "the lifecycle rules"}));
  if (reply.root != "LifecycleConfiguration")
    return fail(ErrorKind::corrupt, "K020",
                fmt::format("the answer to the lifecycle rules is a {}", reply.root.substr(0, 40)),
                "a proxy may have answered instead of the store: run the command again");
  std::vector<ExpiryRule> rules;
  for (const auto& rule : reply.group("Rule")) {
    auto when = when_of(rule);
    if (rule.value("Status") != "Enabled" || when.empty()) continue;
    bool tagged = std::any_of(rule.values.begin(), rule.values.end(),
                              [](const auto& leaf) { return leaf.first.find("/Tag/") != std::string::npos; });
    rules.push_back(
        {rule.value("ID"), first_value(rule, {"Filter/Prefix", "Filter/And/Prefix", "Prefix"}), when, tagged});
  }
  return rules;
}

std::vector<ExpiryRule> rules_below(const std::vector<ExpiryRule>& rules, const std::string& store_prefix) {
  auto base = store_prefix.empty() || store_prefix.ends_with('/') ? store_prefix : store_prefix + "/";
  std::vector<ExpiryRule> below;
  for (auto rule : rules) {
    if (rule.prefix.starts_with(base))
      rule.prefix.erase(0, base.size());
    else if (base.starts_with(rule.prefix))
      rule.prefix.clear();
    else
      continue;
    below.push_back(std::move(rule));
  }
  return below;
}

Result<std::vector<ExpiryRule>> lifecycle_of(Bucket& bucket) {
  Call call{.action = "read the lifecycle rules"};
  call.query = {{"lifecycle", ""}};
  call.answer_bytes_max = k_lifecycle_bytes_max;
  auto done = bucket.call(call);
  if (done) {
    const auto& body = done->response.body;
    return parse_lifecycle(body);
  }
  if (done.error().code == "NoSuchLifecycleConfiguration") return std::vector<ExpiryRule>();
  return fail(std::move(done.error().error));
}

} // namespace quarry::s3
