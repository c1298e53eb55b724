#include "inspect/elf_compare.hpp"

#include "base/text.hpp"
#include "elf/elf.hpp"
#include "elf/image.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_named_max = 5; // sections in one message

using Sections = std::map<std::string, Sha256>;

/// What an edit of the dynamic section leaves alone: code, data, and the symbols by number and by name.
bool is_kept(const elf::Section& section, const std::string& name) {
  bool kind = section.type == SHT_PROGBITS || section.type == SHT_DYNSYM || section.type == SHT_GNU_HASH ||
              section.type == SHT_GNU_versym;
  return kind && section.allocated() && name != ".interp";
}

Result<Sections> kept_sections(const content::Rope& file, std::string_view name) {
  TRY(auto image, elf::Image::read(file, name));
  TRY(auto sections, image.read_sections());
  TRY(auto names, elf::section_names(image, sections));
  Sections found;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& section = sections[i];
    if (!is_kept(section, names[i]) || !elf::fits(section.offset, section.size, file.size())) continue;
    TRY(auto digest, content::sha256_of(file.slice(section.offset, section.size)));
    found[names[i]] = digest;
  }
  return found;
}

std::string shown(const std::optional<std::string>& text) { return text ? "`" + *text + "`" : std::string("none"); }

class Comparison {
public:
  void value(std::string_view what, const std::optional<std::string>& left, const std::optional<std::string>& right) {
    if (left != right) parts_.push_back(fmt::format("{} {} | {}", what, shown(left), shown(right)));
  }
  void list(const std::vector<std::string>& left, const std::vector<std::string>& right) {
    if (left == right) return;
    auto only = [](const auto& a, const auto& b) {
      std::vector<std::string> out;
      for (const auto& text : a)
        if (std::find(b.begin(), b.end(), text) == b.end()) out.push_back(text);
      return text::join(out, " ");
    };
    auto l = only(left, right), r = only(right, left);
    if (!l.empty()) parts_.push_back(fmt::format("needs {} only on the left", l));
    if (!r.empty()) parts_.push_back(fmt::format("needs {} only on the right", r));
    if (l.empty() && r.empty()) parts_.emplace_back("needs the same libraries in another order");
  }
  void sections(const Sections& left, const Sections& right) {
    std::vector<std::string> names;
    auto all = left;
    all.insert(right.begin(), right.end());
    for (const auto& [name, digest] : all) {
      auto l = left.find(name), r = right.find(name);
      if (l == left.end() || r == right.end() || l->second != r->second) names.push_back(name);
    }
    if (names.empty()) {
      parts_.emplace_back("the same code, data and symbols");
      return;
    }
    parts_.push_back("other " + text::first(names, k_named_max, " "));
  }
  std::string text() const { return text::join(parts_, "; "); }

private:
  std::vector<std::string> parts_;
};

std::optional<std::string> of_number(unsigned value) { return std::to_string(value); }
} // namespace

Result<std::optional<std::string>> compare_elf(const content::Rope& left, const content::Rope& right) {
  TRY(bool left_elf, elf::has_magic(left));
  TRY(bool right_elf, elf::has_magic(right));
  if (!left_elf || !right_elf) return std::optional<std::string>{};
  auto l = elf::read_facts(left, "left"), r = elf::read_facts(right, "right");
  if (!l || !r) return std::optional<std::string>{}; // their bytes differ: that is all that can be said
  Comparison comparison;
  comparison.value("type", of_number(l->type), of_number(r->type));
  comparison.value("machine", of_number(l->machine), of_number(r->machine));
  comparison.value("interpreter", l->interpreter, r->interpreter);
  comparison.value("SONAME", l->soname, r->soname);
  comparison.value("RPATH", l->rpath, r->rpath);
  comparison.value("RUNPATH", l->runpath, r->runpath);
  comparison.list(l->needed, r->needed);
  auto left_sections = kept_sections(left, "left"), right_sections = kept_sections(right, "right");
  if (left_sections && right_sections) comparison.sections(*left_sections, *right_sections);
  return std::optional(comparison.text());
}

} // namespace quarry::inspect
