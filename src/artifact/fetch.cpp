#include "artifact/fetch.hpp"

#include "artifact/checksum.hpp"
#include "artifact/fetch_state.hpp"
#include "artifact/flatten.hpp"
#include "artifact/manifest.hpp"
#include "artifact/stage.hpp"
#include "base/text.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::artifact {

using State = Fetched::State;

namespace {
class Fetch {
public:
  Fetch(const std::vector<SourceItem>& items, std::string output, const FetchOptions& options, Workspace space)
      : items_(items), output_(std::move(output)), options_(options), space_(std::move(space)), staged_(items.size()) {
    unpack_.codec = codec_for(options.jobs, options.remote, std::min<std::size_t>(at_once(), items.size()));
    unpack_.allow_unverified = options.allow_unverified;
    unpack_.max_ratio = options.max_ratio;
    unpack_.on_bytes = [&options](std::uint64_t bytes) -> Result<void> {
      if (options.on_bytes) options.on_bytes(bytes);
      return {};
    };
  }

  Result<FetchReport> run() {
    report_.artifacts.resize(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) introduce(i);
    bool flat = options_.form == FetchForm::flat;
    if (flat && flat_is_complete(output_, report_)) return std::move(report_);
    // Largest first, so that no thread ends up alone with it.
    std::vector<std::size_t> order(items_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return items_[a].size > items_[b].size; });
    TRY_DO(parallel_for(order.size(), at_once(), [&](std::size_t i) { return settle(order[i]); }));
    if (flat && report_.failures() == 0) TRY_DO(merge_flat(staged_, output_, report_));
    return std::move(report_);
  }

private:
  unsigned at_once() const { return options_.at_once > 0 ? options_.at_once : options_.jobs; }

  void introduce(std::size_t index) {
    const auto& item = items_[index];
    auto& fetched = report_.artifacts[index];
    fetched.name = item.name;
    fetched.source = item.file;
    fetched.exploded = item.exploded;
    fetched.digest = item.checksum;
    fetched.archive_bytes = item.size;
  }

  /// Only an interruption stops the others.
  Result<void> settle(std::size_t index) {
    auto& fetched = report_.artifacts[index];
    auto done = one(index, fetched);
    if (done) return {};
    if (done.error().kind == ErrorKind::cancelled) return done;
    fetched.state = State::failed;
    fetched.error = std::move(done).error();
    return {};
  }

  Result<void> one(std::size_t index, Fetched& fetched) {
    const auto& item = items_[index];
    if (item.defect) return fail(*item.defect);
    if (options_.form == FetchForm::flat) {
      TRY(staged_[index], stage_item(item, space_, unpack_, fetched));
      return {};
    }
    return options_.form == FetchForm::archives && !item.exploded ? keep_archive(item, fetched)
                                                                  : explode(item, fetched);
  }

  Result<void> explode(const SourceItem& item, Fetched& fetched) {
    auto final_path = path::join(output_, item.name.text());
    auto state = read_fetch_state(output_, item.name);
    bool there = sys::exists(final_path) || sys::read_link(final_path).has_value();
    if (there && !state)
      return fail(ErrorKind::already_exists, "A014",
                  fmt::format("{} already exists and was not made by a fetch", final_path),
                  "remove it or choose another output directory");
    if (there && !item.exploded && state->digest && state->digest == item.checksum &&
        still_complete(output_, item.name, *state))
      return keep(*state, fetched);
    TRY(auto staged, stage_item(item, space_, unpack_, fetched));
    // The state is written between the two renames: a state without its directory means "do it again"; the reverse
    // never happens.
    TRY(auto listing, sys::list_tree(staged));
    TRY_DO(space_.discard(final_path));
    FetchState fresh{item.file, fetched.digest, fetched.verified, fetched.files, fetched.bytes};
    TRY_DO(write_fetch_state(output_, item.name, fresh, listing));
    return sys::rename(staged, final_path);
  }

  Result<void> keep(const FetchState& state, Fetched& fetched) const {
    fetched.state = State::kept;
    fetched.verified = state.verified;
    fetched.files = state.files;
    fetched.bytes = state.bytes;
    return unpack_.on_bytes(fetched.archive_bytes);
  }

  Result<void> keep_archive(const SourceItem& item, Fetched& fetched) {
    if (!item.checksum && !options_.allow_unverified) return fail(no_checksum_error(item.file));
    auto final_path = path::join(output_, item.file);
    fetched.verified = item.checksum.has_value();
    fetched.bytes = item.size;
    if (item.checksum && sys::exists(final_path)) {
      auto found = content::sha256_of_file(final_path);
      if (found && *found == *item.checksum) {
        fetched.state = State::kept;
        fetched.rehashed = true;
        return write_sidecar(item, final_path);
      }
    }
    TRY_DO(copy_archive(item, final_path, fetched));
    return item.checksum ? write_sidecar(item, final_path) : Result<void>{};
  }

