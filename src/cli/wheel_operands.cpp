#include "cli/wheel_operands.hpp"

#include "cli/sizes.hpp"
#include "publish/collect.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::cli {

namespace {
/// The path, or those of the wheels in the directory that it is.
Result<std::vector<std::string>> wheels_at(Context& context, const std::string& place) {
  std::vector<std::string> paths;
  if (!sys::is_directory(place)) return std::vector<std::string>{place};
  TRY(auto found, publish::list_distributions(place));
  for (const auto& name : found.names) {
    auto path = path::join(found.directory, name);
    if (name.ends_with(".whl"))
      paths.push_back(path);
    else
      context.out.note(fmt::format("{} is a source distribution: skipped, `quarry publish` checks it", path));
  }
  if (!paths.empty()) return paths;
  return fail(ErrorKind::not_found, "W022", fmt::format("{} holds no wheel", place),
              "name the directory that `quarry sdk build --dest-dir` wrote");
}
} // namespace

Result<std::vector<FileOperand>> wheels_of(Context& context, const std::vector<std::string>& operands) {
  std::vector<FileOperand> wheels;
  std::set<std::string> seen; // two operands may lead to one wheel: `out` stands for out/dist, too
  for (const auto& operand : operands) {
    TRY(auto given, file_operand(context, operand));
    if (given.far) {
      if (seen.insert(given.place).second) wheels.push_back(std::move(given));
      continue;
    }
    TRY(auto found, wheels_at(context, given.place));
    for (auto& path : found) {
      auto real = sys::real_path(path);
      if (!real || seen.insert(*real).second) wheels.push_back({std::move(path), std::nullopt});
    }
  }
  return wheels;
}

std::uint64_t bytes_of_wheels(const std::vector<FileOperand>& wheels) {
  std::uint64_t total = 0;
  for (const auto& wheel : wheels) total += wheel.far ? wheel.far->size() : bytes_of_files({wheel.place});
  return total;
}

Result<content::Rope> bytes_of_wheel(const Context& context, const FileOperand& wheel,
                                     const std::function<void(std::uint64_t)>& fetched) {
  if (!wheel.far) return content::Rope::file(wheel.place);
  if (!wheel.place.ends_with(".whl")) return *wheel.far;
  auto bytes = fetched_whole(context, *wheel.far, fetched);
  if (!bytes) return fail(std::move(bytes).error().with_context("while reading " + wheel.place));
  return bytes;
}

} // namespace quarry::cli
