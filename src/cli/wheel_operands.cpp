#include "cli/wheel_operands.hpp"

#include "publish/collect.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::cli {

Result<std::vector<std::string>> wheels_of(Context& context, const std::vector<std::string>& operands) {
  std::vector<std::string> paths;
  for (const auto& operand : operands) {
    if (!sys::is_directory(operand)) {
      paths.push_back(operand);
      continue;
    }
    TRY(auto found, publish::list_distributions(operand));
    auto before = paths.size();
    for (const auto& name : found.names) {
      auto path = path::join(found.directory, name);
      if (name.ends_with(".whl"))
        paths.push_back(path);
      else
        context.out.note(fmt::format("{} is a source distribution: skipped, `quarry publish` checks it", path));
    }
    if (paths.size() == before)
      return fail(ErrorKind::not_found, "W022", fmt::format("{} holds no wheel", operand),
                  "name the directory that `quarry sdk build --dest-dir` wrote");
  }
  // Two operands may lead to one wheel: `out` stands for out/dist, too.
  std::set<std::string> seen;
  std::erase_if(paths, [&](const std::string& path) {
    auto real = sys::real_path(path);
    return real && !seen.insert(*real).second;
  });
  return paths;
}

} // namespace quarry::cli
