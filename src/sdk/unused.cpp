#include "sdk/unused.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
constexpr std::size_t k_directories_named_max = 5; // a line or two; --json has all of them

Result<Unused> whole(const artifact::Catalogue& catalogue, const artifact::Name& name) {
  Unused out;
  out.artifact = name.text();
  auto named = [&](const auto& a) { return a.name == name; };
  auto archive = std::find_if(catalogue.archives.begin(), catalogue.archives.end(), named);
  if (archive != catalogue.archives.end()) {
    out.bytes = archive->size;
    return out;
  }
  auto exploded = std::find_if(catalogue.artifacts.begin(), catalogue.artifacts.end(), named);
  TRY(auto entries, sys::list_tree(exploded->directory), "while measuring " + out.artifact);
  for (const auto& entry : entries)
    if (entry.type == sys::EntryType::file) ++out.files, out.bytes += entry.size;
  return out;
}

Unused left_over(const artifact::Name& name, const std::vector<ArtifactTrees::File>& files) {
  Unused out{.artifact = name.text(), .whole = false};
  for (const auto& file : files) {
    if (file.taken || file.entry.type != sys::EntryType::file) continue;
    if (out.files++ == 0) out.example = file.path;
    out.bytes += file.entry.size;
  }
  return out;
}

std::string list_of(const std::vector<const Unused*>& some) {
  std::vector<std::string> parts;
  for (const auto* u : some)
    parts.push_back(u->whole ? fmt::format("{} ({})", u->artifact, units::bytes(u->bytes))
                             : fmt::format("{} of {} ({}, such as {})", units::things(u->files, "file"), u->artifact,
                                           units::bytes(u->bytes), u->example));
  return text::first(parts, k_directories_named_max);
}

void report_not_asked(const std::vector<Unused>& unused, const std::string& directory, Findings& findings) {
  std::vector<const Unused*> some;
  std::uint64_t bytes = 0;
  for (const auto& u : unused)
    if (!u.asked) some.push_back(&u), bytes += u.bytes;
  if (some.empty()) return;
  findings.push_back({"S064", Severity::note, directory,
                      fmt::format("{} of families that were not asked for, {}, stay out of the packages: {}",
                                  units::things(some.size(), "artifact"), units::bytes(bytes), list_of(some)),
                      "name their families as well, or none to build all that are there"});
}
} // namespace

Result<std::vector<Unused>> find_unused(const ArtifactTrees& trees, const std::vector<artifact::Name>& selected,
                                        const std::vector<std::string>& families) {
  std::vector<Unused> out;
  for (const auto& name : trees.names()) {
    std::string family(name.target_base());
    bool asked = family == "generic" || std::find(families.begin(), families.end(), family) != families.end();
    auto read = trees.all_read().find(name);
    bool taken = std::find(selected.begin(), selected.end(), name) != selected.end();
    if (!taken) {
      TRY(auto unused, whole(trees.catalogue(), name));
      unused.asked = asked;
      out.push_back(std::move(unused));
    } else if (read != trees.all_read().end()) {
      if (auto unused = left_over(name, read->second); unused.files) out.push_back(std::move(unused));
    }
  }
  return out;
}

void report_unused(const std::vector<Unused>& unused, const std::string& directory, Findings& findings) {
  for (bool whole : {true, false}) {
    std::vector<const Unused*> some;
    std::uint64_t bytes = 0;
    for (const auto& u : unused)
      if (u.whole == whole && u.asked) some.push_back(&u), bytes += u.bytes;
    if (some.empty()) continue;
    findings.push_back({whole ? "S054" : "S055", Severity::warning, directory,
                        whole ? fmt::format("no package takes {}, {}: {}", units::things(some.size(), "artifact"),
                                            units::bytes(bytes), list_of(some))
                              : fmt::format("no package takes {} of {}: {}", units::bytes(bytes),
                                            units::things(some.size(), "artifact"), list_of(some)),
                        "the recipe's `select` says what packages take; `--json` lists all of it"});
  }
  report_not_asked(unused, directory, findings);
}

} // namespace quarry::sdk
