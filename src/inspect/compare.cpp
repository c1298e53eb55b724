#include "inspect/compare.hpp"

#include "base/units.hpp"
#include "codec/compression.hpp"
#include "elf/elf.hpp"
#include "inspect/elf_compare.hpp"
#include "inspect/package_table.hpp"
#include "inspect/parts.hpp"
#include "inspect/python_module.hpp"
#include "inspect/values.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <tuple>

namespace quarry::inspect {

namespace {

/// The name under which two files are one: a payload may be compressed on one side.
std::string pairing_name(const std::string& path) {
  auto compression = codec::compression_of(path);
  if (!compression) return path;
  return path.substr(0, path.size() - codec::suffix_of(*compression).size()) + ".tar";
}

std::map<std::string, std::pair<std::string, const Entry*>> by_pairing_name(const Entries& entries) {
  std::map<std::string, std::pair<std::string, const Entry*>> named;
  for (const auto& [path, entry] : entries) {
    auto name = pairing_name(path);
    bool taken = name != path && (entries.contains(name) || named.contains(name)); // x.tar and x.tar.xz are two files
    named[taken ? path : name] = {path, &entry};
  }
  return named;
}

bool same_file(const Entry& a, const Entry& b) {
  return a.link == b.link && a.size == b.size && (!a.link.empty() || a.digest == b.digest);
}

std::string what_it_is(const Entry& entry) {
  return entry.link.empty() ? units::bytes(entry.size) : "link to " + entry.link;
}

/// Whether a link leads to a place of its own tree where nothing is. What lies in the trees of other packages is not
/// known here.
bool leads_nowhere(const std::string& name, const Entry& entry, const Entries& entries) {
  if (entry.link.empty() || entry.link.starts_with('/')) return false;
  auto target = path::normal(path::join(path::dirname(name), entry.link));
  auto tree = name.substr(0, name.find('/') + 1);
  if (tree.empty() || !target.starts_with(tree) || entries.contains(target)) return false;
  auto below = entries.lower_bound(target + "/"); // of a directory
  return below == entries.end() || !below->first.starts_with(target + "/");
}

/// The SONAME of a library; empty for any other file. Reads its headers; a deflated member is inflated for that.
Result<std::string> soname_of(const std::string& path, const Entry& entry) {
  TRY(auto bytes, entry.open(), "while reading " + path);
  TRY(bool elf, elf::has_magic(bytes), "while reading " + path);
  auto facts = elf ? elf::read_facts(bytes, path) : Result<elf::Facts>(elf::Facts());
  return facts && facts->soname ? *facts->soname : std::string();
}

/// Whether a file is a library whose SONAME is another name, and nothing of that name lies in its directory. A builder
/// that packages libraries by their SONAME leaves it out.
Result<bool> lacks_soname_file(const std::string& path, const Entry& entry, const Entries& entries) {
  auto name = path::basename(path);
  if (!entry.link.empty() || name.find(".so") == name.npos) return false;
  TRY(auto soname, soname_of(path, entry));
  return !soname.empty() && soname != name && !entries.contains(path::join(path::dirname(path), soname));
}

/// What one side of a comparison has: the files of the payload or package, and the packages that links lead into.
struct OneTree {
  const Entries& entries;
  const std::vector<Package>& packages;

  const Entry* find(const std::string& path) const {
    if (auto here = entries.find(path); here != entries.end()) return &here->second;
    for (const auto& package : packages)
      if (auto there = package.entries.find(path); there != package.entries.end()) return &there->second;
    return nullptr;
  }
};

/// Whether the file at `path`, or the one that its link leads to, is the library whose SONAME is `soname`.
Result<bool> leads_to_library(const OneTree& tree, std::string path, std::string_view soname) {
  constexpr int k_links_max = 40; // as Linux follows
  const auto* entry = tree.find(path);
  for (int links = 0; entry && !entry->link.empty() && links < k_links_max; ++links) {
    if (entry->link.starts_with('/')) return false;
    path = path::normal(path::join(path::dirname(path), entry->link));
    entry = tree.find(path);
  }
  if (!entry || !entry->link.empty()) return false;
  TRY(auto found, soname_of(path, *entry));
  return !found.empty() && found == soname;
}

/// What a comparison of packages needs besides the two.
struct Context {
  const std::vector<Package>&left, &right; ///< all packages of each side
  const ReadOptions& options;
  Detail detail = Detail::files;
  Neighbours& beside; ///< of the left side
};

class PackageComparison {
public:
  PackageComparison(PackageDiff& out, const Context& context) : out_(out), context_(context) {}

