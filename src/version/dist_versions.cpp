#include "version/dist_versions.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>

namespace quarry::version {

namespace {
constexpr std::size_t k_listed_max = 8; // candidates that a message names

struct Candidate {
  std::string file;
  dist::WheelName name;
};
using Candidates = std::vector<Candidate>;

Result<Candidates> parse_all(const std::vector<std::string>& files) {
  Candidates found;
  for (const auto& file : files) {
    auto name = dist::WheelName::parse(file);
    if (!name) {
      auto hint = file.find('%') == file.npos ? "name the file as its builder did, or remove it"
                                              : "the name is percent-encoded: %2B means +; rename the file";
      return fail(Error::of(ErrorKind::invalid_argument, "N012", fmt::format("{} is not named like a wheel", file))
                      .with_detail(name.error().message)
                      .with_hint(hint));
    }
    found.push_back({file, std::move(*name)});
  }
  return found;
}

bool is_repaired(const Candidate& candidate) {
  const auto& platform = candidate.name.tags.platform;
  return platform.find("manylinux") != platform.npos || platform.find("musllinux") != platform.npos;
}

/// What pip and uv would take of the same interpreter's wheels: the highest version, then the more exact platform,
/// then the build number.
bool is_preferred(const Candidate& a, const Candidate& b) {
  if (a.name.version != b.name.version) return a.name.version > b.name.version;
  if (is_repaired(a) != is_repaired(b)) return is_repaired(a);
  return a.name.build > b.name.build;
}

Unexpected several(const std::string& project, Candidates candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), is_preferred);
  std::vector<std::string> details;
  for (std::size_t i = 0; i < std::min(candidates.size(), k_listed_max); ++i)
    details.push_back(fmt::format("{:<16}  {}", i ? "next to it" : "would be shipped", candidates[i].file));
  if (candidates.size() > k_listed_max)
    details.push_back(fmt::format("{:<16}  {} more", "next to it", candidates.size() - k_listed_max));
  bool same = candidates.front().name.version == candidates.back().name.version;
  bool raw = same && std::any_of(candidates.begin(), candidates.end(), is_repaired) &&
             !std::all_of(candidates.begin(), candidates.end(), is_repaired);
  return fail(
      Error::of(ErrorKind::invalid_argument, "N011",
                fmt::format("the directory holds {} wheels of {}, {}", candidates.size(), project,
                            !same ? "of different versions"
                            : raw ? "one as it was built and one repaired"
                                  : "of one version"))
          .with_details(std::move(details))
          .with_hint(raw ? "delete the wheel that was not repaired" : "keep one, or name the Python with --python"));
}

bool fits_python(const Candidate& candidate, std::string_view python) {
  if (python.empty()) return true;
  auto exact = "cp" + text::replace_all(python, ".", "");
  for (const auto& tag : text::split(candidate.name.tags.python, '.')) {
    if (tag == exact || tag.starts_with("py3") || tag.starts_with("py2.py3")) return true;
    bool stable = candidate.name.tags.abi.find("abi3") != std::string::npos && tag.starts_with("cp3");
    auto minor = stable ? text::parse_u64(tag.substr(3)) : std::nullopt;
    if (minor && *minor <= text::parse_u64(python.substr(2)).value_or(0)) return true;
  }
  return false;
}

/// The one wheel of the projects that `is_wanted` accepts; nullopt when there is none.
template <class Predicate>
Result<std::optional<Candidate>> only_one(const Candidates& all, const std::string& project, Predicate is_wanted) {
  Candidates fitting;
  for (const auto& candidate : all)
    if (is_wanted(candidate.name.project.str())) fitting.push_back(candidate);
  if (fitting.size() > 1) return several(project, std::move(fitting));
  if (fitting.empty()) return std::optional<Candidate>();
  return std::optional(fitting.front());
}

bool is_for_windows(const Candidates& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const Candidate& c) { return c.name.tags.platform.starts_with("win"); });
}

/// A directory of another platform's build.
Result<void> check_platform(const DistRequest& request, const Candidate& wheel) {
  const auto& tag = wheel.name.tags.platform;
  if (request.platform.empty() || tag == "any" || tag.starts_with("win") == (request.platform == Platform::windows))
    return {};
  return fail(ErrorKind::invalid_argument, "N015",
              fmt::format("{} is not a wheel for {}", wheel.file, request.platform),
              "omit --platform, or name the directory of that platform's build");
}

/// Only what is looked for can be absent.
Result<void> check_optional(const DistRequest& request, const std::vector<std::string>& projects) {
  for (const auto& name : request.optional)
    if (std::find(projects.begin(), projects.end(), name) == projects.end())
      return fail(ErrorKind::invalid_argument, "N015", fmt::format("--optional {} is not looked for", name),
                  "it may be one of " + text::join(projects, ", "));
  return {};
}

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Unexpected absent(const std::string& project, const std::vector<std::string>& files) {
  return fail(Error::of(ErrorKind::not_found, "N010", fmt::format("no wheel of {} is in the directory", project))
                  .with_detail(fmt::format("found  {}", files.empty() ? "no wheels" : text::join(files, " ")))
                  .with_hint(fmt::format("build it, or use --optional {}", project)));
}

