#pragma once
// What the commands over artifacts share: where they take them from, which they take, how they show them.
#include "artifact/selection.hpp"
#include "cli/command.hpp"
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

constexpr std::string_view k_artifact_locator_help =
    "a directory, one archive, `run:[OWNER-REPO/]ID[-PLATFORM]` below `--store`, or a run's own place: "
    "`s3://BUCKET/PREFIX`, `https://HOST/PATH`, `commit:SHA`, `pr:OWNER/REPO#N`";
/// Whether a store of this locator is reached over a network.
bool is_remote_place(const std::string& place);
/// One list of flags from several, in their order.
std::vector<Flag> joined(const std::vector<std::vector<Flag>>& lists);
/// --store, --tarballs, --transfers; for artifact_source().
std::vector<Flag> artifact_source_flags();
/// invalid_argument A090 when both are one directory: what is written there would be among what is read.
Result<void> refuse_same_directory(const std::string& from, const std::string& output);
/// --exclude, --artifact-group, --amdgpu-targets; for selected_artifacts().
std::vector<Flag> artifact_selection_flags();
/// Whether an artifact group is TheRock's word for every family of a run: `multi-arch-release`, `multi-arch-asan`.
bool means_every_family(std::string_view group);
/// The families of an artifact group, which may be a list: `A;B`. None where it means every family, or is empty.
std::vector<std::string> families_of_group(std::string_view group);
Flag include_flag();
/// --allow-unverified, --max-ratio; for max_ratio().
std::vector<Flag> artifact_trust_flags();

/// A030 for a run without a store.
Result<artifact::Source> artifact_source(const Context& context, const std::string& locator,
                                         const Arguments& arguments);
/// What is wanted of a source. A group that is there in part (A022) or in two forms (A098) is a finding of the source.
Result<std::vector<artifact::SourceItem>> selected_artifacts(const Context& context, artifact::Source& source,
                                                             const Arguments& arguments,
                                                             std::vector<std::string> include);
Result<std::uint64_t> max_ratio(const Arguments& arguments); ///< A031
/// --transfers, else four from a network; 0: as many as there are jobs. A036.
Result<unsigned> archives_at_once(const artifact::Source& source, const Arguments& arguments);
/// Takes out of `items` what is absent. Without --allow-partial not_found A035 when there is any, or when an upload of
/// the source has not ended or its build failed; else findings of the source.
Result<void> require_complete(artifact::Source& source, std::vector<artifact::SourceItem>& items,
                              const Arguments& arguments);
Flag allow_partial_flag();

struct ArtifactSize {
  std::uint64_t bytes = 0, files = 0;
};
/// The size of an archive, or the sum over the files of an exploded artifact.
Result<ArtifactSize> size_of(const artifact::SourceItem& item);

Json name_json(const artifact::Name& name);
Json digest_json(const std::optional<Sha256>& digest);
Json error_json(const Error& error); ///< {code, message, details}: of one artifact among others

/// Counts bytes from many threads into one bar.
class Meter {
public:
  Meter(Context& context, std::string label, std::uint64_t total)
      : progress_(context.out.progress(std::move(label), total)), started_(context.clock.steady_ns()),
        clock_(context.clock) {}
  void add(std::uint64_t bytes) { progress_->update(done_ += bytes); }
  double finish() {
    progress_->finish();
    return static_cast<double>(clock_.steady_ns() - started_) / 1e9;
  }

private:
  std::unique_ptr<Progress> progress_;
  std::atomic<std::uint64_t> done_ = 0;
  std::uint64_t started_;
  const sys::Clock& clock_;
};

Command artifact_fetch_command();   // commands/artifact_fetch.cpp
Command artifact_find_command();    // commands/artifact_find.cpp
Command artifact_pack_command();    // commands/artifact_pack.cpp
Command artifact_tarball_command(); // commands/artifact_tarball.cpp
Command run_upload_command();       // commands/run_upload.cpp

} // namespace quarry::cli
