#include "publish/refuse.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <tuple>

namespace quarry::publish {

namespace {

/// "x86_64" of "manylinux_2_28_x86_64", "manylinux2014_x86_64", "musllinux_1_2_x86_64"; empty for other tags.
std::string repaired_architecture(std::string_view tag) {
  if (!tag.starts_with("manylinux") && !tag.starts_with("musllinux")) return {};
  tag.remove_prefix(std::string_view("manylinux").size());
  auto is_number = [](char c) { return ascii::is_digit(c) || c == '_'; };
  auto architecture = std::find_if_not(tag.begin(), tag.end(), is_number);
  return {architecture, tag.end()};
}

std::string raw_architecture(std::string_view tag) {
  constexpr std::string_view k_raw = "linux_";
  return tag.starts_with(k_raw) ? std::string(tag.substr(k_raw.size())) : std::string();
}

std::string sorted_set(const std::string& tags) {
  auto parts = text::split(tags, '.');
  std::set<std::string> sorted(parts.begin(), parts.end());
  return text::join(std::vector<std::string>(sorted.begin(), sorted.end()), ".");
}

/// All of a wheel's name but its platform: project, version (1 is 1.0), build, Python and ABI.
using Release = std::tuple<dist::ProjectName, dist::Version, dist::BuildTag, std::string, std::string>;

/// Which files of one project, version, build, Python and ABI are for which architecture.
struct Pair {
  std::map<std::string, std::string> raw, repaired; // architecture -> file name
};

} // namespace

Result<void> refuse_libraries_without_library(const index::Described& described) {
  const auto& file = described.file;
  if (!dist::holds_libraries(file.project) || described.holds_library.value_or(true)) return {};
  return fail(
      ErrorKind::invalid_argument, "P060", fmt::format("{} holds no shared library", file.filename),
      "build it from the artifacts that hold the libraries: those of a split build need their generic artifacts "
      "as well");
}

Result<void> refuse_raw_beside_repaired(const std::vector<std::string>& names, const std::string& directory) {
  std::map<Release, Pair> pairs;
  for (const auto& filename : names) {
    auto name = dist::WheelName::parse(filename);
    if (!name) continue;
    auto& pair = pairs[{name->project, name->version, name->build.value_or(dist::BuildTag{}),
                        sorted_set(name->tags.python), sorted_set(name->tags.abi)}];
    for (const auto& tag : text::split(text::lower(name->tags.platform), '.')) {
      if (auto raw = raw_architecture(tag); !raw.empty()) pair.raw.emplace(raw, filename);
      if (auto repaired = repaired_architecture(tag); !repaired.empty()) pair.repaired.emplace(repaired, filename);
    }
  }
  for (const auto& [_, pair] : pairs)
    for (const auto& [architecture, raw] : pair.raw) {
      auto repaired = pair.repaired.find(architecture);
      if (repaired == pair.repaired.end() || repaired->second == raw) continue;
      return fail(ErrorKind::invalid_argument, "P061",
                  fmt::format("{} and {} are a raw wheel and its repaired copy", raw, repaired->second),
                  fmt::format("publish the repaired one alone: `rm {}`", text::shell_word(path::join(directory, raw))));
    }
  return {};
}

Result<void> refuse_area_without_platform(std::string_view area, const Platform& platform) {
  if (area != "jax" || platform != Platform::windows) return {};
  return fail(ErrorKind::invalid_argument, "P062", "JAX wheels for Windows do not exist",
              "use `--platform linux`, or `--area python` or `--area pytorch`");
}

Result<void> refuse_packages_without_platform(const std::vector<std::string>& names, const Platform& platform) {
  if (platform != Platform::windows) return {};
  for (const auto& filename : names) {
    auto name = dist::WheelName::parse(filename);
    if (!name) continue;
    const auto& project = name->project.str();
    bool jax = project.starts_with("jax-rocm") || project == "jaxlib" || project.starts_with("jaxlib-");
    if (!jax) continue;
    return fail(ErrorKind::invalid_argument, "P062", fmt::format("{}: JAX wheels for Windows do not exist", filename),
                "publish it with `--platform linux`, or remove it from the directory");
  }
  return {};
}

} // namespace quarry::publish
