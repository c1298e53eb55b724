#pragma once
// Whose name is it? What a run publishes, or a recipe makes, never comes from a public index: an installer that sees
// both takes the newer version, whoever uploaded it (dependency confusion, CVE-2018-20225).
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "mirror/resolve.hpp"
#include "store/object_store.hpp"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::mirror {

struct Reserved {
  std::string pattern; ///< a project's normal name, `*` stands for any part: "rocm-sdk-libraries-*"
  std::string why;     ///< "recipe rocm-sdk makes it"
};

/// data/mirror.toml (docs/formats/mirror.md). invalid_argument U012 with "file:line: key".
Result<std::vector<Reserved>> parse_reserved(NamedText named);

/// Projects of every set that a run published into this store, with the place: "42-linux/python/gfx94X-dcgpu".
Result<std::map<std::string, std::string>> owned_names(store::ObjectReader& store, unsigned transfers);

/// invalid_argument U005 for a name that is reserved or owned.
Guard make_guard(std::vector<Reserved> reserved, std::map<std::string, std::string> owned);

} // namespace quarry::mirror
