#include "wheel/rewrite.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/opened.hpp"
#include "wheel/rewriting.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::wheel {

namespace {

// ---- retag

Unexpected refused(std::string message) {
  return fail(ErrorKind::invalid_argument, "W023", std::move(message),
              "`quarry wheel retag --help` shows what tags may be given");
}

Result<std::string> changed_set(const std::string& present, const std::string& said, std::string_view what) {
  bool add = said.starts_with('+'), remove = said.starts_with('-');
  auto names = text::split(add || remove ? said.substr(1) : said, '.');
  std::set<std::string> tags;
  if (add || remove)
    for (auto& tag : text::split(present, '.')) tags.insert(std::move(tag));
  for (auto& tag : names) {
    if (tag.empty()) return refused(fmt::format("the {} tag `{}` names nothing", what, said));
    if (remove && tags.erase(tag) == 0)
      return refused(fmt::format("the wheel does not have the {} tag {}, only {}", what, tag, present));
    if (!remove) tags.insert(std::move(tag));
  }
  if (tags.empty()) return refused(fmt::format("no {} tag is left", what));
  return text::join(std::vector<std::string>(tags.begin(), tags.end()), ".");
}

Result<std::string> new_file_name(const Opened& wheel, const Retag& changes) {
  auto tags = wheel.name.tags;
  if (changes.python) {
    TRY(tags.python, changed_set(tags.python, *changes.python, "Python"));
  }
  if (changes.abi) {
    TRY(tags.abi, changed_set(tags.abi, *changes.abi, "ABI"));
  }
  if (changes.platform) {
    TRY(tags.platform, changed_set(tags.platform, *changes.platform, "platform"));
  }
  auto build = changes.build.value_or(wheel.name.raw_build);
  if (tags == wheel.name.tags && build == wheel.name.raw_build) return refused("the wheel has these tags already");
  return fmt::format("{}-{}{}-{}-{}-{}.whl", wheel.name.raw_name, wheel.name.raw_version,
                     build.empty() ? "" : "-" + build, tags.python, tags.abi, tags.platform);
}

/// WHEEL with the tags and the build number of `name`; other lines as they are.
std::string retagged(std::string_view wheel, const dist::WheelName& name) {
  std::string kept;
  for (const auto& line : text::lines(wheel))
    if (!line.empty() && !text::starts_with_ignore_case(line, "tag:") && !text::starts_with_ignore_case(line, "build:"))
      kept += line + "\n";
  for (const auto& tag : name.tags.expanded()) kept += "Tag: " + tag + "\n";
  if (!name.raw_build.empty()) kept += "Build: " + name.raw_build + "\n";
  return kept;
}

// ---- derived from

/// The paths of a wheel, with `.dist-info` and `.data` named without project and version.
std::map<std::string, const zip::Member*> members_by_place(const Opened& wheel) {
  auto data = data_directory(wheel.dist_info);
  std::map<std::string, const zip::Member*> members;
  for (const auto& member : wheel.zip.members()) {
    if (member.is_directory) continue;
    auto top = top_directory(member.name);
    auto rest = member.name.substr(top.size());
    members.emplace(top == wheel.dist_info ? ".dist-info" + rest : top == data ? ".data" + rest : member.name, &member);
  }
  return members;
}

Result<Sha256> digest_of(const zip::Reader& zip, const zip::Member& member) {
  Sha256Hasher hasher;
  TRY_DO(zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    hasher.update(chunk);
    return {};
  }));
  return hasher.finish();
}

/// Whether both members have the same content and the same executable bit.
Result<bool> same_member(const zip::Reader& a, const zip::Member& left, const zip::Reader& b,
                         const zip::Member& right) {
  if (left.size != right.size || left.crc != right.crc || left.executable() != right.executable()) return false;
  if (left.method == right.method && left.stored_size == right.stored_size) {
    TRY(bool same, same_bytes(a.archive().slice(left.data_offset, left.stored_size),
                              b.archive().slice(right.data_offset, right.stored_size)));
    if (same) return true;
  }
  TRY(auto one, digest_of(a, left));
  TRY(auto other, digest_of(b, right));
  return one == other;
}

} // namespace

Result<Rewritten> retag(const std::string& path, const Retag& changes, const std::string& output_dir,
                        const std::function<void(std::uint64_t)>& on_progress) {
  TRY(auto wheel, open_wheel(path));
  TRY(auto file_name, new_file_name(wheel, changes));
  TRY(auto name, dist::WheelName::parse(file_name));
  TRY(auto old_text, text_of(wheel, "WHEEL", dist::k_wheel_bytes_max));
  TRY(auto files, files_after(wheel, {{wheel.dist_info + "/WHEEL", retagged(old_text, name)}}, path));
  TRY_DO(check_files_after(wheel, files, file_name));
  return write_files_after(wheel, std::move(files), {file_name, path::join(output_dir, file_name), 0}, on_progress);
}

Result<Derivation> compare_derived(const std::string& derived, const std::string& original) {
  TRY(auto now, content::Rope::file(derived));
  TRY(auto before, content::Rope::file(original));
  return compare_derived(PlacedWheel{std::move(now), derived}, PlacedWheel{std::move(before), original});
}

Result<Derivation> compare_derived(const PlacedWheel& derived, const PlacedWheel& original) {
  TRY(auto now, open_wheel(derived.bytes, derived.place));
  TRY(auto before, open_wheel(original.bytes, original.place));
  auto present = members_by_place(now), past = members_by_place(before);
  Derivation result;
  auto report = [&](const std::string& place, std::vector<std::string>& list, const char* what) {
    list.push_back(place.starts_with(".dist-info/") ? now.dist_info + place.substr(10) : place);
    if (!place.starts_with(".dist-info/"))
      result.findings.push_back(
          {"W024", Severity::error, fmt::format("{}!{}", derived.place, list.back()),
           fmt::format("{} {}", what, original.place),
           "make the wheel again from that one; only dist-info may change. If `quarry wheel thin` "
           "made it, code was removed on purpose, and thin itself proved the rest"});
  };
  for (const auto& [place, member] : present) {
    auto found = past.find(place);
    if (found == past.end()) {
      report(place, result.added, "it is not in");
      continue;
    }
    TRY(bool same, same_member(now.zip, *member, before.zip, *found->second), "while comparing " + member->name);
    if (same)
      ++result.equal_files, result.equal_bytes += member->size;
    else
      report(place, result.changed, "its content differs from that in");
  }
  for (const auto& [place, member] : past)
    if (!present.contains(place)) report(place, result.removed, "it is missing, but stands in");
  return result;
}

} // namespace quarry::wheel
