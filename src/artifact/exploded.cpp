#include "artifact/exploded.hpp"

#include "artifact/case_rule.hpp"
#include "artifact/manifest.hpp"
#include "base/codes.hpp"
#include "sys/beneath.hpp"
#include "sys/clock.hpp"
#include "sys/copy.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

using sys::EntryType;

namespace {
bool belongs(const SourceItem& item, const sys::TreeEntry& entry) {
  if (entry.path == k_manifest_name) return entry.type == EntryType::file;
  if (const auto* base = base_of(item.bases, entry.path))
    return base->size() != entry.path.size() || entry.type == EntryType::directory;
  return entry.type == EntryType::directory && std::any_of(item.bases.begin(), item.bases.end(), [&](const auto& base) {
           return base.starts_with(entry.path + "/");
         });
}

Unexpected uncovered(const std::string& path) {
  return fail(ErrorKind::corrupt, "A008", fmt::format("{} is in no base directory of the manifest", path),
              "add its directory to the manifest or remove it");
}

Result<void> refuse_uncovered_below(const std::string& directory, const std::string& inside,
                                    const std::vector<std::string>& bases) {
  TRY(auto entries, sys::list_directory(path::join(directory, inside)));
  for (const auto& entry : entries) {
    auto path = inside.empty() ? entry.path : path::join(inside, entry.path);
    if (path == k_manifest_name || base_of(bases, path)) continue;
    if (entry.type != EntryType::directory) return uncovered(path::join(directory, path));
    TRY_DO(refuse_uncovered_below(directory, path, bases));
  }
  return {};
}

/// Reuses the checks of archives. No archive exists yet, so their hint is replaced.
template <class T> Result<T> of_directory(Result<T> checked) {
  if (checked || (!checked.error().is(codes::members_clash) && !checked.error().is(codes::leads_outside)))
    return checked;
  checked.error().hint = "rename or fix it where the artifact is made";
  return checked;
}
} // namespace

tar::Type tar_type(sys::EntryType type) {
  return type == EntryType::directory ? tar::Type::directory
         : type == EntryType::symlink ? tar::Type::symlink
                                      : tar::Type::file;
}

Result<ExplodedTree> check_exploded(const SourceItem& item) {
  if (item.defect) return fail(*item.defect);
  ExplodedTree tree;
  if (item.chosen) {
    tree.entries = *item.chosen;
  } else {
    TRY(tree.entries, sys::list_tree(item.directory));
  }
  tar::Paths paths(tar::Limits{.case_rule = case_rule_of(item)});
  for (const auto& entry : tree.entries) {
    auto where = fmt::format("in {}", item.directory);
    if (entry.type == EntryType::other)
      return fail(ErrorKind::corrupt, "T009",
                  fmt::format("{} is a device, fifo or socket", path::join(item.directory, entry.path)),
                  "an artifact holds files, directories and links only");
    if (!belongs(item, entry)) return uncovered(path::join(item.directory, entry.path));
    TRY_DO(of_directory(tar::checked_path(entry.path)), where);
    TRY_DO(of_directory(paths.add(entry.path, tar_type(entry.type), entry.link)), where);
    if (entry.type == EntryType::directory) continue;
    ++tree.files;
    tree.bytes += entry.size;
  }
  TRY_DO(of_directory(paths.check_links()), fmt::format("in {}", item.directory));
  tree.case_pairs = paths.case_pairs();
  return tree;
}

Result<void> refuse_uncovered(const std::string& directory, const std::vector<std::string>& bases) {
  return refuse_uncovered_below(directory, {}, bases);
}

Result<void> copy_exploded(const SourceItem& item, const ExplodedTree& tree, const std::string& directory) {
  TRY(auto from, sys::Beneath::open(item.directory));
  TRY(auto into, sys::Beneath::open(directory));
  for (const auto& entry : tree.entries) {
    TRY_DO(sys::check_interrupted());
    if (entry.type == EntryType::directory) TRY_DO(into.make_directories(entry.path));
    if (entry.type != EntryType::file) continue;
    TRY(auto source, from.open_read(entry.path));
    TRY(auto target, into.create_file(entry.path, entry.executable() ? 0755 : 0644));
    TRY_DO(sys::copy_content(source, target), "while copying " + entry.path);
  }
  for (const auto& entry : tree.entries)
    if (entry.type == EntryType::symlink) TRY_DO(into.symlink(entry.path, entry.link));
  return {};
}

} // namespace quarry::artifact
