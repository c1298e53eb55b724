#include "archive/tar_paths.hpp"

#include "archive/zip_names.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::archive {

namespace {
constexpr unsigned k_expansions_max = 40; // Linux's own bound on links in one walk (MAXSYMLINKS)
constexpr std::uint64_t k_steps_max =
    50'000'000; // over all links of an archive: seconds, and 1,000 times what a large SDK needs
constexpr std::size_t k_target_bytes_max = 4095; // PATH_MAX without its NUL

Unexpected bad_name(std::string_view name, std::string_view why) {
  return fail(ErrorKind::corrupt, "T010", fmt::format("member \"{}\": {}", printable(name), why),
              "the archive is hostile or damaged: do not use it");
}
Unexpected bad_link(std::string_view path, std::string_view target, std::string_view why) {
  return fail(ErrorKind::corrupt, "T010", fmt::format("link {} -> \"{}\" {}", path, printable(target), why),
              "the archive is hostile or damaged: do not use it");
}
Unexpected conflict(std::string_view path, std::string_view why) {
  return fail(ErrorKind::corrupt, "T007", fmt::format("member {} {}", path, why),
              "two readers would make different trees of this archive: do not use it");
}

/// A target may lead up; what it names must still be names.
bool has_odd_component(std::string_view target) {
  auto parts = text::split(target, '/');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && part != "." && part != ".." && check_name(part);
  });
}

std::string_view parent_of(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}
} // namespace

Result<std::string> checked_path(std::string_view name) {
  if (name == "." || name == "./") return std::string();
  auto path = name;
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.ends_with('/')) path.remove_suffix(1);
  if (auto defect = check_name(path)) return bad_name(name, defect->message);
  return std::string(path);
}

Result<void> TarPaths::check_case(const std::string& path, TarType type) {
  auto [at, first] = folded_.try_emplace(folded_name(path), path);
  if (first) return {};
  auto other = entries_.find(at->second);
  bool directories = type == TarType::directory && other != entries_.end() && other->second.type == TarType::directory;
  if (directories) return {}; // Include/ and include/ merge elsewhere, and lose nothing
  return conflict(path, fmt::format("and {} are one name on Windows or macOS", at->second));
}

Result<void> TarPaths::insert(const std::string& path, Entry entry) {
  if (entries_.size() >= limits_.entries_max)
    return fail(ErrorKind::corrupt, "T008", fmt::format("the archive holds more than {} entries", limits_.entries_max));
  TRY_DO(check_case(path, entry.type));
  if (entry.type == TarType::symlink) symlinks_.push_back(path);
  entries_.emplace(path, std::move(entry));
  return {};
}

Result<void> TarPaths::add_parents(const std::string& path) {
  auto parent = parent_of(path);
  if (parent.empty()) return {};
  std::string name(parent);
  if (auto known = entries_.find(name); known != entries_.end()) {
    if (known->second.type == TarType::directory) return {};
    return conflict(path, fmt::format("is below {}, which is not a directory", name));
  }
  TRY_DO(add_parents(name));
  return insert(name, Entry{TarType::directory, true, {}});
}

Result<void> TarPaths::add(const std::string& path, TarType type, std::string_view link) {
  TRY_DO(add_parents(path));
  if (auto known = entries_.find(path); known != entries_.end()) {
    if (type != known->second.type) return conflict(path, "appears twice, with different types");
    if (type != TarType::directory) return conflict(path, "appears twice");
    known->second.implied = false;
    return {};
  }
  if (type == TarType::symlink) {
    if (link.empty() || link.size() > k_target_bytes_max) return bad_link(path, link, "is empty or too long");
    if (link.front() == '/') return bad_link(path, link, "is absolute");
    if (has_odd_component(link)) return bad_link(path, link, "names what no member may be called");
  }
  if (type == TarType::hardlink) {
    auto target = entries_.find(std::string(link));
    bool is_file =
        target != entries_.end() && (target->second.type == TarType::file || target->second.type == TarType::hardlink);
    if (!is_file) return bad_link(path, link, "is a hard link to no file that came before");
  }
  return insert(path, Entry{type, false, type == TarType::symlink ? std::string(link) : std::string()});
}

Result<void> TarPaths::follow(const std::string& path, const Entry& entry, std::uint64_t& steps) const {
  std::string at(parent_of(path)); // where the walk stands, without links
  std::vector<std::string> rest;   // components still to walk, the next one last
  auto push = [&](std::string_view target) {
    auto parts = text::split(target, '/');
    rest.insert(rest.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
  };
  push(entry.link);
  for (unsigned expansions = 0; !rest.empty();) {
    if (++steps > k_steps_max)
      return fail(ErrorKind::corrupt, "T008", "the links of the archive take too much work to follow");
    auto part = std::move(rest.back());
    rest.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (at.empty()) return bad_link(path, entry.link, "leaves the archive's directory");
      at = std::string(parent_of(at));
      continue;
    }
    auto next = at.empty() ? part : at + "/" + part;
    auto found = entries_.find(next);
    if (found == entries_.end() || found->second.type != TarType::symlink) {
      at = std::move(next); // what is not in the tree, or is no directory, still counts for a later ".."
      continue;
    }
    if (++expansions > k_expansions_max)
      return bad_link(path, entry.link, "leads through too many links, or in a circle");
    push(found->second.link);
  }
  return {};
}

Result<void> TarPaths::check_links() const {
  std::uint64_t steps = 0;
  for (const auto& path : symlinks_) TRY_DO(follow(path, entries_.at(path), steps));
  return {};
}

} // namespace quarry::archive
