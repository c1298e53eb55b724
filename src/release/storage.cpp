#include "release/storage.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "promote/expiry.hpp"
#include "s3/capabilities.hpp"
#include "s3/lifecycle.hpp"
#include "s3/replies.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>

namespace quarry::release {

namespace {

constexpr std::int64_t k_second_us = 1'000'000;
constexpr std::int64_t k_skew_refused_s = 900; // S3 refuses signatures from further away
constexpr std::int64_t k_skew_noted_s = 60;
constexpr std::uint64_t k_probe_bytes_max = 1024;
constexpr std::string_view k_file_url = "file://";
const std::string k_probes = "quarry-doctor/";
constexpr std::string_view k_ask = "ask who runs the store for this permission";

Check failed(std::string name, const Error& error, std::string_view next = {}) {
  auto found = fmt::format("{} [{}]", error.message, error.code);
  for (const auto& detail : error.details) found += "; " + detail;
  return {std::move(name), Health::failed, found, error.hint.empty() ? std::string(next) : error.hint};
}

/// The parts of the S3 protocol that a store hides.
struct Connection {
  s3::Location location;
  s3::SharedFiles files;
  std::shared_ptr<net::Transport> transport;
  std::unique_ptr<s3::Bucket> bucket;
};

Result<Connection> connect(const std::string& locator, const store::Surroundings& surroundings) {
  Connection made;
  TRY(made.files, s3::read_shared_files(surroundings.environment));
  auto profile = s3::profile_of(made.files, s3::profile_name(surroundings.environment));
  TRY(made.location, s3::parse_location(locator, surroundings.environment, profile));
  made.transport = net::make_client(net::settings_from(surroundings.environment));
  auto credentials = s3::make_credential_cache(surroundings.environment, made.files, made.transport, surroundings.clock,
                                               made.location.region);
  made.bucket = std::make_unique<s3::Bucket>(made.location, made.transport, credentials, surroundings.clock);
  return made;
}

Check place_check(const Connection& to) {
  return {"place", Health::ok,
          fmt::format("bucket {} at {}, region {}, addressed by {}", to.location.bucket, to.location.endpoint.shown(),
                      to.location.region, to.location.path_style ? "path" : "host"),
          ""};
}

Check credentials_check(const store::Surroundings& surroundings, const Connection& to) {
  auto found =
      s3::find_credentials({surroundings.environment, *to.transport, surroundings.clock, to.location.region}, to.files);
  if (!found) return failed("credentials", found.error());
  if (found->keys.access_key.empty())
    return {"credentials", Health::warning, "none: requests are not signed", "unset QUARRY_S3_ANONYMOUS to write"};
  auto until = found->expires_us ? fmt::format(", until {}", sys::rfc3339(*found->expires_us)) : std::string();
  return {"credentials", Health::ok, fmt::format("from {}{}", found->source, until), ""};
}

Check clock_check(const store::Surroundings& surroundings, const net::Headers& answer) {
  auto server = s3::time_of(net::header(answer, "date"));
  if (server == 0) return {"clock", Health::note, "the server does not tell its time", ""};
  auto off = (surroundings.clock.now_us() - server) / k_second_us;
  auto health = std::abs(off) >= k_skew_refused_s ? Health::failed
                : std::abs(off) > k_skew_noted_s  ? Health::warning
                                                  : Health::ok;
  return {"clock", health, fmt::format("{} s {} the server's", std::abs(off), off < 0 ? "behind" : "ahead of"),
          health == Health::ok ? "" : "set this machine's clock: `timedatectl set-ntp true`"};
}

/// One page of the listing: whether we get in at all.
bool reach(const store::Surroundings& surroundings, Connection& to, std::vector<Check>& checks) {
  s3::Call call{.action = "list objects"};
  call.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", to.location.prefix}};
  auto done = to.bucket->call(call);
  if (done) {
    checks.push_back(clock_check(surroundings, done->response.headers));
    return true;
  }
  const auto& error = done.error().error;
  checks.push_back(
      failed(error.is(codes::clock_off) ? "clock" : "bucket", error, "check the bucket, the endpoint and the role"));
  return error.is(codes::access_denied); // it may be that only listing is not allowed
}

Check capabilities_check(const store::Surroundings& surroundings, Connection& to) {
  auto prefix = to.location.prefix.empty() ? std::string() : to.location.prefix + "/";
  auto found = s3::CapabilityCache(*to.bucket, prefix, surroundings.clock).get();
  if (!found) return failed("conditions", found.error(), k_ask);
  auto checksums =
      fmt::format("{}; {}", found->crc64nvme ? "checksums of whole objects" : "no checksums of its own",
                  found->slash_keys ? "an index under its own URL"
                                    : "no keys that end in a slash, so `--find-links` without a web server");
  if (!found->conditional_writes())
    return {"conditions", Health::warning, fmt::format("it ignores conditional writes; {}", checksums),
            "channels need If-Match and If-None-Match: keep runs here and channels elsewhere (`quarry explain R031`)"};
  return {"conditions", Health::ok,
          fmt::format("conditional writes{}; {}", found->complete_conditions ? ", also of uploads in parts" : "",
                      checksums),
          ""};
}

/// "expire-runs: below ci/ after 30 days"
std::string rule_text(const s3::ExpiryRule& rule) {
  return fmt::format("{}: {} {}", rule.id.empty() ? "a rule without a name" : rule.id,
                     rule.prefix.empty() ? "everything" : "below " + rule.prefix, rule.when);
}

/// What the server deletes by itself. Records of channels must never be among it.
Check lifecycle_check(Connection& to) {
  auto asked = s3::lifecycle_of(*to.bucket);
  if (!asked)
    return {"lifecycle", Health::note, fmt::format("its rules cannot be read [{}]", asked.error().code),
            "allow s3:GetLifecycleConfiguration, so that `promote` can refuse what a rule would delete"};
  auto rules = s3::rules_below(*asked, to.location.prefix);
  std::erase_if(rules, [](const s3::ExpiryRule& rule) { return rule.tagged; });
  if (rules.empty()) return {"lifecycle", Health::ok, "no rule deletes what is in the store", ""};
  std::string found;
  bool records = false;
  for (const auto& rule : rules) {
    found += (found.empty() ? "" : "; ") + rule_text(rule);
    records |= !promote::records_covered(rule).empty();
  }
  if (records)
    return {"lifecycle", Health::failed, "rules delete the records of channels: " + found,
            "narrow them to prefixes of runs: docs/guides/lifecycle.md"};
  return {"lifecycle", Health::note, "rules delete objects: " + found,
          "`promote` into a protected channel is refused for what they cover"};
}

/// Write, read, copy, list and delete one small object; each is believed when the next question shows it.
class Permissions {
public:
  Permissions(store::ObjectStore& store, std::vector<Check>& checks) : store_(store), checks_(checks) {}

