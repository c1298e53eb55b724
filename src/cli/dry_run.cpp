#include "cli/dry_run.hpp"

#include "cli/records.hpp"
#include "release/storage.hpp"
#include <fmt/core.h>

namespace quarry::cli {

Result<std::unique_ptr<store::ObjectStore>> open_unsigned(const Context& context, const std::string& locator) {
  auto environment = context.environment;
  environment["QUARRY_S3_ANONYMOUS"] = "1";
  return store::open_store(locator, {environment, context.clock, tracer(context)});
}

Result<void> refuse_what_expires(Context& context, const Moving& moving, store::ObjectReader& store,
                                 const std::vector<release::ChannelSets>& channels) {
  const store::Surroundings surroundings{context.environment, context.clock, tracer(context)};
  auto findings = release::refuse_what_expires({moving.locator, surroundings, store}, channels);
  if (findings) {
    context.out.findings(*findings);
    return {};
  }
  if (!moving.dry_run || !could_not_look(findings.error())) return fail(std::move(findings).error());
  context.out.findings({not_looked(moving.locator, findings.error(), "whether the bucket deletes what is to move")});
  return {};
}

Result<std::optional<std::vector<s3::ExpiryRule>>> rules_to_pin(Context& context, const Arguments& arguments,
                                                                const Moving& moving, store::ObjectReader& store,
                                                                const std::vector<release::ChannelSets>& channels) {
  if (!arguments.has("--pin")) {
    TRY_DO(refuse_what_expires(context, moving, store, channels));
    return std::optional<std::vector<s3::ExpiryRule>>();
  }
  const store::Surroundings surroundings{context.environment, context.clock, tracer(context)};
  TRY(auto rules, release::rules_to_pin({moving.locator, surroundings, store}));
  return std::optional(std::move(rules));
}

} // namespace quarry::cli