  static Result<void> write_sidecar(const SourceItem& item, const std::string& path) {
    return sys::write_file(path + std::string(k_checksum_suffix), checksum_line(*item.checksum, item.file));
  }

  Result<void> copy_archive(const SourceItem& item, const std::string& path, Fetched& fetched) {
    TRY(auto rope, item.open(), "while opening " + item.file);
    TRY(auto file, sys::AtomicFile::create(path));
    Sha256Hasher hasher;
    std::uint64_t size = 0;
    TRY_DO(content::pump(rope,
                         [&](std::span<const std::byte> bytes) -> Result<void> {
                           hasher.update(bytes);
                           TRY_DO(file.file().write_at(size, bytes), "while writing " + path);
                           size += bytes.size();
                           TRY_DO(sys::check_interrupted());
                           return unpack_.on_bytes(bytes.size());
                         }),
           "while fetching " + item.file);
    fetched.digest = hasher.finish();
    fetched.archive_bytes = fetched.bytes = size;
    fetched.files = 1;
    if (item.checksum && *fetched.digest != *item.checksum)
      return fail(checksum_error(item.file, *item.checksum, *fetched.digest, size, rope.size()));
    // An old checksum beside new bytes would look like damage.
    TRY_DO(sys::remove_file(path + std::string(k_checksum_suffix)));
    return file.commit_replace();
  }

  const std::vector<SourceItem>& items_;
  std::string output_;
  const FetchOptions& options_;
  Workspace space_;
  UnpackOptions unpack_;
  std::vector<std::string> staged_; // flat form: where each item lies
  FetchReport report_;
};

/// What damages trust comes first, then what stops this machine, then the rest.
constexpr int k_machine_rank = 2;
int rank(ErrorKind kind) {
  return kind == ErrorKind::corrupt                                                      ? 0
         : kind == ErrorKind::internal                                                   ? 1
         : kind == ErrorKind::resource_exhausted || kind == ErrorKind::permission_denied ? k_machine_rank
                                                                                         : 3;
}
} // namespace

std::uint64_t FetchReport::failures() const {
  return static_cast<std::uint64_t>(
      std::count_if(artifacts.begin(), artifacts.end(), [](const Fetched& f) { return f.state == State::failed; }));
}

bool FetchReport::partial() const {
  constexpr std::array k_later = {ErrorKind::unavailable, ErrorKind::timed_out, ErrorKind::not_found,
                                  ErrorKind::unauthenticated};
  return failures() > 0 && failures() < artifacts.size() &&
         std::all_of(
             artifacts.begin(), artifacts.end(),
             [&](const Fetched& f) {
               return f.state != State::failed ||
                      std::find(k_later.begin(), k_later.end(), f.error->kind) != k_later.end();
             });
}

Result<FetchReport> fetch(const std::vector<SourceItem>& items, const std::string& output_directory,
                          const FetchOptions& options) {
  TRY(auto space, Workspace::open(output_directory));
  return Fetch(items, output_directory, options, std::move(space)).run();
}

Error failure_of(const FetchReport& report, const std::string& output_directory) {
  std::vector<const Fetched*> failed;
  for (const auto& artifact : report.artifacts)
    if (artifact.state == State::failed) failed.push_back(&artifact);
  std::stable_sort(failed.begin(), failed.end(),
                   [](auto a, auto b) { return rank(a->error->kind) < rank(b->error->kind); });
  auto total = report.artifacts.size();
  auto complete = fmt::format("{} of {} artifacts are complete in {}; {} not extracted", total - failed.size(), total,
                              output_directory,
                              failed.size() == 1 ? "this one was" : fmt::format("the other {} were", failed.size()));
  if (failed.size() == 1) return Error(*failed[0]->error).with_detail(std::move(complete));
  bool alike =
      std::all_of(failed.begin(), failed.end(), [&](auto f) { return f->error->code == failed[0]->error->code; });
  if (alike && rank(failed[0]->error->kind) == k_machine_rank) {
    // One full disk is one failure, however many archives it stopped.
    Error error = *failed[0]->error;
    std::vector<std::string> names;
    for (auto f : failed) names.push_back(f->source);
    error.details.push_back("not extracted: " + text::join(names, ", "));
    error.details.push_back(std::move(complete));
    return error;
  }
  auto error = Error::of(failed[0]->error->kind, "A013",
                         fmt::format("{} of {} artifacts could not be fetched", failed.size(), total))
                   .with_hint(failed[0]->error->hint);
  for (auto f : failed) {
    error.details.push_back(fmt::format("{}: {}: {}", f->source, f->error->code, f->error->message));
    for (const auto& detail : f->error->details) error.details.push_back("  " + detail);
  }
  error.details.push_back(std::move(complete));
  return error;
}

} // namespace quarry::artifact
