#include "mirror/target.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::mirror {

namespace {

constexpr unsigned k_oldest_minor = 7; // before it, ABI tags had another form
/// No CPython minor version has had so many patches, and none will: they get security fixes for five years.
constexpr unsigned k_late_patch = 99;
constexpr unsigned k_number_max = 999;

Unexpected error(std::string_view what) {
  return fail(ErrorKind::invalid_argument, "U002", std::string(what),
              "name Pythons like `--python 3.10,3.12` and platforms of linux and windows");
}

dist::MarkerEnvironment environment_of(bool windows, const std::string& python, const std::string& full) {
  return {{"python_version", python},
          {"python_full_version", full},
          {"implementation_version", full},
          {"implementation_name", "cpython"},
          {"platform_python_implementation", "CPython"},
          {"os_name", windows ? "nt" : "posix"},
          {"sys_platform", windows ? "win32" : "linux"},
          {"platform_system", windows ? "Windows" : "Linux"},
          {"platform_machine", windows ? "AMD64" : "x86_64"}};
}

bool platform_fits(const std::string& tag, bool windows) {
  if (tag == "any") return true;
  if (windows) return tag == "win_amd64";
  return (tag.starts_with("manylinux") || tag == "linux_x86_64") && tag.ends_with("_x86_64");
}

/// "310" of "cp310", "3" of "py3"; nullopt for anything else.
std::optional<std::uint64_t> number_after(const std::string& tag, std::string_view prefix) {
  if (!tag.starts_with(prefix)) return std::nullopt;
  return text::parse_u64(std::string_view(tag).substr(prefix.size()));
}

bool of_this_or_before(std::uint64_t number, unsigned minor) {
  auto digits = std::to_string(number);
  return digits[0] == '3' && (digits.size() == 1 || *text::parse_u64(digits.substr(1)) <= minor);
}

std::optional<int> python_fits(const std::string& python, const std::string& abi, unsigned minor) {
  auto exact = fmt::format("cp3{}", minor);
  if (python == exact && (abi == exact || abi == "none")) return abi == exact ? 0 : 2;
  auto cpython = number_after(python, "cp");
  if (cpython && abi == "abi3" && of_this_or_before(*cpython, minor)) return 1;
  auto any = number_after(python, "py");
  if (any && abi == "none" && of_this_or_before(*any, minor)) return 2;
  return std::nullopt;
}

} // namespace

bool Target::holds(const dist::Marker& marker, std::string_view extra) const {
  return std::any_of(environments.begin(), environments.end(), [&](const auto& e) { return marker.holds(e, extra); });
}

Result<Target> parse_target(std::string_view python, const Platform& platform) {
  auto numbers = text::split(python, '.');
  std::vector<std::uint64_t> parts;
  for (const auto& number : numbers)
    if (auto value = text::parse_u64(number); value && *value <= k_number_max) parts.push_back(*value);
  if (parts.size() != numbers.size() || parts.size() < 2 || parts.size() > 3 || parts[0] != 3)
    return error(fmt::format("{:?} is not a version of Python 3", python));
  if (parts[1] < k_oldest_minor) return error(fmt::format("Python {} is older than 3.{}", python, k_oldest_minor));
  if (!platform.kind()) return error(fmt::format("{:?} is not a platform", platform.text()));
  Target target;
  target.python = python;
  target.platform = platform;
  target.minor = static_cast<unsigned>(parts[1]);
  auto minor = fmt::format("3.{}", target.minor);
  std::vector<std::uint64_t> patches =
      parts.size() == 3 ? std::vector{parts[2]} : std::vector<std::uint64_t>{0, k_late_patch};
  for (auto patch : patches)
    target.environments.push_back(
        environment_of(platform == Platform::windows, minor, fmt::format("{}.{}", minor, patch)));
  TRY(target.full, dist::Version::parse(fmt::format("{}.{}", minor, patches.back())));
  return target;
}

Result<std::vector<Target>> parse_targets(std::string_view pythons, std::string_view platforms) {
  std::vector<Target> targets;
  for (const auto& python : text::split(pythons, ','))
    for (const auto& platform : text::split(platforms, ',')) {
      TRY(auto target, parse_target(text::trim(python), Platform::read(text::trim(platform))));
      auto same = [&](const Target& other) { return other.name() == target.name(); };
      if (std::none_of(targets.begin(), targets.end(), same)) targets.push_back(std::move(target));
    }
  return targets;
}

std::optional<int> fit(const dist::WheelTags& tags, const Target& target) {
  auto platforms = text::split(tags.platform, '.');
  bool windows = target.platform == Platform::windows;
  if (std::none_of(platforms.begin(), platforms.end(), [&](const auto& p) { return platform_fits(p, windows); }))
    return std::nullopt;
  std::optional<int> best;
  for (const auto& python : text::split(tags.python, '.'))
    for (const auto& abi : text::split(tags.abi, '.'))
      if (auto one = python_fits(python, abi, target.minor); one && (!best || *one < *best)) best = one;
  return best;
}

} // namespace quarry::mirror
