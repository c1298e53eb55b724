#pragma once
// What the SDK's version and a Python's version become on their way into the builds of frameworks. Pure, thread-safe.
// Errors: invalid_argument N014 (not a version of Python), M004 (not a version), N016 (no version of JAX).
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>

namespace quarry::version {

/// "3.12" -> "cp312-cp312", "3.13t" -> "cp313-cp313t": interpreter and ABI tag, which is also the directory's name in a
/// manylinux image.
Result<std::string> python_directory(std::string_view python);

/// How a framework's wheel names the SDK that it needs.
struct SdkReference {
  std::string version;     ///< normal form
  std::string requirement; ///< "==7.12.0"
  /// "+rocm7.12.0"; "+devrocm7.12.0.dev0-SHA" for a development version: it sorts below, and has no second '+'.
  std::string suffix;
  /// "--rocm-sdk-version ==7.12.0 --version-suffix +rocm7.12.0": what the incumbent's framework build takes.
  std::string build_arguments() const;
};
Result<SdkReference> sdk_reference(std::string_view sdk_version);

/// What JAX's wheels are called for an SDK, when no build says it.
struct JaxVersions {
  std::string jax;    ///< "0.8.0"
  std::string jaxlib; ///< "0.8.0+rocm7.12.0.dev0.SHA": always +rocm, and '.' for the SDK's own '+'
};
/// From the first line of a requirements file that pins jax or jaxlib (`jax==0.8.0`). N016 if none does, M004 if either
/// is not a version.
Result<JaxVersions> jax_versions(NamedText requirements, std::string_view sdk_version);

} // namespace quarry::version
