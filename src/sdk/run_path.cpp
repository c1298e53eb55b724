#include "sdk/run_path.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <fmt/core.h>

namespace quarry::sdk {

RunPathPart kind_of_part(std::string_view part) {
  for (std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
    if (part == origin || (part.starts_with(origin) && part[origin.size()] == '/')) return RunPathPart::portable;
  return part.starts_with('/') ? RunPathPart::absolute : RunPathPart::relative;
}

std::string DroppedRunPaths::portable(const std::string& file, const std::string& run_path) {
  if (run_path.empty()) return {};
  std::vector<std::string> kept;
  for (const auto& part : text::split(run_path, ':'))
    if (kind_of_part(part) == RunPathPart::portable)
      kept.push_back(part);
    else
      files_[part].push_back(file);
  return text::join(kept, ":");
}

void DroppedRunPaths::report(const std::string& place, Findings& findings) const {
  for (const auto& [part, files] : files_) {
    bool relative = kind_of_part(part) == RunPathPart::relative;
    auto where =
        files.size() == 1 ? std::string() : fmt::format(" and {} more", units::things(files.size() - 1, "file"));
    auto why = part.empty() ? "an empty part, which means the working directory,"
                            : fmt::format("{:?}, {},", part,
                                          relative ? "relative to the working directory"
                                                   : "a directory of the machine that built it");
    findings.push_back({relative ? "S051" : "S052", relative ? Severity::warning : Severity::note,
                        place + "!" + files.front(), fmt::format("{} was removed from its run path{}", why, where),
                        relative ? "link with -Wl,-rpath,$ORIGIN/… instead" : ""});
  }
}

} // namespace quarry::sdk
