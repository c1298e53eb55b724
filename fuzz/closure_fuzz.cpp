// Packages with their METADATA: whether they can be installed together. The same packages give the same findings, a set
// that is compared with itself has lost nothing, and nobody misses what is said to come from elsewhere.
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

struct Input {
  std::vector<closure::Package> set;
  Table base;
};

/// Blocks with U+001E between them: a line with the file's name, then METADATA.
Input input_of(std::string_view text) {
  Input input;
  for (const auto& block : text::split(text, '\x1e')) {
    auto line = block.find('\n');
    bool upstream = block.starts_with('+');
    if (line == block.npos) continue;
    std::string file(block.substr(upstream, line - upstream));
    auto metadata = dist::Metadata::parse(std::string_view(block).substr(line + 1));
    if (!metadata) continue;
    if (auto package = closure::package_of(file, *metadata, block.size())) {
      if (upstream)
        input.base.add(file, package->project, std::move(*metadata));
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
  auto assumed = closure::check_closure(input.set, {k_targets, nullptr, "", {"*"}});
  fuzzing::require(assumed && std::ranges::none_of(*assumed, [](const Finding& one) { return one.is("Q401"); }));
  return 0;
}