  Result<void> run(const Package& left, const Package& right) {
    version_ = left.version;
    values({values_of(left), left.entries}, {values_of(right), right.entries});
    return entries(left.entries, right.entries, "");
  }

private:
  Difference& add(std::string place, Kind kind, std::string message) {
    return out_.differences.emplace_back(std::move(place), kind, std::move(message));
  }

  void values(const Described& left, const Described& right) {
    auto all = left.values;
    all.insert(right.values.begin(), right.values.end());
    for (const auto& [place, value] : all) {
      auto l = left.values.find(place), r = right.values.find(place);
      bool on_left = l != left.values.end(), on_right = r != right.values.end();
      if (on_left && on_right && l->second == r->second) {
        ++out_.equal;
        continue;
      }
      auto& difference = !on_left    ? add(place, Kind::only_right, summary_of(r->second))
                         : !on_right ? add(place, Kind::only_left, summary_of(l->second))
                                     : add(place, Kind::metadata, compare_values(l->second, r->second));
      if (context_.detail == Detail::parts) difference.parts = parts_of(place, left, right);
    }
  }

  Result<void> entries(const Entries& left, const Entries& right, const std::string& inside) {
    auto l = by_pairing_name(left), r = by_pairing_name(right);
    std::set<std::string> names;
    for (const auto& [name, entry] : l) names.insert(name);
    for (const auto& [name, entry] : r) names.insert(name);
    for (const auto& name : names) {
      auto a = l.find(name), b = r.find(name);
      if (a != l.end() && b != r.end()) {
        TRY_DO(pair(inside, a->second, b->second));
        if (a->second.second->link != b->second.second->link) {
          TRY_DO(link_parts({a->second, left}, {b->second, right}));
        }
        continue;
      }
      const auto& [path, entry] = a == l.end() ? b->second : a->second;
      TRY_DO(one_side(inside, {path, entry}, a == l.end() ? right : left, a == l.end()));
    }
    return {};
  }

  using Named = std::pair<std::string, const Entry*>;
  struct NamedIn {
    const Named& file;
    const Entries& entries; ///< all of its side
  };

  /// What only one of the packages has; `entries` are all of that one.
  Result<void> one_side(const std::string& inside, const Named& file, const Entries& entries, bool on_right) {
    const auto& [path, entry] = file;
    auto& difference = add(inside + path, on_right ? Kind::only_right : Kind::only_left, what_it_is(*entry));
    auto part = [&](const char* name) {
      difference.parts.push_back({difference.place + name, difference.kind, difference.message});
    };
    if (context_.detail == Detail::files) return {};
    if (leads_nowhere(path, *entry, entries)) part("!dangling");
    TRY(bool alone, lacks_soname_file(path, *entry, entries));
    if (alone) part("!no-soname-file");
    return {};
  }

  /// For the link that was compared last. The part: it leads nowhere on one side, and on the other one to the library
  /// whose SONAME is the name that is missing.
  Result<void> link_parts(const NamedIn& left, const NamedIn& right) {
    if (context_.detail == Detail::files) return {};
    auto nowhere = [](const NamedIn& one) { return leads_nowhere(one.file.first, *one.file.second, one.entries); };
    bool left_nowhere = nowhere(left);
    if (left_nowhere == nowhere(right)) return {};
    const auto& [broken, sound] = left_nowhere ? std::tie(left, right) : std::tie(right, left);
    const OneTree tree{sound.entries, left_nowhere ? context_.right : context_.left};
    TRY(bool library, leads_to_library(tree, sound.file.first, path::basename(broken.file.second->link)));
    auto& difference = out_.differences.back();
    if (library)
      difference.parts.push_back(
          {difference.place + "!dangling", left_nowhere ? Kind::only_left : Kind::only_right, difference.message});
    return {};
  }

