#include "artifact/stage.hpp"

#include "artifact/exploded.hpp"
#include "sys/beneath.hpp"

namespace quarry::artifact {

namespace {
Result<void> extract(const SourceItem& item, const std::string& directory, const UnpackOptions& options,
                     Fetched& fetched) {
  TRY(auto unpacked, extract_archive(item, directory, options));
  // A base directory that the manifest names may be empty: it is made all the same.
  TRY(auto into, sys::Beneath::open(directory));
  for (const auto& base : unpacked.bases) TRY_DO(into.make_directories(base));
  fetched.digest = unpacked.digest;
  fetched.verified = unpacked.verified;
  fetched.archive_bytes = unpacked.archive_bytes;
  fetched.files = unpacked.files;
  fetched.bytes = unpacked.bytes;
  fetched.case_pairs = unpacked.case_pairs;
  return {};
}

Result<void> copy(const SourceItem& item, const std::string& directory, const UnpackOptions& options,
                  Fetched& fetched) {
  TRY(auto tree, check_exploded(item));
  TRY_DO(copy_exploded(item, tree, directory));
  fetched.files = tree.files;
  fetched.bytes = tree.bytes;
  fetched.case_pairs = tree.case_pairs;
  return options.on_bytes ? options.on_bytes(tree.bytes) : Result<void>{};
}
} // namespace

Result<std::string> stage_item(const SourceItem& item, const Workspace& space, const UnpackOptions& options,
                               Fetched& fetched) {
  if (item.defect) return fail(*item.defect);
  TRY(auto directory, space.stage(item.name.text()));
  auto filled = item.exploded ? copy(item, directory, options, fetched) : extract(item, directory, options, fetched);
  if (filled) return directory;
  (void)sys::remove_tree(directory).has_value(); // at once: a full disk gets room for the others
  return fail(std::move(filled).error());
}

} // namespace quarry::artifact
