#include "cli/dry_run.hpp"

#include "cli/records.hpp"
#include "release/storage.hpp"
#include <fmt/core.h>

namespace quarry::cli {

bool could_not_look(const Error& error) {
  return error.kind == ErrorKind::unauthenticated || error.kind == ErrorKind::permission_denied ||
         error.kind == ErrorKind::unavailable || error.kind == ErrorKind::timed_out;
}

Result<std::unique_ptr<store::ObjectStore>> open_unsigned(const Context& context, const std::string& locator) {
  auto environment = context.environment;
  environment["QUARRY_S3_ANONYMOUS"] = "1";
  return store::open_store(locator, {environment, context.clock, tracer(context)});
}

Finding not_looked(const std::string& store, const Error& error, const std::string& unknown) {
  return {"P072", Severity::warning, store,
          fmt::format("the dry run could not look there ({}: {}), so it does not know {}", error.code, error.message,
                      unknown),
          error.hint};
}

Result<publish::Receipt> expected_receipt(store::ObjectReader& store, const publish::Plan& plan,
                                          const pages::PublicUrl& public_url) {
  publish::Receipt receipt;
  if (plan.sealed) receipt.set = plan.set_digest;
  receipt.directory = plan.directory;
  receipt.files = plan.files.size();
  receipt.find_links_url = public_url.of(store, plan.directory + "/index.html");
  auto addresses = pages::addresses_of(store, public_url, plan.directory);
  if (!addresses && !could_not_look(addresses.error())) return fail(std::move(addresses).error());
  if (addresses)
    receipt.directory_at = std::move(*addresses);
  else
    receipt.directory_at.index_url = public_url.of(store, plan.directory + "/simple") + "/";
  return receipt;
}

Result<publish::Plan> plan_without_credentials(store::ObjectReader& store, const publish::Target& target,
                                               publish::Collected collected, const sys::Timestamp& now) {
  auto plan = publish::make_plan(store, target, collected, now);
  if (plan || !could_not_look(plan.error())) return plan;
  auto unknown = not_looked(store.describe(), plan.error(), "what is published there already");
  auto nothing = store::make_memory_store();
  TRY(plan, publish::make_plan(*nothing, target, std::move(collected), now));
  plan->notes.push_back(std::move(unknown));
  return plan;
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
