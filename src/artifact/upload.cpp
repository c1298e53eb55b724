#include "artifact/upload.hpp"

#include "artifact/manifest.hpp"
#include "artifact/unpack.hpp"
#include "artifact/upload_record.hpp"
#include "base/codes.hpp"
#include "store/put_once.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/core.h>
#include <mutex>
#include <vector>

namespace quarry::artifact {

namespace {

using Kind = OutputFile::Kind;
using State = Uploaded::State;
constexpr std::string_view k_immutable = "public, max-age=31536000, immutable";
constexpr std::string_view k_short = "public, max-age=60"; // a page is right a minute after the last upload
constexpr std::uint64_t k_standing_page_bytes_max = 64u << 20;
// A distant store answers a small write after 20 to 100 ms whatever its size: with 32 on their way 2,000 take 2 to 6 s.
constexpr std::uint64_t k_small_bytes = 1u << 20;
constexpr unsigned k_small_for_one_large = 8;
constexpr unsigned k_rounds_max = 20; // more rivals for one page than a run has jobs ending in one second

class Upload {
public:
  Upload(store::ObjectStore& store, const Outputs& outputs, const UploadRequest& request)
      : store_(store), outputs_(outputs), request_(request), prefix_(request.layout.prefix()) {}

  Result<UploadReport> run() {
    TRY(auto objects, store_.list(prefix_));
    for (auto& object : objects) there_.emplace(object.key, object.size);
    TRY(auto conditional, store_.conditional_writes());
    conditional_ = conditional;
    report_.files.resize(outputs_.files.size());
    TRY(bool announced, announce());
    TRY_DO(files());
    if (announced) TRY_DO(write_record(!request_.build_failed));
    TRY_DO(pages());
    report_.writes = writes_;
    return std::move(report_);
  }

private:
  std::string below(std::string_view area) const {
    return prefix_ + std::string(area) + "/" + (request_.group.empty() ? "" : request_.group + "/");
  }

  // files

  /// Large ones fill the line by themselves; of small ones it is the number on their way that counts.
  Result<void> files() {
    std::vector<std::size_t> large, small;
    for (std::size_t i = 0; i < outputs_.files.size(); ++i)
      (outputs_.files[i].content.size() < k_small_bytes ? small : large).push_back(i);
    auto at_once = std::max(request_.at_once, 1u);
    TRY_DO(parallel_for(large.size(), at_once, [&](std::size_t i) { return one(large[i]); }));
    return parallel_for(small.size(), at_once * k_small_for_one_large, [&](std::size_t i) { return one(small[i]); });
  }

  Result<void> one(std::size_t index) {
    TRY_DO(sys::check_interrupted());
    const auto& file = outputs_.files[index];
    auto& done = report_.files[index];
    done.key = file.key;
    done.size = file.content.size();
    bool archive = file.kind == Kind::archive || file.kind == Kind::tarball;
    TRY(done.state, archive ? put_archive(file) : put_text(file), "while uploading " + file.name);
    if (request_.on_bytes) request_.on_bytes(done.size);
    return {};
  }

  bool same_size(const std::string& key, std::uint64_t size) const {
    auto found = there_.find(key);
    return found != there_.end() && found->second == size;
  }

  /// Its checksum file comes last: where that stands with the same digest, the archive is complete.
  Result<State> put_archive(const OutputFile& file) {
    auto sidecar = file.key + std::string(k_checksum_suffix);
    TRY(bool vouched, says(sidecar, file));
    if (vouched && same_size(file.key, file.content.size())) return State::there;
    auto wrote = store::put_once(store_, file.key,
                                 {file.content, *file.sha256, content_type_of(file.name), std::string(k_immutable)});
    if (!wrote && wrote.error().is(codes::file_changed)) return other_bytes(file, wrote.error());
    if (!wrote) return fail(std::move(wrote).error());
    if (*wrote) ++writes_;
    if (vouched) return *wrote ? State::written : State::there;
    auto line = content::Rope::literal(checksum_line(*file.sha256, file.name));
    TRY(auto digest, content::sha256_of(line));
    TRY(auto wrote_line,
        store::put_once(store_, sidecar, {line, digest, content_type_of(sidecar), std::string(k_immutable)}));
    if (wrote_line) ++writes_;
    return *wrote ? State::written : State::there;
  }

