#pragma once
// What collect_outputs() found, into the run's place: the record that announces it, the files, the record that says all
// is there, the pages. Killed anywhere, the same upload completes it; repeated, it writes nothing.
#include "artifact/outputs.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::artifact {

struct Listed {
  std::string name; ///< relative to its page
  std::uint64_t size = 0;
};

struct UploadRequest {
  run::Layout layout;
  std::string group;
  std::string stage = {}; ///< as of the outputs; such an upload leaves the record of the archives alone
  bool build_failed = false;
  bool february = false; ///< the page of the artifacts as `index-{group}.html`, too
  unsigned at_once = 4;  ///< large files on their way; small ones 8 times as many
  /// Makes the HTML of a page.
  std::function<std::string(const std::string& title, const std::vector<Listed>& entries)> page;
  std::function<void(std::uint64_t)> on_bytes = {}; ///< of files that are done, from any thread
};

/// Keys of what people look at; a key is empty if its object does not exist.
struct OutputPages {
  std::string artifacts; ///< none for the logs of a stage
  std::string logs, manifest;
  std::string times; ///< `build_observability.html` among the logs: where the build's time went
};
OutputPages pages_of(const Outputs& outputs, const UploadRequest& request);

struct Uploaded {
  std::string key;
  std::uint64_t size = 0;
  enum class State : std::uint8_t { written, there, replaced, left_out } state = State::written;
};

struct UploadReport {
  std::vector<Uploaded> files; ///< in the order of the outputs
  Findings findings; ///< A043: of a failed build, archives that are not what their checksum files say; A045: the run
                     ///< was complete before it
  std::uint64_t writes = 0; ///< objects
  OutputPages pages;
};

/// Archives and tarballs never change: the name with other bytes is already_exists R009 with both digests, before
/// anything is written, unless the build failed. Logs and manifests are replaced when they differ. An archive that is
/// not what its checksum file says is corrupt A012. Otherwise what the store fails with.
Result<UploadReport> upload_outputs(store::ObjectStore& store, const Outputs& outputs, const UploadRequest& request);

/// By the name's ending: "text/plain; charset=utf-8" for logs.
std::string content_type_of(std::string_view name);

} // namespace quarry::artifact
