// Packages with their METADATA: whether they can be installed together. The same packages give the same findings, a set
// that is compared with itself has lost nothing, and nobody misses what is said to come from elsewhere. What cannot be
// installed beside a channel is a package of the set.
#include "base/text.hpp"
#include "closure/change_rules.hpp"
#include "closure/closure_rules.hpp"
#include "fuzzing.hpp"
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace quarry;

namespace {
/// A base index of the packages whose file name begins with '+'.
class Table final : public mirror::Candidates {
public:
  void add(const std::string& file, const std::string& project, dist::Metadata metadata) {
    index::PageFile page_file;
    page_file.filename = file;
    page_file.requires_python = metadata.requires_python;
    page_file.yanked = metadata.summary == "yanked";
    pages_[project].files.push_back(page_file);
    metadata_.insert_or_assign(file, std::move(metadata));
  }
  Result<const index::IndexPage*> page(const std::string& project) override {
    if (auto found = pages_.find(project); found != pages_.end()) return &found->second;
    return fail(ErrorKind::not_found, "U003", "not there");
  }
  Result<dist::Metadata> metadata(const index::PageFile& file) override { return metadata_.at(file.filename); }

private:
  std::map<std::string, index::IndexPage> pages_;
  std::map<std::string, dist::Metadata> metadata_;
};

/// A channel of the packages whose file name begins with '='.
class Channel final : public closure::Surroundings {
public:
  void add(closure::Package package) { shown_[package.project].push_back(std::move(package)); }
  Result<std::vector<closure::Package>> packages(const std::string& project) const override {
    auto found = shown_.find(project);
    return found == shown_.end() ? std::vector<closure::Package>() : found->second;
  }
  Result<const closure::Package*> with_requirements(const closure::Package& package) const override {
    for (const auto& shown : shown_.at(package.project))
      if (shown.file == package.file) return &shown;
    return fail(ErrorKind::not_found, "R010", package.file);
  }
  bool owns(const std::string& project) const override { return shown_.contains(project); }

private:
  std::map<std::string, std::vector<closure::Package>> shown_;
};

struct Input {
  std::vector<closure::Package> set;
  Table base;
  Channel channel;
};

/// Blocks with U+001E between them: a line with the file's name, then METADATA.
Input input_of(std::string_view text) {
  Input input;
  for (const auto& block : text::split(text, '\x1e')) {
    auto line = block.find('\n');
    if (line == block.npos) continue;
    bool upstream = block.starts_with('+'), shown = block.starts_with('=');
    std::size_t mark = upstream || shown ? 1 : 0;
    std::string file(block.substr(mark, line - mark));
    auto metadata = dist::Metadata::parse(std::string_view(block).substr(line + 1));
    if (!metadata) continue;
    if (auto package = closure::package_of(file, *metadata, block.size())) {
      if (upstream)
        input.base.add(file, package->project, std::move(*metadata));
      else if (shown)
        input.channel.add(std::move(*package));
      else
        input.set.push_back(std::move(*package));
    }
  }
  return input;
}

std::string shown(const Findings& findings) {
  std::string out;
  for (const auto& one : findings) {
    fuzzing::require(one.code.starts_with("Q4") && !one.message.empty());
    out += one.code + one.place + one.message + '\n';
  }
  return out;
}

bool lost_something(const Finding& finding) { return finding.severity == Severity::error; }
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto k_targets = mirror::parse_targets("3.12", "linux").value();
  auto input = input_of(fuzzing::as_text(data, size));
  (void)closure::targets_of(input.set, "", std::nullopt);
  fuzzing::require(std::ranges::none_of(closure::check_change(input.set, {input.set}), lost_something));
  auto found = closure::check_closure(input.set, {k_targets, &input.base, "the table", {}});
  fuzzing::require(found.has_value());
  auto again = closure::check_closure(input.set, {k_targets, &input.base, "the table", {}});
  fuzzing::require(shown(*again) == shown(*found));
  closure::ClosureQuestion beside{k_targets, nullptr, "", {}};
  beside.beside = &input.channel;
  auto unmet = closure::find_unmet(input.set, beside);
  fuzzing::require(unmet.has_value());
  for (const auto& one : unmet->unmet)
    fuzzing::require(!one.reason.empty() && std::ranges::any_of(input.set, [&](const closure::Package& package) {
      return package.file == one.file;
    }));
  auto same = closure::find_unmet(input.set, beside);
  fuzzing::require(same && same->unmet == unmet->unmet && same->taken_as_given == unmet->taken_as_given);
  auto assumed = closure::check_closure(input.set, {k_targets, nullptr, "", {"*"}});
  fuzzing::require(assumed && std::ranges::none_of(*assumed, [](const Finding& one) { return one.is("Q401"); }));
  return 0;
}
