#include "sdk/devel.hpp"

#include "base/text.hpp"
#include "sdk/run_path.hpp"
#include "sdk/windows.hpp"
#include "sys/path.hpp"
#include "tar/rope.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

// `..` first and names behind them, at least one.
bool is_plain(const std::vector<std::string>& parts) {
  auto name = std::find_if(parts.begin(), parts.end(), [](const std::string& part) { return part != ".."; });
  return name != parts.end() && std::find(name, parts.end(), "..") == parts.end();
}

class DevelPlanner {
public:
  DevelPlanner(const View& view, const std::vector<RuntimeTree>& runtime, const PopulateOptions& options,
               Findings& findings)
      : view_(view), runtime_(runtime), options_(options), findings_(findings) {}

  Result<DevelTree> run() {
    for (const auto& [path, entry] : view_.entries) {
      if (entry.type == sys::EntryType::directory || aliased(path) || owned(path)) continue;
      if (entry.type == sys::EntryType::symlink)
        link(path, entry);
      else
        TRY_DO(file(path, entry));
    }
    dropped_.report(options_.place, findings_);
    for (const auto& [path, planned] : out_.files) out_.bytes += planned.data.size();
    return std::move(out_);
  }

private:
  bool aliased(const std::string& path) {
    for (const auto& tree : runtime_) {
      auto it = tree.population->aliases.find(path);
      if (it == tree.population->aliases.end()) continue;
      out_.links[path] = path::relative(it->second, path::dirname(path));
      return true;
    }
    return false;
  }

  bool owned(const std::string& path) {
    for (const auto& tree : runtime_)
      if (tree.population->files.contains(path)) {
        out_.links[path] = into_sibling(path, tree.platform);
        return true;
      }
    return false;
  }

  void link(const std::string& path, const SourceEntry& entry) {
    if (auto end = view_.resolve(path)) {
      out_.links[path] = plain_target(path, entry.link, *end);
      return;
    }
    if (view_.leads_in_a_circle(path)) return findings_.push_back(circle(path, entry, options_.place));
    ++out_.dropped_links;
    findings_.push_back({"S023", Severity::note, options_.place + "!" + path,
                         fmt::format("the link to {} leads nowhere in this SDK and is left out", entry.link), ""});
  }

  Result<void> windows_file(const std::string& path, const SourceEntry& entry) {
    TRY_DO(check_windows_file(path, entry, options_.place, findings_));
    out_.files[path] = {entry.data, false, "file", entry.artifact};
    return {};
  }

  Result<void> file(const std::string& path, const SourceEntry& entry) {
    if (options_.for_windows) return windows_file(path, entry);
    PlannedFile planned{entry.data, entry.executable, "file", entry.artifact};
    TRY(auto look, look_at(path, entry, options_.place, findings_));
    // Only what the loader looks at: relocatable objects and debug files have no dynamic section to normalise.
    if (look.has_dynamic && !look.run_path.empty()) {
      auto wanted = run_path_for(path, dropped_.portable(path, look.run_path), {options_.platform, {}});
      TRY(planned.data, with_run_path({path, entry.data, look}, wanted, options_.place, findings_));
      if (wanted != look.run_path || look.uses_runpath) planned.kind = "elf";
    }
    out_.files[path] = std::move(planned);
    return {};
  }

  const View& view_;
  const std::vector<RuntimeTree>& runtime_;
  const PopulateOptions& options_;
  Findings& findings_;
  DevelTree out_;
  DroppedRunPaths dropped_;
};

} // namespace

std::string into_sibling(const std::string& path, std::string_view platform) {
  std::string up = "..";
  for (char c : path)
    if (c == '/') up += "/..";
  return fmt::format("{}/{}/{}", up, platform, path);
}

std::string plain_target(const std::string& link, const std::string& target, const std::string& end) {
  auto parts = path::components(target);
  if (is_plain(parts)) return text::join(parts, "/");
  // To a directory that holds the link (`.`, `..`) by way of its name, so that there is one.
  auto from = path::dirname(link);
  auto above = path::relative(path::dirname(end), from);
  return path::join(above == "." ? "" : above, path::basename(end));
}

Result<DevelTree> plan_devel(const View& view, const std::vector<RuntimeTree>& runtime, const PopulateOptions& options,
                             Findings& findings) {
  return DevelPlanner(view, runtime, options, findings).run();
}

Result<content::Rope> devel_tar(const DevelTree& tree, const std::string& platform) {
  tar::RopeWriter tar;
  auto file = tree.files.begin();
  auto link = tree.links.begin();
  while (file != tree.files.end() || link != tree.links.end()) {
    bool take_file = link == tree.links.end() || (file != tree.files.end() && file->first < link->first);
    if (take_file) {
      TRY_DO(tar.file(platform + "/" + file->first, file->second.data, file->second.executable));
      ++file;
    } else {
      TRY_DO(tar.symlink(platform + "/" + link->first, link->second));
      ++link;
    }
  }
  return tar.finish();
}

} // namespace quarry::sdk