  /// Whether a checksum file stands there with the archive's digest, in whatever spelling.
  Result<bool> says(const std::string& sidecar, const OutputFile& file) {
    if (!there_.contains(sidecar)) return false;
    TRY(auto text, store_.get(sidecar, k_checksum_bytes_max));
    auto digest = text ? parse_checksum(*text, file.name) : Result<Sha256>(Sha256());
    return digest && *digest == *file.sha256;
  }

  /// A mismatch is a warning if the build failed: the archive was still being written when the build ended.
  Result<State> other_bytes(const OutputFile& file, const Error& error) {
    auto damaged = Error::of(ErrorKind::corrupt, "A012", fmt::format("{} does not match its checksum", file.name))
                       .with_details(error.details)
                       .with_hint("pack it again: what is next to it belongs to other bytes");
    if (!request_.build_failed) return fail(std::move(damaged));
    std::lock_guard lock(mutex_);
    report_.findings.push_back({"A043", Severity::warning, file.name, damaged.message, "it is left out"});
    return State::left_out;
  }

  Result<State> put_text(const OutputFile& file) {
    bool known = there_.contains(file.key);
    if (same_size(file.key, file.content.size())) {
      TRY(auto ours, content::sha256_of(file.content));
      TRY(auto theirs, store::digest_of(store_, file.key));
      if (theirs && *theirs == ours) return State::there;
    }
    store::PutOptions options;
    options.content_type = content_type_of(file.name);
    options.cache_control = k_short;
    TRY_DO(store_.put(file.key, file.content, options));
    ++writes_;
    return known ? State::replaced : State::written;
  }

  // the record and the pages: several jobs of a run write them

  /// `make` gets what stands there and returns what must; until no rival was faster.
  Result<bool> settle(const std::string& key,
                      const std::function<Result<std::string>(const std::optional<std::string>&)>& make) {
    std::optional<std::string> before;
    Error last; // of the write before
    for (unsigned round = 0; round < k_rounds_max; ++round) {
      std::string etag;
      TRY(auto standing, store_.get(key, k_standing_page_bytes_max, &etag));
      TRY(auto wanted, make(standing));
      if (standing && *standing == wanted) return false;
      bool lost = last.kind == ErrorKind::outcome_unknown && standing == before;
      if (lost) return fail(std::move(last)); // the store has tried as often as it does
      before = standing;
      store::PutOptions options;
      options.content_type = content_type_of(key);
      options.cache_control = k_short;
      if (conditional_)
        options.precondition = standing ? store::Precondition::if_match(etag) : store::Precondition::if_absent();
      auto put = store_.put(key, content::Rope::literal(wanted), options);
      if (put) ++writes_;
      if (put) return true;
      auto kind = put.error().kind;
      bool again = kind == ErrorKind::precondition_failed || kind == ErrorKind::outcome_unknown ||
                   put.error().is(codes::object_exists);
      if (!again) return fail(std::move(put).error());
      last = std::move(put).error();
    }
    return fail(ErrorKind::precondition_failed, "R003", fmt::format("`{}` changes faster than it can be written", key),
                "run the command again");
  }

  /// What other uploads of this group announced stays announced; what a failed build did, is done again.
  UploadRecord record_over(const std::optional<std::string>& standing, bool complete) const {
    UploadRecord record;
    if (standing)
      if (auto old = parse_upload_record(*standing, k_upload_record); old && !old->build_failed)
        record = std::move(*old);
    record.group = request_.group;
    record.complete = complete;
    record.build_failed = request_.build_failed;
    for (const auto& file : outputs_.files)
      if (file.kind == Kind::archive) record.archives.insert_or_assign(file.name, *file.sha256);
    return record;
  }
  Result<void> write_record(bool complete) {
    TRY_DO(settle(below("manifests") + std::string(k_upload_record), [&](const auto& standing) -> Result<std::string> {
      return upload_record_text(record_over(standing, complete));
    }));
    return {};
  }
  /// False: the record says already what it will say in the end.
  Result<bool> announce() {
    TRY(auto standing, store_.get(below("manifests") + std::string(k_upload_record), k_upload_record_bytes_max));
    if (standing && *standing == upload_record_text(record_over(standing, !request_.build_failed))) return false;
    if (standing && request_.build_failed) tell_reopened(*standing);
    TRY_DO(write_record(false));
    return true;
  }
  void tell_reopened(const std::string& standing) {
    auto old = parse_upload_record(standing, k_upload_record);
    if (!old || !old->complete) return;
    auto run = prefix_.substr(0, prefix_.size() - 1);
    report_.findings.push_back({"A045", Severity::warning, run,
                                "it was complete, and is not any more: this upload says that the build failed",
                                "wrong run? `run upload` without --build-failed makes it complete again"});
  }

