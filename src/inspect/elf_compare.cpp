#include "inspect/elf_compare.hpp"

#include "base/text.hpp"
#include "elf/elf.hpp"
#include "elf/launcher.hpp"
#include "inspect/elf_sections.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_named_max = 5;                   // sections in one message
constexpr std::uint64_t k_stand_in_bytes_max = 64 << 10; // of a program that only starts another

std::string shown(const std::optional<std::string>& text) { return text ? "`" + *text + "`" : std::string("none"); }

/// The entries of a run path: those that begin with `$ORIGIN`, and those that lead to a place of the machine.
struct RunPath {
  std::vector<std::string> own, host;
};

RunPath entries_of_run_path(const std::optional<std::string>& text) {
  RunPath path;
  for (const auto& entry : text::split_any(text.value_or(""), ":"))
    (entry == "$ORIGIN" || entry.starts_with("$ORIGIN/") ? path.own : path.host).push_back(entry);
  return path;
}

/// Without entries whose directory an earlier one has named: the loader has looked there. `below` holds the file.
std::vector<std::string> each_directory_once(const std::vector<std::string>& own, const std::string& below) {
  std::vector<std::string> kept, seen;
  for (const auto& entry : own) {
    auto directory = path::normal(below + entry.substr(std::string_view("$ORIGIN").size()));
    if (std::ranges::find(seen, directory) != seen.end()) continue;
    seen.push_back(std::move(directory));
    kept.push_back(entry);
  }
  return kept;
}