  Result<void> pair(const std::string& inside, const Named& left, const Named& right) {
    const auto& [left_path, l] = left;
    const auto& [right_path, r] = right;
    auto place = inside + left_path;
    if (l->executable != r->executable && l->link.empty() && r->link.empty())
      add(place, Kind::mode, l->executable ? "executable | not" : "not | executable");
    else if (same_file(*l, *r) && left_path == right_path)
      ++out_.equal;
    if (l->link != r->link) {
      add(place, Kind::link, what_it_is(*l) + " | " + what_it_is(*r));
      return {};
    }
    if (same_file(*l, *r)) return {};
    return is_payload(left_path) && inside.empty() ? payload(left, right) : bytes(place, *l, *r);
  }

  /// One level deep: what a payload's own payloads hold differs as bytes.
  Result<void> payload(const Named& left, const Named& right) {
    TRY(auto l, read_payload(left.first, *left.second, context_.options));
    TRY(auto r, read_payload(right.first, *right.second, context_.options));
    auto before = out_.differences.size();
    TRY_DO(entries(l, r, pairing_name(left.first) + "!"));
    if (out_.differences.size() == before)
      add(left.first, Kind::content,
          fmt::format("the same members, packed differently: {} | {}", left.first, right.first));
    return {};
  }

  Result<void> bytes(const std::string& place, const Entry& left, const Entry& right) {
    TRY(auto l, left.open(), "while reading " + place);
    TRY(auto r, right.open(), "while reading " + place);
    TRY(auto elf, compare_elf(l, r, path::dirname(place)));
    if (elf) {
      auto& difference = add(place, Kind::elf, std::move(elf->message));
      if (context_.detail == Detail::files) return {};
      for (auto& part : elf->parts)
        difference.parts.push_back({place + "!" + part.place, part.kind, std::move(part.message)});
      return {};
    }
    auto& difference =
        add(place, Kind::content, fmt::format("{} | {}", units::bytes(left.size), units::bytes(right.size)));
    if (context_.detail == Detail::files) return {};
    TRY(bool same, place.ends_with(".json") ? same_json(l, r) : Result<bool>(false), "while reading " + place);
    if (same) difference.parts.push_back({place + "!form", Kind::content, "the same values, written in another form"});
    if (place.ends_with(".py")) {
      TRY(difference.parts, module_parts(place, l, r), "while reading " + place);
      TRY_DO(hold_package_tables({place, version_, l}, context_.beside, difference.parts));
    }
    return {};
  }

