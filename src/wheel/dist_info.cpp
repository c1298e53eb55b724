#include "wheel/dist_info.hpp"

#include "base/text.hpp"
#include "dist/resolver_fields.hpp"
#include "wheel/shown.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <iterator>

namespace quarry::wheel {

namespace {

constexpr std::array<std::string_view, 5> k_data_keys{"data", "headers", "platlib", "purelib", "scripts"};
// An installer writes these; in a wheel they would lie about how it was installed.
constexpr std::array<std::string_view, 3> k_installer_files{"INSTALLER", "REQUESTED", "direct_url.json"};

class Checker {
public:
  Checker(const DistInfoCheck& check, Findings& findings)
      : file_(check.file_name), name_(check.name), dist_info_(check.dist_info), findings_(findings) {}

  void error(std::string code, std::string_view member, std::string message, std::string fix = {}) {
    findings_.push_back(
        {std::move(code), Severity::error, place_of(file_, member), std::move(message), std::move(fix)});
  }
  std::string in_dist_info(std::string_view name) const { return dist_info_ + "/" + std::string(name); }
  // A text that dist could not parse: its own code, in the wheel's place.
  void error(const Error& e, std::string_view member) { error(e.code, member, e.message, e.hint); }

  void metadata(const DistInfoTexts& texts, DistInfo& out) {
    auto path = in_dist_info("METADATA");
    if (!texts.metadata) return error("W006", path, "METADATA is missing", "build the wheel again");
    auto parsed = dist::Metadata::parse(*texts.metadata);
    if (!parsed) return error(parsed.error(), path);
    out.metadata = std::move(*parsed);
    for (auto& defect : dist::check_resolver_fields(*out.metadata, place_of(file_, path)))
      findings_.push_back(std::move(defect));
    auto project = dist::ProjectName::parse(out.metadata->name);
    auto version = dist::Version::parse(out.metadata->version);
    if (!project || *project != name_.project)
      error("W007", path, fmt::format("Name is {}, the file name says {}", out.metadata->name, name_.raw_name),
            "rename the file or build it again");
    if (!version || *version != name_.version)
      error("W007", path, fmt::format("Version is {}, the file name says {}", out.metadata->version, name_.raw_version),
            "rename the file or build it again");
  }

  void wheel(const DistInfoTexts& texts, DistInfo& out) {
    auto path = in_dist_info("WHEEL");
    if (!texts.wheel) return error("W006", path, "WHEEL is missing", "build the wheel again");
    auto parsed = dist::WheelInfo::parse(*texts.wheel);
    if (!parsed) return error(parsed.error(), path);
    out.wheel_info = std::move(*parsed);
    wheel_version(path, out.wheel_info->wheel_version);
    tags(path, *out.wheel_info);
    if (out.wheel_info->build != name_.raw_build)
      error("W012", path,
            fmt::format("Build is \"{}\", the file name says \"{}\"", out.wheel_info->build, name_.raw_build),
            "rename the file or build it again");
  }

  void entry_points(const DistInfoTexts& texts, DistInfo& out) {
    if (!texts.entry_points) return;
    auto path = in_dist_info("entry_points.txt");
    auto parsed = dist::parse_entry_points(*texts.entry_points);
    if (!parsed) return error("W009", path, parsed.error().message, parsed.error().hint);
    out.entry_points = std::move(*parsed);
    // The parser refuses scripts that cannot be made; other groups are read when they are used.
    auto severity = out.metadata && !dist::must_resolve(*out.metadata) ? Severity::warning : Severity::error;
    std::size_t shown = 0;
    for (const auto& p : out.entry_points)
      if (!p.is_reference() && shown++ < k_shown_max)
        findings_.push_back({"W009", severity, place_of(file_, path),
                             fmt::format("{} in [{}] is not module:attribute", p.name, p.group),
                             "correct the entry points and build the wheel again"});
  }

  void licenses(const DistInfo& info, const std::set<std::string, std::less<>>& paths) {
    if (!info.metadata) return;
    // Before PEP 639 (metadata 2.4) License-File was not a field of core metadata: tools wrote it for files directly in
    // dist-info, such as pyarrow 21's `../LICENSE.txt`, and nobody reads it.
    bool is_field = info.metadata->metadata_version >= "2.4";
    std::vector<std::string> early;
    for (const auto& license : info.metadata->license_files) {
      auto modern = in_dist_info("licenses/" + license);
      if (paths.contains(modern)) continue;
      if (is_field)
        error("W008", modern, fmt::format("METADATA names the licence file {}, which the wheel lacks", license),
              "add the file below licenses/, or drop the field");
      else if (!paths.contains(in_dist_info(license)))
        early.push_back(license);
    }
    if (!early.empty())
      findings_.push_back({"W008", Severity::warning, place_of(file_, in_dist_info("METADATA")),
                           fmt::format("before metadata 2.4 License-File has no meaning, and the wheel lacks {}",
                                       text::first(early, k_shown_max)),
                           "write Metadata-Version 2.4 and add the files below licenses/, or drop the field"});
  }

private:
  void wheel_version(const std::string& path, const std::string& version) {
    auto parts = text::split(version, '.');
    if (parts.front() != "1")
      error("W005", path, fmt::format("Wheel-Version {} is not understood", version), "build a wheel of version 1.0");
    else if (version != "1.0")
      findings_.push_back({"W005", Severity::warning, place_of(file_, path),
                           fmt::format("Wheel-Version {} is newer than 1.0", version), "build a wheel of version 1.0"});
  }

