#include "store/s3_store.hpp"

#include "base/text.hpp"
#include "s3/copy.hpp"
#include "s3/replies.hpp"
#include "store/counting.hpp"
#include "store/lineages.hpp"
#include "store/put_once.hpp"
#include "store/ranged.hpp"
#include "store/s3_listing.hpp"
#include "store/s3_range.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::store {

namespace {

constexpr std::string_view k_sha256_header = "x-amz-meta-quarry-sha256";

/// Shared by the store and the ropes from open(), which may outlive the store.
struct Connection {
  Connection(s3::Location location, std::shared_ptr<net::Transport> transport,
             std::shared_ptr<s3::CredentialCache> credentials, const sys::Clock& clock, const S3Tuning& tuning)
      : bucket(std::move(location), std::move(transport), std::move(credentials), clock, tuning.retry) {}
  s3::Bucket bucket;
  std::shared_ptr<RangeShare> ranges = std::make_shared<RangeShare>();
};

/// What all writes of the store share.
struct Writing {
  Writing(s3::Bucket& bucket, const std::string& root, const sys::Clock& clock, const S3Tuning& tuning,
          s3::JournalPlace place)
      : capabilities(bucket, root, clock), slabs(std::make_shared<s3::Slabs>(tuning.memory_bytes)),
        journals(std::move(place)), tools{bucket, capabilities, *slabs, journals, tuning.parts} {}
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  s3::CapabilityCache capabilities;
  std::shared_ptr<s3::Slabs> slabs;
  s3::JournalPlace journals;
  s3::PutTools tools; ///< refers to the three above
};

class S3Store final : public ObjectStore {
public:
  S3Store(std::shared_ptr<Connection> connection, const sys::Clock& clock, const S3Tuning& tuning,
          s3::JournalPlace journals)
      : connection_(std::move(connection)), place_(bucket().location()),
        root_(place_.prefix.empty() ? "" : place_.prefix + "/"),
        writing_(bucket(), root_, clock, tuning, std::move(journals)) {}

  std::string describe() const override {
    return fmt::format("s3://{}{}{}", place_.bucket, root_.empty() ? "" : "/", place_.prefix);
  }
  std::string url(const std::string& key) const override {
    return s3::url_of(bucket().location(), in_bucket(key)).text();
  }
  Result<bool> conditional_writes() override {
    TRY(auto capabilities, writing_.capabilities.get());
    return capabilities.conditional_writes();
  }
  Result<bool> slash_keys() override {
    TRY(auto capabilities, writing_.capabilities.get());
    return capabilities.slash_keys;
  }

  Result<std::optional<ObjectInfo>> do_head(const std::string& key) override;
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override;
  Result<content::Rope> do_open(const std::string& key) override;
  Result<ObjectInfo> do_put(const std::string& key, const content::Rope& content, const PutOptions& options) override;
  Result<void> do_copy(const CopyRequest& asked) override;
  Result<bool> do_copy_from(ObjectReader& source, const CopyRequest& asked) override;
  Result<void> do_remove(const std::string& key) override;
  Result<std::vector<ObjectInfo>> do_list(const std::string& prefix) override;
  Result<Children> do_children(const std::string& prefix) override;
  Result<std::uint64_t> remove_leftovers(std::int64_t before_us) override;

private:
  s3::Bucket& bucket() const { return connection_->bucket; }
  s3::BucketKey in_bucket(const std::string& key) const { return s3::BucketKey(root_ + key); }
  s3::PutRequest request_of(const std::string& key, const content::Rope& content, const PutOptions& options);
  Result<ObjectInfo> stored(const std::string& key, s3::PutOutcome outcome, const Precondition& precondition);
  Result<std::optional<s3::Done>> look(const std::string& key);
  Result<bool> server_can(const s3::CopyRequest& copy);
  content::Rope content_of(const ObjectInfo& object); ///< of this version of the object, and no other
  Result<Children> listed(const std::string& prefix, bool one_level);