  void run() {
    store::PutOptions options;
    options.sha256 = sha256(bytes_);
    auto written = store_.put(key_, content::Rope::literal(bytes_), options);
    add("write", written, "", k_ask);
    if (!written) return; // nothing to read, copy or delete
    auto read = store_.get(key_, k_probe_bytes_max);
    add("read", read, read && *read == bytes_ ? "" : "it gives other bytes than were written", k_ask);
    auto copied = store_.copy(key_, copy_, {});
    add("copy", copied, "", "promotion to another bucket copies on the server");
    auto listed = store_.list(k_probes);
    bool shown = listed && std::any_of(listed->begin(), listed->end(), [&](const auto& o) { return o.key == key_; });
    add("list", listed, shown ? "" : "it does not list what was written", k_ask);
    if (copied) static_cast<void>(store_.remove(copy_));
    auto removed = store_.remove(key_);
    auto after = store_.head(key_);
    add("delete", removed, after && *after ? "what was removed is still there" : "",
        fmt::format("pages of projects that are gone cannot be removed, and {} stays", key_));
  }

private:
  template <typename T>
  void add(std::string name, const Result<T>& done, std::string_view untrue, std::string_view next) {
    if (!done) return checks_.push_back(failed(std::move(name), done.error(), next));
    if (untrue.empty()) return checks_.push_back({std::move(name), Health::ok, "allowed", ""});
    checks_.push_back({std::move(name), Health::failed, std::string(untrue),
                       "it is not a store: look at its address, and at a proxy on the way"});
  }

