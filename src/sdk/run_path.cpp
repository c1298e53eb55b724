#include "sdk/run_path.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
/// Whether `way`, from the directory of `file` in a package's directory of site-packages, stays in site-packages.
bool stays_installed(std::string_view file, std::string_view way) {
  auto depth = std::count(file.begin(), file.end(), '/') + 1;
  for (const auto& step : text::split(way, '/')) {
    if (step.empty() || step == ".") continue;
    depth += step == ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}
} // namespace

RunPathPart kind_of_part(std::string_view part, std::string_view file) {
  for (std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
    if (part == origin || (part.starts_with(origin) && part[origin.size()] == '/'))
      return stays_installed(file, part.substr(origin.size())) ? RunPathPart::portable : RunPathPart::absolute;
  return part.starts_with('/') ? RunPathPart::absolute : RunPathPart::relative;
}

std::string DroppedRunPaths::portable(const std::string& file, const std::string& run_path) {
  if (run_path.empty()) return {};
  std::vector<std::string> kept;
  for (const auto& part : text::split(run_path, ':'))
    if (kind_of_part(part, file) == RunPathPart::portable)
      kept.push_back(part);
    else
      files_[part].push_back(file);
  return text::join(kept, ":");
}

void DroppedRunPaths::report(const std::string& place, Findings& findings) const {
  for (const auto& [part, files] : files_) {
    bool relative = kind_of_part(part, files.front()) == RunPathPart::relative;
    auto where =
        files.size() == 1 ? std::string() : fmt::format(" and {} more", units::things(files.size() - 1, "file"));
    auto why = part.empty() ? "an empty part, which means the working directory,"
                            : fmt::format("{:?}, {},", part,
                                          relative                ? "relative to the working directory"
                                          : part.starts_with('/') ? "a directory of the machine that built it"
                                                                  : "which leads out of the installed packages");
    findings.push_back({relative ? "S051" : "S052", relative ? Severity::warning : Severity::note,
                        place + "!" + files.front(), fmt::format("{} was removed from its run path{}", why, where),
                        relative ? "link with -Wl,-rpath,$ORIGIN/… instead" : ""});
  }
}

} // namespace quarry::sdk
