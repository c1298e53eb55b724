#include "version/forward.hpp"

#include "base/text.hpp"
#include "dist/version.hpp"
#include <fmt/core.h>

namespace quarry::version {

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

} // namespace quarry::version
