#include "artifact/selection.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_generic = "generic";
constexpr std::size_t k_findings_told = 10; // findings in one message

Result<std::vector<Pattern>> compile_all(const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const auto& text : texts) {
    TRY(auto pattern, Pattern::compile(text));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

bool any_found(const std::vector<Pattern>& patterns, const SourceItem& item) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& p) { return p.found_in(item.name.text()) || p.found_in(item.file); });
}

/// Features do not count: `gfx942:xnack+` also means `gfx942` and `gfx942:xnack-`, as TheRock's scripts of August 2026
/// have it. A test of the variant needs the libraries that were built for the plain target only.
bool is_of(const Name& name, const std::string& target) { return name.target_base() == target_base(target); }

Result<void> require_known(const Source& source, const std::string& target) {
  std::set<std::string> known;
  for (const auto& item : source.items) {
    if (is_of(item.name, target)) return {};
    known.insert(item.name.target);
  }
  auto error =
      Error::of(ErrorKind::not_found, "A022", fmt::format("{} has no artifact for {}", source.description, target));
  std::vector<std::string> names(known.begin(), known.end());
  error.hint = names.empty() ? "it has no artifacts at all" : fmt::format("it has: {}", text::join(names, ", "));
  return fail(std::move(error));
}
} // namespace

Result<std::vector<SourceItem>> select(const Source& source, const SelectionOptions& options) {
  TRY(auto include, compile_all(options.include));
  TRY(auto exclude, compile_all(options.exclude));
  auto targets = options.targets;
  if (!options.group.empty()) targets.push_back(options.group);
  for (const auto& target : targets)
    if (target != k_generic) TRY_DO(require_known(source, target));
  std::vector<SourceItem> wanted;
  for (const auto& item : source.items) {
    bool target_fits = targets.empty() || item.name.target == k_generic ||
                       std::any_of(targets.begin(), targets.end(), [&](const auto& t) { return is_of(item.name, t); });
    bool name_fits = (include.empty() || any_found(include, item)) && !any_found(exclude, item);
    if (target_fits && name_fits) wanted.push_back(item);
  }
  if (!wanted.empty()) return wanted;
  if (source.items.empty()) {
    std::vector<std::string> left;
    for (const auto& finding : source.findings) left.push_back(finding.code + " " + finding.message);
    if (left.size() > k_findings_told) {
      left.resize(k_findings_told);
      left.emplace_back("and more");
    }
    return fail(Error::of(ErrorKind::not_found, "A021", fmt::format("{} holds no artifacts", source.description))
                    .with_details(std::move(left))
                    .with_hint("artifacts are called {name}_{component}_{target}, as directories or as .tar.zst or "
                               ".tar.xz"));
  }
  return fail(ErrorKind::not_found, "A021",
              fmt::format("none of the {} artifacts of {} is wanted", source.items.size(), source.description),
              "look with `quarry artifact list`, then widen the expressions");
}

} // namespace quarry::artifact
