#pragma once
// What a package's own runtime unpacks after it was installed, which no wheel lists: development files. `sdk build`
// writes it into the package as DIST-INFO/unpacking.json (docs/formats/recipe.md, "What devel holds"); who proves an
// environment reads it there. Pure; any thread.
#include "base/result.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

constexpr std::string_view k_unpacking_file = "unpacking.json";
constexpr std::uint64_t k_unpacking_bytes_max = 64u << 10; ///< one line for each package that is linked to

struct Unpacking {
  /// The archive in the wheel, which goes once it is unpacked: "rocm_sdk_devel/_devel.tar". Empty: the package adds to
  /// what another one unpacks.
  std::string payload;
  std::string into; ///< the directory that is made in site-packages: "_rocm_sdk_devel"
  /// Directories in site-packages whose files may stand at the same path in `into`; one `*` is any text:
  /// "_rocm_sdk_libraries_*".
  std::vector<std::string> beside;

  /// Whether a file of site-packages lies in the unpacked directory, also under the name that it has until it is
  /// complete ("_rocm_sdk_devel.partial").
  bool makes(std::string_view path) const;
  bool is_payload(std::string_view path) const;   ///< in any compression
  bool may_stand_for(std::string_view top) const; ///< whether `top` is a directory of `beside`
};

/// Text of the file. parse fails with corrupt B002 to B004, and M017 for a path that leads elsewhere.
std::string render(const Unpacking& unpacking);
Result<Unpacking> parse_unpacking(std::string_view text);

/// What a package without the file unpacks, by its project's name: those that were made before `sdk build` wrote it,
/// and those of TheRock's own scripts. nullopt: nothing.
std::optional<Unpacking> unpacking_unsaid(std::string_view project);

} // namespace quarry::dist