bool begins_with(const std::vector<std::string>& longer, const std::vector<std::string>& shorter) {
  return longer.size() >= shorter.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

class Comparison {
public:
  explicit Comparison(std::string directory) : directory_(std::move(directory)) {}
  void value(std::string_view what, const std::optional<std::string>& left, const std::optional<std::string>& right) {
    if (left != right) add(std::string(what), Kind::elf, changed(what, left, right));
  }
  void run_path(std::string_view what, const std::optional<std::string>& left,
                const std::optional<std::string>& right) {
    if (left == right) return;
    auto l = entries_of_run_path(left), r = entries_of_run_path(right);
    bool spelt_alike = l.own == r.own;
    l.own = each_directory_once(l.own, directory_);
    r.own = each_directory_once(r.own, directory_);
    bool more_left = begins_with(l.own, r.own), more_right = begins_with(r.own, l.own);
    bool one_host = l.host.empty() || r.host.empty() || l.host == r.host;
    if ((!more_left && !more_right) || !one_host) return value(what, left, right);
    texts_.push_back(changed(what, left, right));
    auto only = [](bool on_left) { return on_left ? Kind::only_left : Kind::only_right; };
    if (l.own != r.own) parts_.push_back({"run-path", only(more_left), texts_.back()});
    if (l.host != r.host) parts_.push_back({"host-run-path", only(r.host.empty()), texts_.back()});
    if (!spelt_alike && l.own == r.own) parts_.push_back({"run-path!spelling", Kind::elf, texts_.back()});
    if (spelt_alike && l.host == r.host) parts_.push_back({std::string(what), Kind::elf, texts_.back()});
  }
  void needed(const std::vector<std::string>& left, const std::vector<std::string>& right) {
    if (left == right) return;
    bool any = needed_only(left, right, Kind::only_left);
    any |= needed_only(right, left, Kind::only_right);
    if (!any) add("needs", Kind::elf, "needs the same libraries in another order");
  }
  Result<void> sections(const Sections& left, const Sections& right) {
    std::vector<std::string> names;
    auto all = left;
    all.insert(right.begin(), right.end());
    for (const auto& [name, content] : all) {
      auto l = left.find(name), r = right.find(name);
      bool both = l != left.end() && r != right.end();
      TRY(bool same, both ? same_content(l->second, r->second) : Result<bool>(false));
      if (!same) names.push_back(name);
    }
    if (left.empty() || right.empty()) {
      add("code", Kind::elf, "sections are missing, so code and data are not compared");
      return {};
    }
    if (!names.empty()) {
      add("code", Kind::elf, "other " + text::first(names, k_named_max, " "));
      return {};
    }
    texts_.emplace_back("the same code, data and symbols");
    if (parts_.empty()) parts_.push_back({"layout", Kind::elf, texts_.back()});
    return {};
  }
  void stand_for(const std::string& target) {
    parts_ = {{"launcher", Kind::elf, fmt::format("two programs that start `{}` in their place", target)}};
    texts_.insert(texts_.begin(), parts_[0].message);
  }
  ElfComparison take() { return {text::join(texts_, "; "), std::move(parts_)}; }

private:
  static std::string changed(std::string_view what, const std::optional<std::string>& left,
                             const std::optional<std::string>& right) {
    return fmt::format("{} {} | {}", what, shown(left), shown(right));
  }
  void add(std::string name, Kind kind, std::string text) {
    texts_.push_back(text);
    parts_.push_back({std::move(name), kind, std::move(text)});
  }
  bool needed_only(const std::vector<std::string>& a, const std::vector<std::string>& b, Kind kind) {
    std::vector<std::string> only;
    for (const auto& name : a)
      if (std::find(b.begin(), b.end(), name) == b.end()) only.push_back(name);
    if (only.empty()) return false;
    texts_.push_back(
        fmt::format("needs {} only on the {}", text::join(only, " "), kind == Kind::only_left ? "left" : "right"));
    for (const auto& name : only) parts_.push_back({"needs:" + name, kind, texts_.back()});
    return true;
  }
  std::string directory_;
  std::vector<std::string> texts_;
  std::vector<Part> parts_;
};

std::optional<std::string> of_number(unsigned value) { return std::to_string(value); }

/// Whether `program` does nothing but start `target`: it is small, needs nothing but the C library, and names it.
Result<bool> only_starts(const content::Rope& program, const elf::Facts& facts, const std::string& target) {
  bool small = program.size() <= k_stand_in_bytes_max && facts.is_program();
  for (const auto& name : facts.needed) small &= name == "libc.so.6" || name == "libdl.so.2";
  if (!small) return false;
  return holds_string(program, target);
}

/// The target, if one side is our launcher and the other one a program that starts the same.
Result<std::optional<std::string>> common_target(const content::Rope& left, const content::Rope& right) {
  for (const auto& [ours, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
    TRY(auto target, elf::launcher_target(*ours));
    if (!target) continue;
    TRY(auto facts, elf::read_facts(*other, "program"));
    TRY(bool same, only_starts(*other, facts, *target));
    if (same) return target;
  }
  return std::optional<std::string>();
}
} // namespace

Result<std::optional<ElfComparison>> compare_elf(const content::Rope& left, const content::Rope& right,
                                                 const std::string& directory) {
  TRY(bool left_elf, elf::has_magic(left));
  TRY(bool right_elf, elf::has_magic(right));
  if (!left_elf || !right_elf) return std::optional<ElfComparison>{};
  auto l = elf::read_facts(left, "left"), r = elf::read_facts(right, "right");
  if (!l || !r) return std::optional<ElfComparison>{}; // their bytes differ: that is all that can be said
  Comparison comparison(directory);
  comparison.value("type", of_number(l->type), of_number(r->type));
  comparison.value("machine", of_number(l->machine), of_number(r->machine));
  comparison.value("interpreter", l->interpreter, r->interpreter);
  comparison.value("SONAME", l->soname, r->soname);
  comparison.run_path("RPATH", l->rpath, r->rpath);
  comparison.run_path("RUNPATH", l->runpath, r->runpath);
  comparison.needed(l->needed, r->needed);
  auto left_versions = elf::read_needed_versions(left, "left"),
       right_versions = elf::read_needed_versions(right, "right");
  if (left_versions && right_versions)
    comparison.value("versions", text::join(*left_versions, " "), text::join(*right_versions, " "));
  auto left_sections = kept_sections(left, "left"), right_sections = kept_sections(right, "right");
  TRY_DO(comparison.sections(left_sections.value_or(Sections()), right_sections.value_or(Sections())));
  auto target = common_target(left, right);
  if (target && *target) comparison.stand_for(**target);
  return std::optional(comparison.take());
}

} // namespace quarry::inspect
