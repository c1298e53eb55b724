// From descriptors and stage directories to artifacts.
#include "artifact/descriptor.hpp"
#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/require_directory.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::artifact {

namespace {
using sys::EntryType;
using sys::TreeEntry;

constexpr std::uint64_t k_descriptor_bytes_max = 4u << 20; // the largest real one has 10 kB
constexpr std::size_t k_named_max = 10;                    // unmatched files in one message

/// A directory matters where it holds nothing; elsewhere its files say that it is there.
std::vector<TreeEntry> leaves(std::vector<TreeEntry> entries) {
  std::set<std::string> parents;
  for (const auto& entry : entries) parents.insert(path::dirname(entry.path));
  std::erase_if(entries, [&](const auto& e) { return e.type == EntryType::directory && parents.contains(e.path); });
  return entries;
}

class Distribution {
public:
  Distribution(const std::string& build, const Descriptor& descriptor, const DescribedOptions& options)
      : build_(build), descriptor_(descriptor), options_(options) {}

  Result<std::vector<SourceItem>> run() {
    std::vector<SourceItem> items;
    for (const auto& component : descriptor_.components) {
      TRY(auto chosen, fill(component));
      if (component.bases.empty()) continue;
      SourceItem item;
      item.name = {descriptor_.name, component.component, options_.target};
      item.file = item.name.text();
      item.exploded = true;
      item.windows = options_.platform == Platform::windows;
      item.directory = build_;
      for (const auto& base : component.bases) item.bases.push_back(base.directory);
      item.chosen = std::move(chosen);
      items.push_back(std::move(item));
    }
    TRY_DO(check_unmatched());
    return items;
  }

private:
  Result<std::vector<TreeEntry>> fill(const ComponentRule& component) {
    auto& taken = taken_[component.component];
    for (const auto& other : component.extends) taken.insert(taken_[other].begin(), taken_[other].end());
    std::vector<TreeEntry> chosen;
    for (const auto& base : component.bases) {
      TRY(const auto* entries, stage(base));
      for (const auto& entry : *entries) {
        auto full = base.directory + "/" + entry.path;
        if (taken.contains(full) || !base.takes(entry.path)) continue;
        taken.insert(full);
        matched_.insert(full);
        chosen.push_back(entry);
        chosen.back().path = std::move(full);
      }
    }
    std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return chosen;
  }

  Result<const std::vector<TreeEntry>*> stage(const BaseRule& base) {
    auto known = stages_.find(base.directory);
    if (known != stages_.end()) return &known->second;
    auto root = path::join(build_, base.directory);
    std::vector<TreeEntry> entries;
    if (sys::is_directory(root)) {
      TRY(entries, sys::list_tree(root));
    } else if (!base.optional) {
      return fail(ErrorKind::not_found, "A025", fmt::format("{}: {} does not exist", base.place, root),
                  "build it, or set `optional = true` where it may be missing");
    } else {
      return &none_;
    }
    return &stages_.emplace(base.directory, leaves(std::move(entries))).first->second;
  }

  bool complains_about(const std::string& path) const {
    auto any = [&](const auto& globs) {
      return std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return text::glob_match(glob, path); });
    };
    return (descriptor_.unmatched_include.empty() || any(descriptor_.unmatched_include)) &&
           !any(descriptor_.unmatched_exclude);
  }

  Result<void> check_unmatched() const {
    std::vector<std::string> left;
    for (const auto& [base, entries] : stages_)
      for (const auto& entry : entries)
        if (entry.type != EntryType::directory && !matched_.contains(base + "/" + entry.path) &&
            complains_about(entry.path))
          left.push_back(path::join(base, entry.path));
    if (left.empty()) return {};
    auto error = Error::of(ErrorKind::failed, "A026",
                           fmt::format("no component of {} takes {} files", descriptor_.file, left.size()))
                     .with_hint("include them in a component, or name them in `options.unmatched_exclude`");
    error.details = text::first_lines(std::move(left), k_named_max);
    return fail(std::move(error));
  }

  const std::string& build_;
  const Descriptor& descriptor_;
  const DescribedOptions& options_;
  std::map<std::string, std::vector<TreeEntry>> stages_; // by base directory
  std::map<std::string, std::set<std::string>> taken_;   // by component: what it and those it extends took
  std::set<std::string> matched_;
  std::vector<TreeEntry> none_;
};

/// Two artifacts over one stage directory race for its files when they are unpacked side by side.
Result<void> check_shared(const Descriptor& descriptor, std::map<std::string, std::string>& owners) {
  std::set<std::string> own;
  for (const auto& component : descriptor.components)
    for (const auto& base : component.bases) own.insert(base.directory);
  for (const auto& directory : own) {
    auto [it, fresh] = owners.emplace(directory, descriptor.file);
    if (!fresh)
      return fail(ErrorKind::already_exists, "A027",
                  fmt::format("{} and {} both take files of {}", it->second, descriptor.file, directory),
                  "let one descriptor have the stage directory");
  }
  return {};
}
} // namespace

Result<Source> source_of_descriptors(const std::string& build, const std::vector<std::string>& files,
                                     const DescribedOptions& options) {
  TRY_DO(sys::require_directory(build, "name the build's directory"));
  TRY_DO(parse_name("x_lib_" + options.target), "while reading --target");
  Source source;
  source.description = build;
  std::map<std::string, std::string> owners;
  for (const auto& file : files) {
    TRY(auto text, sys::read_file(file, k_descriptor_bytes_max), "while reading the descriptor " + file);
    TRY(auto descriptor, parse_descriptor({text, file}, options.platform));
    TRY_DO(check_shared(descriptor, owners));
    TRY(auto items, Distribution(build, descriptor, options).run());
    std::move(items.begin(), items.end(), std::back_inserter(source.items));
  }
  std::sort(source.items.begin(), source.items.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return source;
}

} // namespace quarry::artifact
