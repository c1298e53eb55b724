#include "inspect/size_changes.hpp"

#include "inspect/device_verdict.hpp"
#include "inspect/member_names.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <map>

namespace quarry::inspect {

namespace {
struct ByTarget {
  bool operator()(const std::string& a, const std::string& b) const { return target_less(a, b); }
};
using BytesOfTargets = std::map<std::string, std::uint64_t, ByTarget>;

struct FileSizes {
  std::string path;
  std::uint64_t download = 0, installed = 0;
  BytesOfTargets targets;
};

struct WheelFiles {
  WheelSizes sizes;
  std::map<std::string, FileSizes> files; ///< by `path`
};

Result<WheelFiles> files_of(const Package& wheel, const DeviceOptions& options) {
  TRY(auto code, list_device_code({DeviceOperand{wheel.file, {}, false, wheel.zip}}, options));
  std::map<std::string, BytesOfTargets> device;
  for (const auto& file : code.files)
    for (const auto& object : file.contents.objects)
      device[file.path.substr(file.path.find(".whl!") + 5)][object.target.str()] += object.bytes;
  WheelFiles made;
  made.sizes.download = wheel.size;
  for (const auto& member : wheel.zip->members()) {
    if (member.is_directory) continue;
    made.sizes.installed += member.size;
    auto shown = without_version(member.name);
    made.files[shown] = {shown, member.stored_size, member.size, std::move(device[member.name])};
  }
  return made;
}

std::int64_t difference(std::uint64_t before, std::uint64_t now) {
  return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before); // both below 2^48: sizes of files
}

std::vector<TargetChange> targets_changed(const BytesOfTargets& before, const BytesOfTargets& now) {
  std::map<std::string, TargetChange, ByTarget> changes;
  for (const auto& [target, bytes] : before) changes[target] = {target, -static_cast<std::int64_t>(bytes), false, true};
  for (const auto& [target, bytes] : now) {
    auto& change = changes[target];
    change.target = target;
    change.bytes += static_cast<std::int64_t>(bytes);
    change.added = !change.gone;
    change.gone = false;
  }
  std::vector<TargetChange> out;
  for (auto& [_, change] : changes)
    if (change.bytes != 0 || change.added || change.gone) out.push_back(std::move(change));
  return out;
}

SizeChange change_of(const FileSizes& before, const FileSizes& now) {
  SizeChange change;
  change.path = now.path.empty() ? before.path : now.path;
  change.download = difference(before.download, now.download);
  change.installed = difference(before.installed, now.installed);
  change.added = before.path.empty();
  change.gone = now.path.empty();
  change.targets = targets_changed(before.targets, now.targets);
  return change;
}
} // namespace

Result<SizeComparison> compare_sizes(const Package& left, const Package& right, const DeviceOptions& options) {
  TRY(auto before, files_of(left, options));
  TRY(auto now, files_of(right, options));
  SizeComparison found{before.sizes, now.sizes, {}};
  for (const auto& [name, file] : before.files) {
    auto other = now.files.find(name);
    found.changes.push_back(change_of(file, other == now.files.end() ? FileSizes() : other->second));
  }
  for (const auto& [name, file] : now.files)
    if (!before.files.contains(name)) found.changes.push_back(change_of({}, file));
  std::erase_if(found.changes, [](const SizeChange& change) {
    return change.download == 0 && change.installed == 0 && change.targets.empty() && !change.added && !change.gone;
  });
  std::ranges::stable_sort(found.changes, [](const SizeChange& a, const SizeChange& b) {
    return std::abs(a.download) > std::abs(b.download);
  });
  return found;
}

} // namespace quarry::inspect