  std::shared_ptr<Connection> connection_;
  s3::Location place_;
  std::string root_; ///< the prefix, with '/' at its end
  Writing writing_;
  Lineages lineages_;
};

bool is_absent(const s3::Refusal& refusal) { return refusal.status == 404 && refusal.code != "NoSuchBucket"; }

ObjectInfo info_of(const std::string& key, const net::Headers& headers) {
  return {key,
          text::parse_u64(net::header(headers, "content-length")).value_or(0),
          s3::unquoted(net::header(headers, "etag")),
          s3::time_of(net::header(headers, "last-modified")),
          net::header(headers, "content-type"),
          net::header(headers, "cache-control"),
          net::header(headers, "content-encoding"),
          Sha256::from_hex(net::header(headers, k_sha256_header))};
}

Result<std::optional<s3::Done>> S3Store::look(const std::string& key) {
  auto done = bucket().call({.action = fmt::format("look at `{}`", key), .method = "HEAD", .key = in_bucket(key)});
  if (done) {
    if (text::parse_u64(net::header(done->response.headers, "content-length"))) return std::optional(std::move(*done));
    return fail(ErrorKind::corrupt, "K020", fmt::format("the answer to HEAD of `{}` does not say its size", key),
                "a proxy may remove Content-Length: ask the server itself");
  }
  if (is_absent(done.error())) return std::optional<s3::Done>();
  return fail(std::move(done.error().error));
}

Result<std::optional<ObjectInfo>> S3Store::do_head(const std::string& key) {
  TRY(auto done, look(key));
  if (!done) return std::optional<ObjectInfo>();
  auto info = info_of(key, done->response.headers);
  lineages_.keep(key, info.etag, net::header(done->response.headers, s3::k_lineage));
  return std::optional(info);
}

Result<std::optional<std::string>> S3Store::do_get(const std::string& key, std::uint64_t max_bytes, std::string* etag) {
  std::string bytes;
  s3::Call call{.action = fmt::format("read `{}`", key), .key = in_bucket(key)};
  call.on_start = [&] { bytes.clear(); };
  call.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
    auto size = text::parse_u64(net::header(head.headers, "content-length")).value_or(bytes.size() + piece.size());
    if (size > max_bytes || bytes.size() + piece.size() > max_bytes) return too_large(key, size, max_bytes);
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
  auto done = bucket().call(call);
  if (!done && is_absent(done.error())) return std::optional<std::string>();
  if (!done) return fail(std::move(done.error().error));
  auto found = s3::unquoted(net::header(done->response.headers, "etag"));
  lineages_.keep(key, found, net::header(done->response.headers, s3::k_lineage));
  TRY_DO(check_record(key, bytes, url(key)));
  if (etag) *etag = found;
  return std::optional(std::move(bytes));
}

Result<content::Rope> S3Store::do_open(const std::string& key) {
  TRY(auto found, look(key));
  if (!found) return absent(*this, key);
  return content_of(info_of(key, found->response.headers));
}

content::Rope S3Store::content_of(const ObjectInfo& object) {
  return content::Rope::of(make_ranged_source(
      object.size,
      [connection = connection_, counters = tally(), full = in_bucket(object.key), object](std::uint64_t offset,
                                                                                           std::span<std::byte> into) {
        return fetch_range(connection->bucket, *counters, {full, object}, offset, into);
      },
      connection_->ranges));
}

s3::Condition condition_of(Precondition::Kind kind) {
  switch (kind) {
  case Precondition::Kind::if_absent: return s3::Condition::absent;
  case Precondition::Kind::if_match: return s3::Condition::match;
  case Precondition::Kind::none: break;
  }
  return s3::Condition::none;
}

s3::PutRequest S3Store::request_of(const std::string& key, const content::Rope& content, const PutOptions& options) {
  s3::PutRequest request;
  request.key = in_bucket(key);
  request.content = content;
  request.condition = condition_of(options.precondition.kind);
  request.etag = options.precondition.etag;
  if (request.condition == s3::Condition::match) request.lineage = lineages_.find(key, request.etag);
  request.content_type = options.content_type;
  request.cache_control = options.cache_control;
  request.sha256 = options.sha256;
  request.on_progress = options.on_progress;
  if (options.sha256)
    request.check = [key, expected = *options.sha256](const Sha256& found) -> Result<void> {
      if (found == expected) return {};
      return other_bytes(key, expected, found);
    };
  return request;
}

/// The error of a write that was refused, or whose outcome is unknown.
Unexpected not_stored(const ObjectReader& store, const std::string& key, s3::Refusal refusal,
                      const Precondition& precondition) {
  if (refusal.ambiguous) {
    auto details = refusal.error.details;
    details.insert(details.begin(), refusal.error.message);
    return fail(Error::of(ErrorKind::outcome_unknown, "R004",
                          fmt::format("{} did not confirm that `{}` was written", store.describe(), key))
                    .with_details(details)
                    .with_hint("run the same command again: it looks first"));
  }
  if (refusal.status == 412 && precondition.kind != Precondition::Kind::none)
    return precondition.kind == Precondition::Kind::if_match ? moved_on(store, key) : taken(store, key);
  return fail(std::move(refusal.error));
}

Result<ObjectInfo> S3Store::stored(const std::string& key, s3::PutOutcome outcome, const Precondition& precondition) {
  if (!outcome) return not_stored(*this, key, std::move(outcome.error()), precondition);
  lineages_.keep(key, outcome->etag, outcome->lineage);
  return ObjectInfo{key, outcome->size, outcome->etag, 0};
}

Result<ObjectInfo> S3Store::do_put(const std::string& key, const content::Rope& content, const PutOptions& options) {
  return stored(key, s3::put_object(writing_.tools, request_of(key, content, options)), options.precondition);
}

// Asks for the server's capabilities only if the copy has a condition.
Result<bool> S3Store::server_can(const s3::CopyRequest& copy) {
  if (copy.to.condition == s3::Condition::none) return true;
  TRY(auto capabilities, writing_.capabilities.get());
  return s3::can_copy(copy, capabilities);
}

Result<void> S3Store::do_copy(const CopyRequest& asked) {
  const auto& [from, to, options] = asked;
  TRY(auto found, look(from));
  if (!found) return absent(*this, from);
  const auto& headers = found->response.headers;
  auto source = info_of(from, headers);
  TRY_DO(check_not_marker(to, source.size));
  s3::CopyRequest copy{in_bucket(from), source.etag, source.size, request_of(to, {}, options)};
  s3::keep_metadata(headers, copy.to);
  auto known = source.recorded_sha256;
  bool proved = !options.sha256 || known == options.sha256; // else the bytes must be read and hashed
  TRY(bool possible, server_can(copy));
  if (proved && possible) {
    if (known) copy.to.sha256 = known;
    TRY_DO(stored(to, s3::copy_object(writing_.tools, copy), options.precondition));
    ++tally()->puts;
    return {};
  }
  copy.to.content = content_of(source); // of the object that was looked at: its headers go along
  TRY(auto info, stored(to, s3::put_object(writing_.tools, copy.to), options.precondition));
  ++tally()->puts;
  tally()->bytes_written += info.size;
  return {};
}

// Copies on the server only if the server evaluates the condition. Otherwise the bytes pass through us in a conditional
// PUT: without the condition, two jobs that copy different bytes to one key would both succeed.
Result<bool> S3Store::do_copy_from(ObjectReader& source, const CopyRequest& asked) {
  const auto& [from, to, options] = asked;
  auto* other = dynamic_cast<S3Store*>(&source);
  auto here = bucket().location(), there = other ? other->bucket().location() : here;
  bool same_service = other && (here.is_aws ? there.is_aws : here.endpoint == there.endpoint);
  if (!same_service || options.precondition.kind == Precondition::Kind::if_match) return false;
  TRY(auto found, other->look(from));
  if (!found) return absent(source, from);
  auto object = info_of(from, found->response.headers);
  TRY_DO(check_not_marker(to, object.size));
  if (options.sha256 && recorded_at(object, options.source_size) != options.sha256)
    return false; // the bytes must be read and hashed
  s3::CopyRequest copy{other->in_bucket(from), object.etag, object.size, request_of(to, {}, options), there.bucket};
  s3::keep_metadata(found->response.headers, copy.to);
  TRY(bool possible, server_can(copy));
  if (!possible) return false;
  if (options.sha256 && options.hash_source) {
    TRY(auto digest, content::sha256_of(other->content_of(object)), "while reading " + from);
    if (digest != *options.sha256) return other_bytes(from, *options.sha256, digest);
  }
  TRY_DO(stored(to, s3::copy_object(writing_.tools, copy), options.precondition));
  ++tally()->puts;
  return true;
}

Result<void> S3Store::do_remove(const std::string& key) {
  if (key.ends_with('/')) { // a server that keeps objects as files might remove a directory
    TRY(bool can, slash_keys());
    if (!can) return {};
  }
  auto done = bucket().call({.action = fmt::format("remove `{}`", key), .method = "DELETE", .key = in_bucket(key)});
  if (!done && !is_absent(done.error())) return fail(std::move(done.error().error));
  return {};
}

Result<Children> S3Store::listed(const std::string& prefix, bool one_level) {
  TRY(auto found, list_bucket(bucket(), {root_, prefix, one_level, describe()}));
  sort_children(found);
  return found;
}

Result<std::vector<ObjectInfo>> S3Store::do_list(const std::string& prefix) {
  TRY(auto found, listed(prefix, false));
  return std::move(found.objects);
}

Result<Children> S3Store::do_children(const std::string& prefix) { return listed(prefix, true); }

Result<std::uint64_t> S3Store::remove_leftovers(std::int64_t before_us) {
  std::uint64_t removed = 0;
  TRY(auto uploads, list_unfinished(bucket(), root_, describe()));
  for (const auto& upload : uploads) {
    if (upload.initiated_us == 0 || upload.initiated_us >= before_us) continue; // 0: nobody knows how old it is
    auto done = bucket().call({.action = fmt::format("end the unfinished upload of `{}`", upload.key),
                               .method = "DELETE",
                               .key = upload.key,
                               .query = {{"uploadId", upload.id}}});
    if (!done && done.error().status != 404) return fail(std::move(done.error().error));
    ++removed;
  }
  return removed;
}

} // namespace

Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& locator, const Surroundings& surroundings,
                                                   const S3Tuning& tuning) {
  TRY(auto files, s3::read_shared_files(surroundings.environment));
  auto profile = s3::profile_of(files, s3::profile_name(surroundings.environment));
  TRY(auto location, s3::parse_location(locator, surroundings.environment, profile));
  if (!location.prefix.empty()) TRY_DO(check_key(location.prefix));
  auto settings = net::settings_from(surroundings.environment);
  settings.trace = surroundings.trace;
  auto transport = net::make_client(std::move(settings));
  auto credentials = s3::make_credential_cache(surroundings.environment, std::move(files), transport,
                                               surroundings.clock, location.region);
  auto connection = std::make_shared<Connection>(location, transport, credentials, surroundings.clock, tuning);
  return std::unique_ptr<ObjectStore>(std::make_unique<S3Store>(std::move(connection), surroundings.clock, tuning,
                                                                s3::journal_place(surroundings.environment)));
}

} // namespace quarry::store
