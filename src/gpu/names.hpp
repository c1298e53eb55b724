#pragma once
// Targets in the paths of files: how Tensile, MIOpen, AOTriton, Composable Kernel and hipDNN's kernel providers say for
// which GPU a file is. Source: rocm-systems, shared/kpack/python/rocm_kpack/database_handlers.py. Pure, thread-safe.
#include "gpu/target.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::gpu {

enum class Kernels : std::uint8_t {
  none,   ///< tuning data, lists, texts
  read,   ///< in a format that read_contents() reads: what it finds says whose they are, and that they are there
  unread, ///< in a format that only their own library reads: AOTriton's images (.aks2), MIOpen's .kdb
};

struct NamedTarget {
  Target target;
  std::string_view maker; ///< "Tensile", "MIOpen", "AOTriton", "CK", "hipDNN", "kpack"
  std::string unit;       ///< the path, or its directory, with `*` for the target: files of a unit serve one purpose
  Kernels kernels = Kernels::none; ///< what a file of this name holds
};

/// The target that `path` ('/' separated) names. Returns nullopt for a path without a target, and for the path of a
/// file that serves all targets (`…_fallback.dat`).
std::optional<NamedTarget> target_of_path(std::string_view path);

} // namespace quarry::gpu