  store::ObjectStore& store_;
  std::vector<Check>& checks_;
  std::string bytes_ = "quarry doctor " + sys::random_hex(8), key_ = k_probes + "probe-" + sys::random_hex(8),
              copy_ = key_ + "-copy";
};

/// The check must not leave anything behind in a directory. If `place` is not a store yet, it is tried in a temporary
/// directory within it, or within its nearest parent that exists.
void directory_checks(const store::Surroundings& surroundings, store::ObjectStore& store, const std::string& place,
                      std::vector<Check>& checks) {
  if (sys::exists(path::join(place, ".quarry"))) { // it is a store
    bool there = sys::exists(path::join(place, k_probes));
    Permissions(store, checks).run();
    if (!there) static_cast<void>(sys::remove_empty_directory(path::join(place, k_probes)));
    return;
  }
  auto parent = place;
  while (!sys::exists(parent) && path::dirname(parent) != parent) parent = path::dirname(parent);
  auto directory = sys::make_temporary_directory(parent, ".quarry-doctor-");
  if (!directory) return checks.push_back(failed("store", directory.error(), "name a directory that you may write to"));
  if (auto probe = store::open_store("file:" + *directory, surroundings)) Permissions(**probe, checks).run();
  auto removed = sys::remove_tree(*directory);
  if (!removed) checks.push_back(failed("store", removed.error()));
  if (parent != place)
    checks.push_back({"store", Health::note, fmt::format("it does not exist yet: {} was tried", parent),
                      "the first publish makes it"});
}

bool is_read_only(const std::string& locator) { return locator.starts_with("https:") || locator.starts_with("http:"); }

} // namespace

std::vector<Check> examine_store(const std::string& locator, const store::Surroundings& surroundings) {
  std::vector<Check> checks;
  auto store = store::open_store(locator, surroundings);
  if (!store) return {failed("store", store.error())};
  if (is_read_only(locator)) {
    auto there = (*store)->head("quarry-asks-for-what-is-not-there");
    checks.push_back(there ? Check{"store", Health::ok, "a web server: it can be read, not written", ""}
                           : failed("store", there.error(), "look at the URL with curl"));
    return checks;
  }
  if (locator.starts_with("s3:")) {
    auto to = connect(locator, surroundings);
    if (!to) return {failed("store", to.error())};
    checks.push_back(place_check(*to));
    checks.push_back(credentials_check(surroundings, *to));
    if (checks.back().health == Health::failed || !reach(surroundings, *to, checks)) return checks;
    checks.push_back(capabilities_check(surroundings, *to));
    checks.push_back(lifecycle_check(*to));
  }
  auto place = (*store)->url("");
  if (place.starts_with(k_file_url))
    directory_checks(surroundings, **store, text::percent_decode(place.substr(k_file_url.size())), checks);
  else
    Permissions(**store, checks).run();
  return checks;
}

Result<Findings> refuse_what_expires(const Bucketed& at, const std::vector<ChannelSets>& channels) {
  if (!at.locator.starts_with("s3:")) return Findings();
  std::vector<registry::SealedSet> sets;
  bool is_protected = false;
  for (const auto& target : channels) {
    TRY(auto channel, registry::read_channel(at.store, target.channel));
    if (!channel || channel->record.guard.policy.empty()) continue;
    is_protected = true;
    sets.insert(sets.end(), target.sets.begin(), target.sets.end());
  }
  if (!is_protected) return Findings();
  TRY(auto to, connect(at.locator, at.surroundings));
  auto rules = s3::lifecycle_of(*to.bucket);
  if (rules) {
    TRY_DO(promote::refuse_expiring(sets, s3::rules_below(*rules, to.location.prefix)));
    return Findings();
  }
  // An answer that got lost opens no gate.
  const auto& error = rules.error();
  if (!error.is(codes::access_denied) && error.kind != ErrorKind::unsupported) return fail(std::move(rules).error());
  return Findings{
      {"K023", Severity::warning, to.location.bucket,
       "its lifecycle rules cannot be read, so nobody knows whether it deletes what is promoted: " + error.message,
       "allow s3:GetLifecycleConfiguration to the role that promotes"}};
}

Result<std::vector<s3::ExpiryRule>> rules_to_pin(const Bucketed& at) {
  if (!at.locator.starts_with("s3:")) return std::vector<s3::ExpiryRule>();
  TRY(auto to, connect(at.locator, at.surroundings));
  TRY(auto rules, s3::lifecycle_of(*to.bucket), "while asking which objects the bucket deletes by itself");
  return s3::rules_below(rules, to.location.prefix);
}

} // namespace quarry::release
