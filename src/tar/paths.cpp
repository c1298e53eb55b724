#include "tar/paths.hpp"

#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::tar {

namespace {
constexpr unsigned k_expansions_max = 40; // Linux's own bound on links in one walk (MAXSYMLINKS)
// Over all links of an archive together: a step costs about as much as 16 bytes of a name. A large SDK needs 2 MB; at
// the bound it takes a quarter of a second.
constexpr std::uint64_t k_work_max = 128u << 20, k_work_per_step = 16;
constexpr std::size_t k_target_bytes_max = 4095;         // PATH_MAX without its NUL
constexpr std::uint64_t k_targets_bytes_max = 16u << 20; // all together; 10,000 links of 50 bytes are much
constexpr std::uint64_t k_stream_free = 1ull << 30, k_framing_free = 64ull << 20;

Unexpected bad_name(std::string_view name, std::string_view why) {
  return fail(ErrorKind::corrupt, "T010", fmt::format("member \"{}\": {}", names::printable(name), why),
              "the archive is hostile or damaged: do not use it");
}
Unexpected bad_link(std::string_view path, std::string_view target, std::string_view why) {
  return fail(ErrorKind::corrupt, "T010", fmt::format("link {} -> \"{}\" {}", path, names::printable(target), why),
              "the archive is hostile or damaged: do not use it");
}
Unexpected conflict(std::string_view path, std::string_view why) {
  return fail(ErrorKind::corrupt, "T007", fmt::format("member {} {}", path, why),
              "two readers would make different trees of this archive: do not use it");
}

/// A target may lead up; what it names must still be names.
bool has_odd_component(std::string_view target) {
  if (names::check_characters(target)) return true;
  for (auto rest = target;;) {
    auto slash = rest.find('/');
    auto part = rest.substr(0, slash);
    if (part.size() > names::k_component_bytes_max || names::has_drive_letter(part)) return true;
    if (slash == rest.npos) return false;
    rest.remove_prefix(slash + 1);
  }
}
} // namespace

Limits Limits::for_archive(const PackedSize& packed) {
  const auto [archive_bytes, ratio] = packed;
  Limits limits;
  auto bound = [&](std::uint64_t most, std::uint64_t free) {
    bool far = archive_bytes >= most / std::max<std::uint64_t>(ratio, 1);
    return far ? most : std::min(most, free + ratio * archive_bytes);
  };
  limits.stream_bytes_max = bound(limits.stream_bytes_max, k_stream_free);
  limits.framing_bytes_max = bound(limits.framing_bytes_max, k_framing_free);
  return limits;
}

Result<std::string> checked_path(std::string_view name) {
  if (name == "." || name == "./") return std::string();
  auto path = name;
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.ends_with('/')) path.remove_suffix(1);
  if (auto defect = names::check_name(path)) return bad_name(name, defect->message);
  return std::string(path);
}

Result<void> Paths::check_case(Id added) {
  auto other = tree_[added].first_alike;
  // Include/ and include/ merge elsewhere, and lose nothing.
  if (other == added || (type_of(added) == Type::directory && type_of(other) == Type::directory)) return {};
  if (case_rule_ == CaseRule::refuse)
    return conflict(tree_.path(added), fmt::format("and {} are one name on Windows or macOS", tree_.path(other)));
  if (case_pairs_.count++ == 0) case_pairs_.first = tree_.path(other), case_pairs_.second = tree_.path(added);
  return {};
}

Result<names::NameTree::Id> Paths::insert(Id parent, std::string_view name, Type type, bool implied) {
  auto id = tree_.add(parent, name, static_cast<std::uint8_t>(type), implied);
  if (auto excess = tree_.exhausted(); !excess.empty())
    return fail(ErrorKind::corrupt, "T008", "the archive " + excess, "the archive is hostile, or make several of it");
  TRY_DO(check_case(id));
  return id;
}