  PackageDiff& out_;
  const Context& context_;
  std::string version_; ///< of the left package
};

using Group = std::vector<const Package*>;

struct Pair {
  const Package* left = nullptr;
  const Package* right = nullptr;
};

/// Takes the pairs that agree in what `key` says, where that is one on each side.
template <class Key> void take_pairs(Group& left, Group& right, std::vector<Pair>& pairs, const Key& key) {
  auto only_one = [&](const Group& group, const std::string& wanted) {
    return std::count_if(group.begin(), group.end(), [&](const auto* p) { return key(*p) == wanted; }) == 1;
  };
  for (std::size_t i = 0; i < left.size();) {
    auto wanted = key(*left[i]);
    auto partner = std::find_if(right.begin(), right.end(), [&](const auto* p) { return key(*p) == wanted; });
    if (partner == right.end() || !only_one(left, wanted) || !only_one(right, wanted)) {
      ++i;
      continue;
    }
    pairs.push_back({left[i], *partner});
    right.erase(partner);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::vector<Pair> paired(Group left, Group right) {
  std::vector<Pair> pairs;
  take_pairs(left, right, pairs, [](const Package& p) { return p.version + " " + p.tags; });
  take_pairs(left, right, pairs, [](const Package& p) { return p.tags; });
  take_pairs(left, right, pairs, [](const Package&) { return std::string(); });
  for (const auto* package : left) pairs.push_back({package, nullptr});
  for (const auto* package : right) pairs.push_back({nullptr, package});
  return pairs;
}

std::optional<Side> side_of(const Package* package) {
  if (!package) return std::nullopt;
  return Side{package->file, package->version, package->size, package->sha256};
}

Result<PackageDiff> compare_pair(const Pair& pair, const Context& context) {
  PackageDiff out;
  out.package = (pair.left ? pair.left : pair.right)->label();
  out.left = side_of(pair.left);
  out.right = side_of(pair.right);
  if (!pair.left || !pair.right) {
    const auto& only = pair.left ? *pair.left : *pair.right;
    out.differences.push_back({"", pair.left ? Kind::only_left : Kind::only_right, only.file, {}, false});
    return out;
  }
  TRY_DO(PackageComparison(out, context).run(*pair.left, *pair.right), "while comparing " + pair.left->file);
  std::stable_sort(out.differences.begin(), out.differences.end(),
                   [](const auto& a, const auto& b) { return a.place < b.place; });
  return out;
}

/// Marks what the table expects; rows that nothing needed are findings: they would hide the next difference there.
void judge(Diff& diff, const Allowed& allowed) {
  std::set<const AllowRow*> used;
  for (auto& package : diff.packages)
    for (auto& difference : package.differences) {
      const auto* row = allowed.find(package.package, difference.place);
      if (!row) continue;
      difference.allowed = true;
      difference.reason = row->reason;
      used.insert(row);
    }
  for (const auto& row : allowed.rows)
    if (!used.contains(&row))
      diff.findings.push_back({"Q003", Severity::warning, fmt::format("{}:{}", allowed.file, row.line),
                               fmt::format("nothing differs at {} {}", row.package, row.place),
                               "remove the line, or fix its package or glob"});
}

template <class Count> std::uint64_t count_differences(const std::vector<PackageDiff>& packages, const Count& count) {
  std::uint64_t n = 0;
  for (const auto& package : packages)
    n += static_cast<std::uint64_t>(std::count_if(package.differences.begin(), package.differences.end(), count));
  return n;
}
} // namespace

std::string_view to_string(Kind kind) {
  constexpr std::string_view k_names[] = {"only-left", "only-right", "content", "elf", "mode", "link", "metadata"};
  return k_names[static_cast<std::size_t>(kind)];
}

std::uint64_t Diff::equal() const {
  std::uint64_t n = 0;
  for (const auto& package : packages) n += package.equal;
  return n;
}
std::uint64_t Diff::allowed() const {
  return count_differences(packages, [](const Difference& d) { return d.allowed; });
}
std::uint64_t Diff::unexpected() const {
  return count_differences(packages, [](const Difference& d) { return !d.allowed; });
}

Result<Diff> compare(const std::vector<Package>& left, const std::vector<Package>& right, const Allowed& allowed,
                     const ReadOptions& options, Detail detail) {
  Neighbours beside(left, options);
  const Context context{left, right, options, detail, beside};
  std::map<std::string, std::pair<Group, Group>> groups;
  for (const auto& package : left) groups[package.label()].first.push_back(&package);
  for (const auto& package : right) groups[package.label()].second.push_back(&package);
  Diff diff;
  for (auto& [label, group] : groups)
    for (const auto& pair : paired(std::move(group.first), std::move(group.second))) {
      TRY(auto compared, compare_pair(pair, context));
      diff.packages.push_back(std::move(compared));
    }
  judge(diff, allowed);
  return diff;
}

} // namespace quarry::inspect
