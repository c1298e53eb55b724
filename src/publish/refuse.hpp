#pragma once
// Refuses packages that are sound and that nobody could use as they are named. Pure.
#include "base/platform.hpp"
#include "base/result.hpp"
#include "index/describe.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::publish {

/// invalid_argument P060 for a package of libraries (`rocm-sdk-libraries-{family}`) without a shared object or DLL: the
/// build took the kernels of a family and not the libraries that load them.
Result<void> refuse_libraries_without_library(const index::Described& described);

/// invalid_argument P061 when two wheels differ in their platform tags alone, one has `linux_ARCH`, and the other
/// `manylinux_*_ARCH` or `musllinux_*_ARCH`: `auditwheel repair` made the second from the first. An installer that asks
/// for the raw one gets a wheel whose libraries are missing. `directory` is for the hint. n log n in the names.
Result<void> refuse_raw_beside_repaired(const std::vector<std::string>& names, const std::string& directory);

/// invalid_argument P062 for an area of packages that do not exist for a platform: JAX on Windows.
Result<void> refuse_area_without_platform(std::string_view area, const Platform& platform);

/// invalid_argument P062 when one of the wheels is of a project that does not exist for the platform, whatever the area
/// is called: JAX's plugins (`jax-rocm7-plugin`) and jaxlib on Windows. `jax` itself is pure Python.
Result<void> refuse_packages_without_platform(const std::vector<std::string>& names, const Platform& platform);

} // namespace quarry::publish