Result<names::NameTree::Id> Paths::directory_of(const std::string& path) {
  auto at = names::NameTree::k_root;
  for (std::size_t begin = 0, slash = 0; (slash = path.find('/', begin)) != path.npos; begin = slash + 1) {
    auto name = std::string_view(path).substr(begin, slash - begin);
    auto next = tree_.find(at, name);
    if (next == names::NameTree::k_none) {
      TRY(next, insert(at, name, Type::directory, true));
    } else if (type_of(next) != Type::directory) {
      return conflict(path, fmt::format("is below {}, which is not a directory", tree_.path(next)));
    }
    at = next;
  }
  return at;
}

names::NameTree::Id Paths::lookup(std::string_view path) const {
  auto at = names::NameTree::k_root;
  for (auto rest = path; at != names::NameTree::k_none;) {
    auto slash = rest.find('/');
    at = tree_.find(at, rest.substr(0, slash));
    if (slash == rest.npos) break;
    rest.remove_prefix(slash + 1);
  }
  return at;
}

Result<void> Paths::check_target(const std::string& path, Type type, std::string_view link) const {
  if (type == Type::symlink) {
    if (link.empty() || link.size() > k_target_bytes_max) return bad_link(path, link, "is empty or too long");
    if (link.front() == '/') return bad_link(path, link, "is absolute");
    if (has_odd_component(link)) return bad_link(path, link, "names what no member may be called");
  }
  if (type == Type::hardlink) {
    auto target = lookup(link);
    bool is_file =
        target != names::NameTree::k_none && (type_of(target) == Type::file || type_of(target) == Type::hardlink);
    if (!is_file) return bad_link(path, link, "is a hard link, but not to a file that came before");
  }
  return {};
}

Result<void> Paths::add(const std::string& path, Type type, std::string_view link) {
  TRY(auto parent, directory_of(path));
  auto name = std::string_view(path).substr(path.rfind('/') + 1);
  if (auto known = tree_.find(parent, name); known != names::NameTree::k_none) {
    if (type != type_of(known)) return conflict(path, "occurs twice, with different types");
    if (type != Type::directory) return conflict(path, "occurs twice");
    tree_.set_named(known);
    return {};
  }
  TRY_DO(check_target(path, type, link));
  TRY(auto id, insert(parent, name, type, false));
  if (type != Type::symlink) return {};
  tree_[id].text = static_cast<std::uint32_t>(targets_.size());
  target_bytes_ += link.size();
  if (target_bytes_ > k_targets_bytes_max)
    return fail(ErrorKind::corrupt, "T008",
                fmt::format("the targets of the archive's links have more than {} bytes", k_targets_bytes_max),
                "the archive is hostile, or make several of it");
  targets_.emplace_back(link);
  symlinks_.push_back(id);
  return {};
}

Result<void> Paths::follow(Id link, std::uint64_t& work) const {
  const auto& target = targets_[tree_[link].text];
  auto at = tree_[link].parent;               // where the walk is, without links
  std::uint64_t beyond = 0;                   // and how many components below that, which do not exist
  std::vector<std::string_view> rest{target}; // what is still to walk, the innermost link's last
  for (unsigned expansions = 0; !rest.empty();) {
    auto slash = rest.back().find('/');
    auto part = rest.back().substr(0, slash);
    if (slash == part.npos)
      rest.pop_back();
    else
      rest.back().remove_prefix(slash + 1);
    work += part.size() + k_work_per_step;
    if (work > k_work_max)
      return fail(ErrorKind::corrupt, "T008", "the links of the archive take too much work to follow");
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (beyond > 0) {
        --beyond;
        continue;
      }
      if (at == names::NameTree::k_root) return bad_link(tree_.path(link), target, "leaves the archive's directory");
      at = tree_[at].parent;
      continue;
    }
    auto next = beyond ? names::NameTree::k_none : tree_.find(at, part);
    if (next == names::NameTree::k_none) {
      ++beyond; // what does not exist still counts for a later ".."
    } else if (type_of(next) != Type::symlink) {
      at = next;
    } else {
      if (++expansions > k_expansions_max)
        return bad_link(tree_.path(link), target, "leads through too many links, or in a circle");
      rest.push_back(targets_[tree_[next].text]);
    }
  }
  return {};
}

Result<void> Paths::check_links() const {
  std::uint64_t work = 0;
  for (auto link : symlinks_) TRY_DO(follow(link, work));
  return {};
}

} // namespace quarry::tar
