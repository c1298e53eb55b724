#pragma once
// The SDK's packages, and GPU families in their names: "rocm-sdk-libraries-gfx103x-dgpu" is the libraries' package of
// gfx103X-dgpu.
// Pure; any thread.
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

/// Names of the SDK's packages, by which a set is known for one of the SDK, whoever built it (decision 44): the package
/// that people install and whose extras bring the others, its headers and tools, and its profiler.
constexpr std::string_view k_sdk_project = "rocm";
constexpr std::string_view k_devel_project = "rocm-sdk-devel";
constexpr std::string_view k_profiler_project = "rocm-profiler";
/// The names that the SDK's recipe gives to packages of one GPU family or target each, normalised: its libraries, and
/// its device code.
constexpr std::string_view k_libraries_project = "rocm-sdk-libraries-{family}";
constexpr std::string_view k_device_project = "rocm-sdk-device-{family}";

/// How families are compared: lower case, runs of - _ . as one '-' (a project's name keeps no more).
std::string family_key(std::string_view family);
/// How AMD's tables spell a family, from any spelling of it: "gfx103x-dgpu" is "gfx103X-dgpu". A name that does not
/// begin like theirs ("gfx" and digits) stays as it is.
std::string family_name(std::string_view family);
/// The family whose project this is by the patterns, each with one "{family}", normalised; empty: none.
std::string family_of(std::string_view project, const std::vector<std::string>& patterns);
/// Whether a GPU target ("gfx942", "gfx942:sramecc+") belongs to a family, by the family's name: gfx94X-dcgpu has every
/// gfx94 target, gfx1151 that one. False for a family that is not called after its targets.
struct TargetOfFamily {
  std::string_view target, family;
};
bool belongs(const TargetOfFamily& pair);
/// The family whose libraries this project is; empty: none.
std::string family_of_libraries(std::string_view project);
/// Whether the project is a package of libraries: those of one family, or of all in one package.
bool holds_libraries(std::string_view project);
/// The GPU target whose device code this project is; empty: none.
std::string target_of_device_code(std::string_view project);

} // namespace quarry::dist
