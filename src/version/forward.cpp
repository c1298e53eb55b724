#include "version/forward.hpp"

#include "base/text.hpp"
#include "dist/version.hpp"
#include <fmt/core.h>

namespace quarry::version {

namespace {

/// "0.8.0" of the line "jax == 0.8.0  # comment"; empty for a line that pins neither jax nor jaxlib.
std::string pinned_jax(std::string_view line) {
  line = text::trim(line);
  for (std::string_view project : {"jaxlib", "jax"}) {
    if (!line.starts_with(project)) continue;
    auto rest = text::trim(line.substr(project.size()));
    if (!rest.starts_with("==")) continue;
    rest = text::trim(rest.substr(2));
    return std::string(rest.substr(0, rest.find_first_of("# \t\r\f\v")));
  }
  return "";
}

} // namespace

Result<std::string> python_directory(std::string_view python) {
  auto bad = fail(ErrorKind::invalid_argument, "N014", fmt::format("{:?} is not a version of Python", python),
                  "write it like 3.12, or 3.13t without the global lock");
  bool threaded = python.ends_with('t');
  auto parts = text::split(threaded ? python.substr(0, python.size() - 1) : python, '.');
  if (parts.size() != 2) return bad;
  for (const auto& part : parts)
    if (!text::parse_u64(part) || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return bad;
  if (parts[0] != "3") return bad;
  auto interpreter = "cp" + parts[0] + parts[1];
  return fmt::format("{}-{}{}", interpreter, interpreter, threaded ? "t" : "");
}

std::string SdkReference::build_arguments() const {
  return fmt::format("--rocm-sdk-version {} --version-suffix {}", requirement, suffix);
}

Result<SdkReference> sdk_reference(std::string_view sdk_version) {
  TRY(auto version, dist::Version::parse(sdk_version), "while reading the version of ROCm");
  SdkReference reference;
  reference.version = version.str();
  reference.requirement = "==" + reference.version;
  bool development = reference.version.find("dev") != std::string::npos;
  reference.suffix = (development ? "+devrocm" : "+rocm") + text::replace_all(reference.version, "+", "-");
  return reference;
}

Result<JaxVersions> jax_versions(NamedText requirements, std::string_view sdk_version) {
  TRY_DO(dist::Version::parse(sdk_version));
  for (const auto& line : text::split(requirements.text, '\n')) {
    auto pin = pinned_jax(line);
    if (pin.empty()) continue;
    TRY_DO(dist::Version::parse(pin));
    auto sdk = std::string(sdk_version);
    std::ranges::replace(sdk, '+', '.');
    return JaxVersions{pin, fmt::format("{}+rocm{}", pin, sdk)};
  }
  return fail(ErrorKind::invalid_argument, "N016",
              fmt::format("{} has no line that pins jax or jaxlib, such as jax==0.8.0", requirements.name),
              "name the requirements file of JAX's build");
}

} // namespace quarry::version
