#include "cli/release_notes.hpp"

#include "base/one_line.hpp"
#include "cli/table.hpp"
#include "cli/waivers.hpp"
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::cli {

std::string text_of_waiver(const release::ShownWaiver& waiver) {
  if (!waiver.record) return "(the record is gone)";
  const auto& by = waiver.record->requester;
  auto asked = by.empty() ? std::string() : fmt::format(" (asked for by {})", by);
  auto mark = waiver.revoked ? ", revoked since: " + waiver.revoked->reason : std::string();
  return waiver_text(*waiver.record) + asked + mark;
}

namespace {

std::string packages_text(const release::Shown& release) {
  std::map<std::pair<std::string, std::string>, std::size_t> files; // of a project and version
  for (const auto& sealed : release.sets)
    for (const auto& file : sealed.set.files) ++files[{file.project, file.version}];
  std::string text = "\n## Packages\n\n| project | version | files |\n|---|---|---|\n";
  for (const auto& [package, count] : files)
    text += fmt::format("| {} | {} | {} |\n", table_cell(package.first), table_cell(package.second), count);
  return text;
}

std::string channels_text(const release::Shown& release) {
  if (release.channels.empty()) return "\nNo channel has a set of this release.\n";
  std::string text = "\n## Channels\n\n| channel | generation | sets |\n|---|---|---|\n";
  for (const auto& channel : release.channels)
    text += fmt::format("| {} | {} | {} of {} |\n", channel.channel, channel.generation, channel.sets.size(),
                        release.sets.size());
  return text;
}

std::string cells_text_of(const release::Shown& release) {
  if (release.cells.empty()) return {};
  std::string text =
      "\n## Support\n\n| channel | platform | family | python | framework | |\n|---|---|---|---|---|---|\n";
  std::set<std::string> said;
  for (const auto& cell : release.cells) {
    auto line = fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell.channel, table_cell(cell.platform),
                            table_cell(cell.family), table_cell(cell.python), table_cell(cell.framework),
                            cell.waived ? "**waived**" : "tested");
    if (said.insert(line).second) text += line;
  }
  return text;
}

std::string empty_extras_text(const release::Shown& release) {
  std::string rows;
  for (const auto& channel : release.channels)
    for (const auto& one : channel.empty_extras)
      rows += fmt::format("| {} | `{}` | {} |\n", channel.channel, registry::name_of(one), table_cell(one.lacks));
  return rows.empty()
             ? rows
             : "\n## Extras that cannot be installed yet\n\n| channel | extra | held back |\n|---|---|---|\n" + rows;
}

} // namespace

std::string release_notes(const release::Shown& release) {
  const auto& name = release.record.name;
  auto text =
      fmt::format("# {}\n\n`release:{}`\n",
                  name.empty() ? "Release " + release.digest.short_hex() : text::one_line(name), release.digest);
  if (!release.record.notes.empty())
    text += "\n" + release.record.notes + (release.record.notes.ends_with('\n') ? "" : "\n");
  text += packages_text(release) + channels_text(release) + cells_text_of(release) + empty_extras_text(release);
  if (!release.waivers.empty()) text += "\n## Waivers\n\n";
  for (const auto& waiver : release.waivers)
    text += fmt::format("- `{}`: {}\n", waiver.digest.short_hex(), text_of_waiver(waiver));
  return text;
}

} // namespace quarry::cli
