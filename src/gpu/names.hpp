#pragma once
// Targets in the paths of files: how Tensile, MIOpen, AOTriton, Composable Kernel and hipDNN's kernel providers say for
// which GPU a file is. Source: rocm-systems, shared/kpack/python/rocm_kpack/database_handlers.py. Pure, thread-safe.
#include "gpu/target.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::gpu {

struct NamedTarget {
  Target target;
  std::string_view maker; ///< "Tensile", "MIOpen", "AOTriton", "CK", "hipDNN", "kpack"
  std::string unit;       ///< the path, or its directory, with `*` for the target: files of a unit serve one purpose
  /// Whether such a file holds kernels, maybe in a format that is not read here (AOTriton's images, MIOpen's .kdb);
  /// false for tuning data and lists. Where no code object is found in it, its path counts as code for the target.
  bool kernels = true;
};

/// The target that `path` ('/' separated) names. Returns nullopt for a path without a target, and for the path of a
/// file that serves all targets (`…_fallback.dat`).
std::optional<NamedTarget> target_of_path(std::string_view path);

} // namespace quarry::gpu
