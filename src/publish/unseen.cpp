#include "publish/unseen.hpp"

#include <fmt/core.h>

namespace quarry::publish {

bool could_not_look(const Error& error) {
  return error.kind == ErrorKind::unauthenticated || error.kind == ErrorKind::permission_denied ||
         error.kind == ErrorKind::unavailable || error.kind == ErrorKind::timed_out;
}

Finding not_looked(const std::string& store, const Error& error, const std::string& unknown) {
  return {"P072", Severity::warning, store,
          fmt::format("the dry run could not look there ({}: {}), so it does not know {}", error.code, error.message,
                      unknown),
          error.hint};
}

Result<Receipt> expected_receipt(store::ObjectReader& store, const Plan& plan, const pages::PublicUrl& public_url) {
  Receipt receipt;
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

Result<Plan> plan_without_credentials(store::ObjectReader& store, const Target& target, Collected collected,
                                      const sys::Timestamp& now) {
  auto plan = make_plan(store, target, collected, now);
  if (plan || !could_not_look(plan.error())) return plan;
  auto unknown = not_looked(store.describe(), plan.error(), "what is published there already");
  auto nothing = store::make_memory_store();
  TRY(plan, make_plan(*nothing, target, std::move(collected), now));
  plan->notes.push_back(std::move(unknown));
  return plan;
}

} // namespace quarry::publish