  Result<void> page(const std::string& key, const std::string& title,
                    const std::function<std::optional<std::string>(const std::string& name)>& shown) {
    auto directory = key.substr(0, key.rfind('/') + 1);
    TRY_DO(settle(key, [&](const auto&) -> Result<std::string> {
      TRY(auto objects, store_.list(directory));
      std::vector<Listed> entries;
      for (const auto& object : objects)
        if (auto name = shown(object.key.substr(directory.size()))) entries.push_back({*name, object.size});
      return request_.page(title, entries);
    }));
    return {};
  }

  Result<void> pages() {
    auto known = pages_of(outputs_, request_);
    auto run = prefix_.substr(0, prefix_.size() - 1);
    report_.manifest = known.manifest;
    report_.logs_page = known.logs;
    if (!known.logs.empty())
      TRY_DO(page(known.logs, "Logs of " + run,
                  [](const std::string& name) { return name == "index.html" ? std::nullopt : std::optional(name); }));
    auto of_run = [](const std::string& name) -> std::optional<std::string> {
      bool direct = name.find('/') == name.npos;
      if (direct) return name.ends_with(".html") ? std::nullopt : std::optional(name);
      bool leads = name.ends_with("/index.html") && name.find("/simple") == name.npos;
      return leads || name.starts_with("manifests/") ? std::optional(name) : std::nullopt;
    };
    std::vector<std::string> names{"index.html"};
    if (request_.february && !request_.group.empty()) names.push_back("index-" + request_.group + ".html");
    for (const auto& name : names) TRY_DO(page(prefix_ + name, "Outputs of " + run, of_run));
    report_.artifacts_page = known.artifacts;
    return {};
  }

  store::ObjectStore& store_;
  const Outputs& outputs_;
  const UploadRequest& request_;
  std::string prefix_;
  std::map<std::string, std::uint64_t> there_;
  bool conditional_ = true;
  std::atomic<std::uint64_t> writes_ = 0;
  std::mutex mutex_;
  UploadReport report_;
};

} // namespace

std::string content_type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> k_types{
      {{".log", "text/plain; charset=utf-8"},
       {".txt", "text/plain; charset=utf-8"},
       {".sha256sum", "text/plain; charset=utf-8"},
       {".md", "text/markdown; charset=utf-8"},
       {".html", "text/html; charset=utf-8"},
       {".json", "application/json"},
       {".xml", "application/xml"},
       {".csv", "text/csv; charset=utf-8"},
       {".zst", "application/zstd"},
       {".xz", "application/x-xz"},
       {".tgz", "application/gzip"},
       {".gz", "application/gzip"}}};
  for (auto [ending, type] : k_types)
    if (name.ends_with(ending)) return std::string(type);
  return "application/octet-stream";
}

OutputPages pages_of(const Outputs& outputs, const UploadRequest& request) {
  auto prefix = request.layout.prefix();
  OutputPages pages;
  for (const auto& file : outputs.files) {
    if (file.kind == Kind::manifest && pages.manifest.empty()) pages.manifest = file.key;
    if (file.kind == Kind::log)
      pages.logs = prefix + "logs/" + (request.group.empty() ? "" : request.group + "/") + "index.html";
  }
  bool february = request.february && !request.group.empty();
  pages.artifacts = prefix + (february ? "index-" + request.group + ".html" : "index.html");
  return pages;
}

Result<UploadReport> upload_outputs(store::ObjectStore& store, const Outputs& outputs, const UploadRequest& request) {
  return Upload(store, outputs, request).run();
}

} // namespace quarry::artifact
