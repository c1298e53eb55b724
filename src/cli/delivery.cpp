#include "cli/delivery.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/families.hpp"
#include "cli/history.hpp"
#include "cli/records.hpp"
#include "cli/version.hpp"
#include "release/plan.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

release::Means means_of(const Context& context) {
  return {std::max(4u, context.jobs), temporary_of(context), fmt::format("quarry {}", program_version())};
}

std::string without_suffix(const std::string& text, const std::string& suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

std::string without_platform(std::string name) {
  for (const auto& platform : matrix::platform_names()) name = without_suffix(name, "-" + platform);
  return name;
}

/// Whether an artifact group has this name, such as "gfx94x-dcgpu" or, of a variant, "gfx94x-dcgpu-asan".
bool is_family(const matrix::Families& families, const std::string& name) {
  if (!families.targets_of(name).empty()) return true;
  for (const auto& [platform, variants] : families.variants)
    for (const auto& variant : variants)
      if (!variant.suffix.empty() && name.ends_with("-" + variant.suffix) &&
          !families.targets_of(without_suffix(name, "-" + variant.suffix)).empty())
        return true;
  return false;
}

/// "stable" for `stable-{family}` and for the channels that it stands for, such as `stable-gfx94x-dcgpu`: all of them
/// go where `stable` goes. Only families that are known count, so that a typing error does not reach what people
/// install.
Result<std::string> channel_of_all_families(const Context& context, const std::string& channel) {
  if (release::is_pattern(channel))
    return text::replace_all(text::replace_all(channel, "-{family}", ""), "-{platform}", "");
  auto at = channel.find("-gfx");
  if (at == channel.npos) return without_platform(channel);
  TRY(auto families, load_families(context, context.variable("QUARRY_FAMILIES")));
  return is_family(families, without_platform(channel.substr(at + 1))) ? without_platform(channel.substr(0, at))
                                                                       : channel;
}

Result<std::string> prefix_for(const Context& context, const Arguments& arguments, const std::string& channel) {
  TRY(auto rules, publish::find_distribution_rules(context.resources, arguments.get("--distributions")));
  if (rules.names(channel)) return rules.prefix_of(channel);
  TRY(auto plain, channel_of_all_families(context, channel));
  return rules.prefix_of(plain);
}

} // namespace

Flag distributions_flag() {
  return {.name = "--distributions",
          .value = "FILE",
          .help = "which prefix a channel has: a file, or the name of a shipped one",
          .fallback = "therock-v2",
          .environment = "QUARRY_DISTRIBUTIONS"};
}

Result<std::string> delivery_prefix(const Context& context, const Arguments& arguments, const std::string& channel) {
  auto prefix = arguments.find("--prefix").value_or("");
  while (prefix.ends_with('/')) prefix.pop_back();
  if (arguments.has("--prefix") && prefix.empty())
    return fail(ErrorKind::invalid_argument, "O010", "--prefix is empty: packages do not go to the root of a bucket",
                "name a directory, such as `--prefix v2/{family}`, or omit it for that of the channel");
  if (!prefix.empty() && !store::check_key(prefix)) // also where the gate holds, and nothing would be copied
    return fail(ErrorKind::invalid_argument, "P041", fmt::format("`{}` cannot be a directory in a store", prefix),
                "a prefix is like v2/{family}; it may use {family} and {platform}");
  return prefix.empty() ? prefix_for(context, arguments, channel) : Result<std::string>(std::move(prefix));
}

Result<Destination> destination_of(Context& context, const Arguments& arguments, const std::string& channel) {
  Destination to;
  to.locator = arguments.find("--to-store").value_or("");
  if (to.locator.empty()) {
    if (!arguments.has("--prefix")) return to;
    return fail(ErrorKind::invalid_argument, "O008", "--prefix needs --to-store: it is a directory in another store",
                "add `--to-store s3://BUCKET`");
  }
  TRY(to.prefix, delivery_prefix(context, arguments, channel));
  if (to.locator.starts_with("http:") || to.locator.starts_with("https:"))
    return fail(ErrorKind::invalid_argument, "R030",
                fmt::format("{} is a web server: stores there are read-only", to.locator),
                "use the store itself, such as `--to-store s3://bucket/prefix`");
  TRY(to.store, open_store_to_write(context, to.locator));
  return to;
}

Result<Destination> promotion_destination(Context& context, const Arguments& arguments, store::ObjectStore& source) {
  if (arguments.has("--replace") && !arguments.find("--to-store"))
    return fail(ErrorKind::invalid_argument, "O008", "--replace needs --to-store: it is about packages there",
                "add `--to-store s3://BUCKET`");
  auto channel = arguments.get("--to");
  TRY(auto to, destination_of(context, arguments, channel));
  if (to.store) TRY_DO(publish::refuse_inside(source, *to.store, to.prefix));
  if (to.store && registry::check_channel_name(channel)) {
    TRY(to.hash_bytes, release::is_protected(source, channel));
    to.channels = {{registry::SetDigest(), {channel}}};
  }
  to.let_go = arguments.list("--replace");
  return to;
}

Result<Delivery> deliver(Context& context, store::ObjectStore& source, const Destination& to,
                         const std::vector<registry::SealedSet>& sets, const promote::Options& options) {
  return release::deliver({source, to, sets}, means_of(context), options);
}

Result<void> check_delivery(const Context& context, const release::Consignment& what, const promote::Options& options) {
  return release::check_delivery(what, means_of(context), options);
}

Error not_copied(Error error, const std::vector<std::string>& moved, const Destination& to, const NextCommand& again) {
  if (moved.empty()) return error;
  error.context.push_back(fmt::format("{} {} moved; the copy to {} is not complete", text::join(moved, ", "),
                                      moved.size() == 1 ? "has" : "have", to.locator));
  error.hint =
      fmt::format("{}{}`{}` completes the copy", error.hint, error.hint.empty() ? "" : "; then ", again.text());
  return error;
}

std::string delivery_text(const Destination& to, const Delivery& done, bool dry_run) {
  std::size_t files = 0;
  for (const auto& set : done.sets) files += set.set.files.size();
  auto text = dry_run
                  ? fmt::format("distribute  {} to {}\n", units::things(files, "file"), to.locator)
                  : fmt::format("distributed {} to {}  {} written, {} of files through here\n",
                                units::things(files, "file"), to.locator, units::things(done.receipt.writes, "object"),
                                units::bytes(done.receipt.bytes_through_us));
  for (const auto& history : done.histories) text += history_text(history, dry_run);
  for (const auto& url : done.urls) text += fmt::format("repository  {}\n", url);
  for (const auto& url : done.find_links) text += fmt::format("find-links  {}\n", url);
  for (const auto& url : done.merged) text += fmt::format("merged      {}\n", url);
  return text;
}

Json delivery_json(const Destination& to, const Delivery& done) {
  auto sets = Json::array();
  for (const auto& set : done.sets)
    sets.push_back({{"source", set.source}, {"set", set.digest}, {"directory", set.set.directory}});
  return {{"store", to.locator},
          {"prefix", to.prefix},
          {"sets", sets},
          {"repositories", done.urls},
          {"find_links_urls", done.find_links},
          {"merged_index_urls", done.merged},
          {"notes", findings_json(done.receipt.notes)},
          {"history", histories_json(done.histories)},
          {"files", done.receipt.files},
          {"writes", done.receipt.writes},
          {"bytes_through", done.receipt.bytes_through_us}};
}

} // namespace quarry::cli
