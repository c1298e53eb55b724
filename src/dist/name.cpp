#include "dist/name.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/characters.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

using ascii::is_letter;
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

bool is_valid_name(std::string_view text) {
  return !text.empty() && text.size() <= k_name_bytes_max && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || is_separator(c); });
}

/// Version::parse forgives spaces around a version; in a file name they would be part of the name.
Result<Version> parse_file_version(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= 0x7f; }))
    return fail(ErrorKind::invalid_argument, "M004", "a version in a file name has no spaces");
  return Version::parse(text);
}

std::string shown(std::string_view text) { return fmt::format("{:?}", text.substr(0, 120)); }

/// A set of tags such as "py2.py3": no empty member, nothing that a file name, a URL or a WHEEL line reads differently.
bool is_tag_set(std::string_view set) {
  auto parts = text::split(set, '.');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), [](char c) { return is_alphanumeric(c) || c == '_'; });
  });
}
bool is_python_tag_set(std::string_view set) {
  auto parts = text::split(set, '.');
  return is_tag_set(set) &&
         std::none_of(parts.begin(), parts.end(), [](const std::string& part) { return is_digit(part[0]); });
}
std::size_t member_count(std::string_view set) {
  return static_cast<std::size_t>(std::count(set.begin(), set.end(), '.')) + 1;
}

std::optional<BuildTag> parse_build(std::string_view text) {
  auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  auto number = text::parse_u64(text.substr(0, static_cast<std::size_t>(end - text.begin())));
  bool plain = std::all_of(end, text.end(), [](char c) { return is_alphanumeric(c) || c == '_' || c == '.'; });
  if (!number || !plain) return std::nullopt;
  return BuildTag{*number, std::string(end, text.end())};
}

Unexpected wheel_error(std::string_view file_name, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "M002",
              fmt::format("{} is not a wheel's file name: {}", shown(file_name), why),
              "a wheel is called {name}-{version}[-{build}]-{python}-{abi}-{platform}.whl");
}
Unexpected sdist_error(std::string_view file_name, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "M003",
              fmt::format("{} is not a source distribution's file name: {}", shown(file_name), why),
              "a source distribution is called {name}-{version}.tar.gz");
}

} // namespace

Result<ProjectName> ProjectName::parse(std::string_view text) {
  if (!is_valid_name(text))
    return fail(ErrorKind::invalid_argument, "M001", fmt::format("{} is not a project name", shown(text)),
                "use ASCII letters, digits and - _ . between them");
  std::string normal;
  for (char c : text::lower(text)) {
    if (!is_separator(c))
      normal += c;
    else if (normal.back() != '-')
      normal += '-';
  }
  return ProjectName(std::move(normal));
}

std::string ProjectName::file_form() const {
  std::string out = text_;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::vector<std::string> WheelTags::expanded() const {
  std::vector<std::string> out;
  for (const auto& p : text::split(python, '.'))
    for (const auto& a : text::split(abi, '.'))
      for (const auto& f : text::split(platform, '.')) out.push_back(p + "-" + a + "-" + f);
  return out;
}

Result<WheelName> WheelName::parse(std::string_view file_name) {
  if (file_name.size() > k_file_name_bytes_max) return wheel_error(file_name, "it is longer than 255 bytes");
  if (!file_name.ends_with(".whl")) return wheel_error(file_name, "it does not end in .whl");
  auto parts = text::split(file_name.substr(0, file_name.size() - 4), '-');
  if (parts.size() != 5 && parts.size() != 6) return wheel_error(file_name, "it needs 5 or 6 parts between dashes");
  if (parts[0].find("__") != parts[0].npos)
    return wheel_error(file_name, "the project's name holds a double underscore");
  auto project = ProjectName::parse(parts[0]);
  if (!project) return wheel_error(file_name, fmt::format("{} is not a project name", shown(parts[0])));
  auto version = parse_file_version(parts[1]);
  if (!version) return wheel_error(file_name, fmt::format("{} is not a version", shown(parts[1])));
  std::size_t first_tag = parts.size() - 3;
  std::optional<BuildTag> build;
  if (parts.size() == 6) {
    build = parse_build(parts[2]);
    if (!build) return wheel_error(file_name, "a build tag starts with a digit, and its number fits into 64 bits");
  }
  WheelTags tags{parts[first_tag], parts[first_tag + 1], parts[first_tag + 2]};
  if (!is_python_tag_set(tags.python))
    return wheel_error(file_name, fmt::format("{} is not a set of Python tags", shown(tags.python)));
  if (!is_tag_set(tags.abi)) return wheel_error(file_name, fmt::format("{} is not a set of ABI tags", shown(tags.abi)));
  if (!is_tag_set(tags.platform))
    return wheel_error(file_name, fmt::format("{} is not a set of platform tags", shown(tags.platform)));
  if (member_count(tags.python) * member_count(tags.abi) * member_count(tags.platform) > k_tags_max)
    return wheel_error(file_name, fmt::format("its tag sets multiply to more than {} tags", k_tags_max));
  return WheelName{std::move(*project),   std::move(*version), parts[0], parts[1], build,
                   build ? parts[2] : "", std::move(tags)};
}

std::string wheel_file_name(const ProjectName& project, const Version& version, const std::string& build,
                            const WheelTags& tags) {
  return fmt::format("{}-{}-{}{}-{}-{}.whl", project.file_form(), version.str(), build.empty() ? "" : build + "-",
                     tags.python, tags.abi, tags.platform);
}

Result<SdistName> SdistName::parse(std::string_view file_name) {
  if (file_name.size() > k_file_name_bytes_max) return sdist_error(file_name, "it is longer than 255 bytes");
  std::string_view stem = file_name;
  if (stem.ends_with(".tar.gz"))
    stem.remove_suffix(7);
  else if (stem.ends_with(".zip"))
    stem.remove_suffix(4);
  else
    return sdist_error(file_name, "it ends neither in .tar.gz nor in .zip");
  auto dash = stem.rfind('-');
  if (dash == stem.npos) return sdist_error(file_name, "there is no dash between name and version");
  auto name = stem.substr(0, dash), raw_version = stem.substr(dash + 1);
  auto project = ProjectName::parse(name);
  if (!project) return sdist_error(file_name, fmt::format("{} is not a project name", shown(name)));
  auto version = parse_file_version(raw_version);
  if (!version) return sdist_error(file_name, fmt::format("{} is not a version", shown(raw_version)));
  return SdistName{std::move(*project), std::move(*version), std::string(name), std::string(raw_version)};
}

Result<DistributionName> DistributionName::parse(std::string_view file_name) {
  if (file_name.ends_with(".whl")) {
    TRY(auto wheel, WheelName::parse(file_name));
    return DistributionName{DistributionKind::wheel, wheel.project, wheel.version, wheel.raw_version};
  }
  TRY(auto sdist, SdistName::parse(file_name));
  return DistributionName{DistributionKind::sdist, sdist.project, sdist.version, sdist.raw_version};
}

} // namespace quarry::dist
