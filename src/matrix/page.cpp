#include "matrix/page.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::matrix {

namespace {
std::string cell(std::string_view text) { return text::replace_all(text::replace_all(text, "|", "\\|"), "<", "\\<"); }

std::string gpus(const Families& families, const Family& family) {
  std::vector<std::string> parts;
  for (const auto& name : families.targets_of(family.name))
    for (const auto& target : families.targets)
      if (target.name == name) parts.push_back(fmt::format("{} ({})", name, cell(target.product)));
  return text::join(parts, ", ");
}

std::string tests(const Place& place) {
  const auto* runners = place.find("test");
  if (!runners) return "built, not tested";
  auto what = place.tests == Scope::sanity      ? "sanity checks"
              : place.tests == Scope::nightly   ? "tested nightly"
              : place.tests == Scope::full      ? "full tests only"
              : place.tests == Scope::submodule ? "tested when a submodule moves"
                                                : "tested";
  std::vector<std::string> labels;
  for (const auto& runner : *runners) labels.push_back("`" + cell(runner.label) + "`");
  return fmt::format("{} on {}", what, text::join(labels, ", "));
}

std::string support(const Family& family, const Platform& platform) {
  const auto* place = family.find(platform);
  if (!place) return "no";
  auto text = tests(*place);
  if (!place->expected_failure.empty())
    text += fmt::format("; {} expected to fail", text::join(place->expected_failure, ", "));
  if (place->release_untested) text += "; released without tests";
  return place->reason.empty() ? text : text + " (" + cell(place->reason) + ")";
}

Json runners_json(const Runners& runners) {
  Json list = Json::array();
  for (const auto& runner : runners) list.push_back({{"label", runner.label}, {"weight", runner.weight}});
  return list;
}

Json place_json(const Place& place) {
  Json runners = Json::object();
  for (const auto& [purpose, list] : place.runners) runners[purpose] = runners_json(list);
  return {{"platform", place.platform},
          {"fetch", place.fetch},
          {"variants", place.variants},
          {"runners", runners},
          {"runs_on", place.find("test") ? heaviest(*place.find("test")) : ""},
          {"kernels", place.kernels},
          {"tests", to_string(place.tests)},
          {"expected_failure", place.expected_failure},
          {"release_untested", place.release_untested},
          {"reason", place.reason}};
}

Json family_json(const Families& families, const Family& family) {
  Json places = Json::array();
  for (const auto& place : family.places) places.push_back(place_json(place));
  return {{"key", family.key},
          {"name", family.name},
          {"tier", family.tier},
          {"targets", families.targets_of(family.name)},
          {"platforms", places}};
}

Json variants_json(const Families& families) {
  Json all = Json::object();
  for (const auto& [platform, variants] : families.variants)
    for (const auto& variant : variants)
      all[platform.text()].push_back({{"name", variant.name},
                                      {"suffix", variant.suffix},
                                      {"preset", variant.preset},
                                      {"build", variant.build},
                                      {"expected_failure", variant.expected_failure}});
  return all;
}
} // namespace

std::string support_page(const Families& families) {
  std::string page =
      "# GPU families\n\nMade by `tools/generate-docs` from `data/families.toml`; "
      "[what the file may say](formats/families.md).\n\n| family | GPUs | Linux | Windows | runs from |\n"
      "|---|---|---|---|---|\n";
  for (const auto& family : families.families)
    page += fmt::format("| {} | {} | {} | {} | {} |\n", cell(family.name), gpus(families, family),
                        support(family, Platform::linux), support(family, Platform::windows), cell(family.tier));
  page += "\nA family without a runner is built, and held by every gate until somebody takes the risk. Which trigger "
          "runs which "
          "tier:\n\n| trigger | runs |\n|---|---|\n";
  for (const auto& [event, tiers] : families.triggers)
    page += fmt::format("| {} | {} |\n", cell(event), tiers.empty() ? "what is named" : text::join(tiers, ", "));
  return page;
}

Json families_json(const Families& families) {
  Json targets = Json::array(), list = Json::array(), build = Json::object();
  for (const auto& target : families.targets)
    targets.push_back({{"name", target.name}, {"product", target.product}, {"groups", target.groups}});
  for (const auto& family : families.families) list.push_back(family_json(families, family));
  for (const auto& [platform, kinds] : families.build_runners)
    for (const auto& [kind, runners] : kinds) build[platform.text()][kind] = runners_json(runners);
  return {{"name", families.name},         {"file", families.file}, {"tiers", families.tiers},
          {"triggers", families.triggers}, {"targets", targets},    {"variants", variants_json(families)},
          {"build_runners", build},        {"families", list}};
}

std::string cells_table(const Expansion& expansion) {
  std::vector<std::vector<std::string>> rows = {
      {"artifact group", "variant", "targets", "build on", "test on", "state"}};
  for (const auto& c : expansion.cells)
    rows.push_back({c.artifact_group, c.variant->name, text::join(c.targets, ","), c.build_runner,
                    c.test_runner.empty() ? "-" : c.test_runner,
                    std::string(to_string(c.state)) + (c.held ? " (held)" : "")});
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[i].size());
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], width) : row[i];
    }
    text += line + "\n";
  }
  return text;
}

} // namespace quarry::matrix
