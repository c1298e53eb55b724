#include "cli/rule_pages.hpp"

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/table.hpp"
#include "inspect/rule_profile.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <vector>

namespace quarry::cli {

namespace {
struct RuleRoom {
  std::string_view room, about, codes; ///< `codes`: a glob of those that are findings
};
// The rooms whose codes `wheel check`, `gpu list` and `set check` report as findings.
constexpr std::array<RuleRoom, 8> k_rule_rooms{{{"zip", "the archive", "Z*"},
                                                {"wheel", "dist-info, RECORD, paths", "W*"},
                                                {"dist", "names, versions, METADATA", "M*"},
                                                {"elf", "ELF files", "E*"},
                                                {"pe", "Windows programs and DLLs", "J*"},
                                                {"gpu", "GPU code", "G1*"},
                                                {"inspect", "what would fail where a wheel is installed", "Q*"},
                                                {"closure", "packages that are installed together", "Q4*"}}};
constexpr const char* k_made = "Made by `tools/generate-docs` from `data/codes` and `data/profiles`.";

std::string severity_in(const inspect::RuleProfile& profile, const std::string& code) {
  for (const auto& [glob, severity] : profile.severities)
    if (text::glob_match(glob, code)) return std::string(to_string(severity));
  return "as found";
}

Result<std::vector<inspect::RuleProfile>> profiles_of(const Resources& resources, const inspect::FitsCode& fits) {
  std::vector<inspect::RuleProfile> profiles;
  for (const auto& name : resources.list("data/profiles/")) {
    TRY(auto profile, inspect::parse_rule_profile({resources.read(name).value_or(""), name}, fits));
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::string page_of(const RuleRoom& room, const std::map<std::string, Explanation>& codes) {
  auto page = fmt::format("# Rules: {}\n\n{}\n\n| code | finding | what it means | what to do |\n|---|---|---|---|\n",
                          room.about, k_made);
  for (const auto& [code, each] : codes)
    if (each.room == room.room && text::glob_match(room.codes, code))
      page += fmt::format("| {} | {} | {} | {} |\n", code, table_cell(each.title), table_cell(each.about),
                          table_cell(each.fix));
  return page;
}
} // namespace

Result<std::map<std::string, std::string>> rule_pages(const Resources& resources) {
  TRY(auto codes, load_codes(resources));
  TRY(auto profiles, profiles_of(resources, fits_code_of(codes)));
  std::map<std::string, std::string> pages;
  auto index = fmt::format("# Rules for packages\n\n{} `quarry explain CODE` says the same.\n\n", k_made);
  index +=
      "[Rule profiles](../formats/rule-profile.md) decide how severe a finding is; \"as found\" means as the\nrule "
      "itself says.\n\n| code | finding |";
  for (const auto& profile : profiles) index += fmt::format(" `{}` |", profile.name);
  index += "\n|---|---|";
  for (std::size_t i = 0; i < profiles.size(); ++i) index += "---|";
  index += "\n";
  for (const auto& room : k_rule_rooms) {
    auto file = fmt::format("{}.md", room.room);
    pages[file] = page_of(room, codes);
    for (const auto& [code, each] : codes) {
      if (each.room != room.room || !text::glob_match(room.codes, code)) continue;
      index += fmt::format("| [{}]({}) | {} |", code, file, table_cell(each.title));
      for (const auto& profile : profiles) index += fmt::format(" {} |", severity_in(profile, code));
      index += "\n";
    }
  }
  pages["README.md"] = std::move(index);
  return pages;
}

} // namespace quarry::cli
