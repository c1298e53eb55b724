#pragma once
// Private to the room.
// What the output of pip, uv or `python -m venv` says about why it failed. Pure.
#include "base/error.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::venv {

/// An sdist wants setuptools or wheel for its build, and neither the source nor the environment has them.
bool lacks_build_tools(std::string_view output);

/// A full or read-only disk, or a place that this user may not write: the kind and the line that says so. nullopt: the
/// machine was not the reason.
struct MachineTrouble {
  ErrorKind kind = ErrorKind::resource_exhausted;
  std::string line;
};
std::optional<MachineTrouble> machine_trouble(std::string_view output);

/// V016: `action` ("pip could not install rocm into /x/.venv") and the reason.
Error machine_trouble_error(const MachineTrouble& trouble, std::string_view action);

} // namespace quarry::venv
