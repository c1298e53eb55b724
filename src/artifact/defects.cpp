#include "artifact/defects.hpp"

#include "artifact/fetch_state.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

Finding no_artifact(const Error& error, std::string place, std::uint64_t bytes) {
  return {error.code, Severity::warning, std::move(place),
          error.message + (bytes ? fmt::format("; its {} are left alone", units::bytes(bytes)) : "; it is left alone"),
          error.hint};
}

void refuse_twins(Source& source, const std::string& directory) {
  std::sort(source.items.begin(), source.items.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, b.exploded, a.file) < std::tie(b.name, a.exploded, b.file);
  });
  auto state_of = [&](const Name& name) {
    return directory.empty() ? std::nullopt : read_fetch_state(directory, name);
  };
  for (std::size_t i = 0; i + 1 < source.items.size();) {
    auto &first = source.items[i], &second = source.items[i + 1];
    if (first.name != second.name) {
      ++i;
      continue;
    }
    auto state = first.exploded && !second.exploded ? state_of(first.name) : std::nullopt;
    if (state && state->digest && second.checksum == state->digest) {
      source.items.erase(source.items.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      continue;
    }
    auto twice =
        Error::of(ErrorKind::corrupt, "A006", fmt::format("{} and {} are the same artifact", first.file, second.file))
            .with_hint("remove one of them: it is unclear which one to use");
    first.defect = second.defect = twice;
    ++i;
  }
}

} // namespace quarry::artifact
