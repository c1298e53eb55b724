#pragma once
// The data files that travel with the program (recipes, policies, explanations, runtime packages, the launcher), behind
// one narrow view. The real one (app) looks at flags, the repository's data/, share/quarry and the embedded copy, in
// that order.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry {

class Resources {
public:
  virtual ~Resources() = default;
  /// Names below `prefix` ("python/rocm-sdk-core/"), sorted bytewise, relative to the project's root.
  virtual std::vector<std::string> list(std::string_view prefix) const = 0;
  virtual std::optional<std::string> read(std::string_view name) const = 0;
  /// Where `name` was taken from: "embedded" or a path; for `config show --origin`.
  virtual std::string origin(std::string_view name) const = 0;
};

} // namespace quarry