  void tags(const std::string& path, const dist::WheelInfo& info) {
    auto expected = name_.tags.expanded();
    std::set<std::string> named(expected.begin(), expected.end()), said;
    for (const auto& tag : info.tags) expand(tag, said);
    if (named == said) return;
    std::vector<std::string> differences;
    auto add = [&](const std::set<std::string>& a, const std::set<std::string>& b, std::string_view what) {
      std::vector<std::string> only;
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
      if (!only.empty()) differences.push_back(fmt::format("{}: {}", what, text::join(only, ", ")));
    };
    add(named, said, "the file name has tags that WHEEL lacks");
    add(said, named, "WHEEL has tags that the file name lacks");
    error("W012", path, text::join(differences, "; "),
          "rename the file or build it again: installers choose by the one or by the other");
  }

  // WHEEL should have one line for each triple; compressed sets in it mean the same.
  static void expand(const std::string& tag, std::set<std::string>& into) {
    auto parts = text::split(tag, '-');
    if (parts.size() != 3)
      into.insert(tag);
    else
      for (auto& t : dist::WheelTags{parts[0], parts[1], parts[2]}.expanded()) into.insert(t);
  }

  const std::string& file_;
  const dist::WheelName& name_;
  const std::string& dist_info_;
  Findings& findings_;
};

// Windows and macOS ignore the case, and importlib.metadata does everywhere.
bool ends_with(std::string_view directory, std::string_view suffix) {
  return directory.size() >= suffix.size() && text::lower(directory.substr(directory.size() - suffix.size())) == suffix;
}

// A directory's path has a trailing '/'.
void check_data_path(Checker& checker, const std::string& expected, const std::string& path) {
  auto top = top_directory(path);
  if (top != expected)
    return checker.error("W011", path, fmt::format("{} is not {}, the wheel's own", top, expected),
                         "rename the directory");
  auto parts = text::split(path, '/');
  if (path.ends_with('/') && parts.size() == 2) return; // the directory itself
  bool known = parts.size() > 2 && std::find(k_data_keys.begin(), k_data_keys.end(), parts[1]) != k_data_keys.end();
  if (!known)
    checker.error("W011", path, "only data, headers, platlib, purelib and scripts may be below .data", "move the file");
}

} // namespace

std::string place_of(std::string_view file, std::string_view member) {
  return member.empty() ? std::string(file) : fmt::format("{}!{}", file, member);
}

DistInfo check_dist_info(const DistInfoCheck& check, Findings& findings) {
  Checker checker(check, findings);
  DistInfo out;
  checker.metadata(check.texts, out);
  checker.wheel(check.texts, out);
  checker.entry_points(check.texts, out);
  checker.licenses(out, check.paths);
  return out;
}

bool belongs_to(std::string_view directory, const dist::WheelName& name) {
  if (!directory.ends_with(k_dist_info_suffix)) return false;
  directory.remove_suffix(k_dist_info_suffix.size());
  auto dash = directory.rfind('-');
  if (dash == std::string_view::npos) return false;
  auto project = dist::ProjectName::parse(directory.substr(0, dash));
  auto version = dist::Version::parse(directory.substr(dash + 1));
  return project && version && *project == name.project && *version == name.version;
}

std::string_view top_directory(std::string_view path) { return path.substr(0, path.find('/')); }

std::string data_directory(std::string_view dist_info) {
  if (dist_info.ends_with(k_dist_info_suffix)) dist_info.remove_suffix(k_dist_info_suffix.size());
  return std::string(dist_info) + ".data";
}

void check_paths(const DistInfoCheck& check, Findings& findings) {
  Checker checker(check, findings);
  auto data = data_directory(check.dist_info);
  std::set<std::string, std::less<>> reported;
  // An empty directory counts: pip and uv refuse the wheel for it.
  for (const auto* paths : {&check.paths, &check.directories})
    for (const auto& path : *paths) {
      auto top = top_directory(path);
      if (ends_with(top, ".data")) check_data_path(checker, data, path);
      if (ends_with(top, k_dist_info_suffix) && top != check.dist_info && reported.emplace(top).second)
        checker.error("W006", top, fmt::format("{} exists as well", check.dist_info),
                      "keep exactly one dist-info directory, named like the file");
    }
  for (auto file : k_installer_files)
    if (auto path = checker.in_dist_info(file); check.paths.contains(path))
      checker.error("W011", path, "only an installer may write this file", "remove it");
}

} // namespace quarry::wheel