void take(DistVersions& into, const std::string& project, const Candidate& candidate) {
  into.wheels.push_back({project, candidate.name.raw_version, candidate.file});
}

Result<DistVersions> torch_versions(const DistRequest& request, const Candidates& all,
                                    const std::vector<std::string>& files) {
  bool windows = request.platform.empty() ? is_for_windows(all) : request.platform == Platform::windows;
  DistVersions found;
  const std::vector<std::string> projects{"torch", "torchaudio", "torchvision", "triton", "apex"};
  TRY_DO(check_optional(request, projects));
  for (const auto& project : projects) {
    TRY(auto wheel, only_one(all, project, [&](const std::string& name) { return name == project; }));
    bool may_be_absent = listed(request.optional, project) || (windows && (project == "triton" || project == "apex"));
    if (!wheel && !may_be_absent) return absent(project, files);
    if (!wheel) {
      found.absent.push_back(project);
      continue;
    }
    TRY_DO(check_platform(request, *wheel));
    take(found, project, *wheel);
    found.outputs.emplace_back(project + "_version", wheel->name.raw_version);
  }
  return found;
}

std::string without_local(const Candidate& candidate) {
  return candidate.name.raw_version.substr(0, candidate.name.raw_version.find('+'));
}

/// "jax-rocm7-plugin" for the part "plugin", whichever ROCm it is for.
bool is_jax_part(const std::string& project, std::string_view part) {
  constexpr std::string_view k_before = "jax-rocm";
  if (!project.starts_with(k_before)) return false;
  auto digits_end = project.find_first_not_of("0123456789", k_before.size());
  return digits_end != project.npos && digits_end > k_before.size() &&
         project.substr(digits_end) == fmt::format("-{}", part);
}

std::string rocm_of(const Candidate& candidate) {
  const auto& project = candidate.name.project.str();
  return project.substr(0, project.rfind('-'));
}

Result<void> check_jax(const std::vector<Candidate>& parts) {
  for (const auto& part : parts) {
    const auto& first = parts.front();
    bool other_rocm = rocm_of(part) != rocm_of(first) && part.name.project.str().starts_with("jax-rocm");
    if (other_rocm || without_local(part) != without_local(first))
      return fail(Error::of(ErrorKind::invalid_argument, "N013", "the wheels of JAX do not belong together")
                      .with_detail(first.file)
                      .with_detail(part.file)
                      .with_hint("keep the wheels of one build: the same version for the same ROCm"));
  }
  return {};
}

Result<DistVersions> jax_versions(const DistRequest& request, const Candidates& all,
                                  const std::vector<std::string>& files) {
  DistVersions found;
  std::vector<Candidate> parts;
  TRY_DO(check_optional(request, {"jaxlib"}));
  for (std::string part : {"plugin", "pjrt"}) {
    TRY(auto wheel,
        only_one(all, "jax-rocm*-" + part, [&](const std::string& name) { return is_jax_part(name, part); }));
    if (!wheel) return absent("jax-rocm*-" + part, files);
    take(found, wheel->name.project.str(), *wheel);
    parts.push_back(*wheel);
  }
  TRY(auto jaxlib, only_one(all, "jaxlib", [](const std::string& name) { return name == "jaxlib"; }));
  if (jaxlib) {
    take(found, "jaxlib", *jaxlib);
    parts.push_back(*jaxlib);
  } else {
    found.absent.push_back("jaxlib"); // not built any more since JAX 0.9.1: the upstream one is used
  }
  for (const auto& part : parts) TRY_DO(check_platform(request, part));
  TRY_DO(check_jax(parts));
  found.outputs.emplace_back("jax_version", without_local(parts.front()));
  return found;
}
} // namespace

Result<DistVersions> choose_versions(const DistRequest& request, const std::vector<std::string>& files) {
  TRY(auto all, parse_all(files));
  std::erase_if(all, [&](const Candidate& candidate) { return !fits_python(candidate, request.python); });
  return request.framework == Framework::torch ? torch_versions(request, all, files)
                                               : jax_versions(request, all, files);
}

Result<std::vector<std::string>> list_wheels(const std::string& directory) {
  auto inner = path::join(directory, "dist");
  auto place = sys::is_directory(inner) ? inner : directory;
  TRY(auto entries, sys::list_directory(place), "while reading --dist-dir");
  std::vector<std::string> files;
  for (const auto& entry : entries) {
    if (!entry.path.ends_with(".whl")) continue;
    if (entry.type != sys::EntryType::file)
      return fail(ErrorKind::invalid_argument, "N012", fmt::format("{} in {} is not a file", entry.path, place),
                  "a wheel is a regular file; remove the directory or link");
    files.push_back(entry.path);
  }
  return files;
}

} // namespace quarry::version
