#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/writing.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::wheel {

namespace {

Result<std::string> find_dist_info(const std::vector<sys::TreeEntry>& entries, const std::string& tree) {
  std::vector<std::string> found;
  for (const auto& e : entries)
    if (e.type == sys::EntryType::directory && e.path.find('/') == std::string::npos &&
        e.path.ends_with(k_dist_info_suffix))
      found.push_back(e.path);
  if (found.size() == 1) return found.front();
  return fail(ErrorKind::invalid_argument, "W006",
              fmt::format("{} has {} dist-info directories, a wheel needs one", tree,
                          found.empty() ? "no" : std::to_string(found.size())),
              found.empty() ? "name the directory that `quarry wheel unpack` made"
                            : "remove all but one of " + text::join(found, ", "));
}

// "py2.py3-none-any" of the sorted sets, when the tags are all of their product and nothing else.
Result<dist::WheelTags> compressed(const std::vector<std::string>& tags) {
  std::set<std::string> sets[3];
  for (const auto& tag : tags) {
    auto parts = text::split(tag, '-');
    if (parts.size() != 3)
      return fail(ErrorKind::invalid_argument, "W012",
                  fmt::format("the tag {} in WHEEL does not have three parts", tag), "write it as python-abi-platform");
    for (std::size_t i = 0; i < 3; ++i)
      for (auto& part : text::split(parts[i], '.')) sets[i].insert(std::move(part));
  }
  auto joined = [](const std::set<std::string>& set) {
    return text::join(std::vector<std::string>(set.begin(), set.end()), ".");
  };
  return dist::WheelTags{joined(sets[0]), joined(sets[1]), joined(sets[2])};
}

Result<std::string> file_name_of(const std::string& tree, const std::string& dist_info) {
  auto path = path::join(tree, dist_info + "/WHEEL");
  TRY(auto text, sys::read_file(path, dist::k_wheel_bytes_max));
  TRY(auto info, dist::WheelInfo::parse(text), "while reading " + path);
  if (info.tags.empty())
    return fail(ErrorKind::invalid_argument, "W012", fmt::format("{} has no Tag, so the wheel's name is unknown", path),
                "add a line such as `Tag: py3-none-any`");
  TRY(auto tags, compressed(info.tags), "while reading " + path);
  auto name_version = dist_info.substr(0, dist_info.size() - k_dist_info_suffix.size());
  auto build = info.build.empty() ? "" : "-" + info.build;
  return fmt::format("{}{}-{}-{}-{}.whl", name_version, build, tags.python, tags.abi, tags.platform);
}

Result<std::vector<Member>> members_of(const std::string& tree, const std::vector<sys::TreeEntry>& entries,
                                       const std::string& dist_info) {
  const std::set<std::string> left_out{dist_info + "/RECORD", dist_info + "/RECORD.jws", dist_info + "/RECORD.p7s"};
  std::vector<Member> members;
  for (const auto& e : entries) {
    if (e.type == sys::EntryType::directory || left_out.contains(e.path)) continue;
    if (e.type != sys::EntryType::file)
      return fail(ErrorKind::invalid_argument, "W013",
                  fmt::format("{} is a {}, and wheels hold files only", path::join(tree, e.path),
                              e.type == sys::EntryType::symlink ? "symbolic link" : "special file"),
                  "put the file itself there, or leave it out");
    members.push_back({e.path, content::Rope::file(path::join(tree, e.path), e.size), e.executable()});
  }
  return members;
}

/// What is read proves itself. A file that was empty is not read, and may have got its content since it was listed.
Result<void> check_empty_files(const std::string& tree, const std::vector<sys::TreeEntry>& entries) {
  for (const auto& e : entries) {
    if (e.type != sys::EntryType::file || e.size != 0) continue;
    auto path = path::join(tree, e.path);
    TRY(auto file, sys::File::open_read(path));
    TRY(auto size, file.size());
    if (size != 0)
      return fail(ErrorKind::corrupt, "D008", fmt::format("{} changed while it was read", path),
                  "something else writes to it: run the command again when it is done");
  }
  return {};
}

} // namespace

Result<Built> pack_tree(const std::string& tree, const std::string& output_dir, const PackOptions& options) {
  TRY(auto entries, sys::list_tree(tree));
  Draft draft;
  TRY(draft.dist_info, find_dist_info(entries, tree));
  TRY(draft.file_name, file_name_of(tree, draft.dist_info));
  TRY(draft.members, members_of(tree, entries, draft.dist_info));
  TRY(auto packed, write_draft(std::move(draft), output_dir, options));
  TRY_DO(check_empty_files(tree, entries));
  return std::move(packed).finish();
}

} // namespace quarry::wheel
