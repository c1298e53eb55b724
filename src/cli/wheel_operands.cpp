#include "cli/wheel_operands.hpp"

#include "cli/artifacts.hpp"
#include "cli/set_rules.hpp"
#include "cli/sizes.hpp"
#include "publish/collect.hpp"
#include "publish/resolve.hpp"
#include "run/locator.hpp"
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

/// The wheels of sealed sets. A store on this machine's disks has them as files, which need not be fetched.
Result<std::vector<FileOperand>> wheels_of_sets(const Context& context, const Arguments& arguments,
                                                const std::string& operand) {
  TRY(auto locator, run::parse_locator(operand));
  TRY(auto store, opener_of_store(context, arguments)(operand));
  TRY(auto resolved, publish::resolve(*store, locator));
  std::vector<FileOperand> wheels;
  for (const auto& file : resolved.files) {
    if (!file.key.ends_with(".whl")) continue;
    if (auto path = publish::path_of_key(*store, file.key)) {
      wheels.push_back({std::move(*path), std::nullopt});
      continue;
    }
    auto place = store->url(file.key);
    TRY(auto bytes, store->open(file.key), "while reading " + place);
    wheels.push_back({std::move(place), std::move(bytes)});
  }
  if (!wheels.empty()) return wheels;
  return fail(ErrorKind::not_found, "W022", fmt::format("{} holds no wheel", operand),
              "`quarry set show " + operand + "` lists its files");
}
} // namespace

Result<std::vector<FileOperand>> files_of_operand(const Context& context, const Arguments& arguments,
                                                  const std::string& operand) {
  if (run::names_no_file(operand) && !is_remote_place(operand)) return wheels_of_sets(context, arguments, operand);
  std::vector<FileOperand> one;
  TRY(one.emplace_back(), file_operand(context, operand));
  return one;
}

Result<std::vector<FileOperand>> wheels_of(Context& context, const Arguments& arguments) {
  std::vector<FileOperand> wheels;
  std::set<std::string> seen; // two operands may lead to one wheel: `out` stands for out/dist, too
  for (const auto& operand : arguments.operands) {
    TRY(auto given, files_of_operand(context, arguments, operand));
    for (auto& file : given) {
      if (file.far) {
        if (seen.insert(file.place).second) wheels.push_back(std::move(file));
        continue;
      }
      TRY(auto found, wheels_at(context, file.place));
      for (auto& path : found) {
        auto real = sys::real_path(path);
        if (!real || seen.insert(*real).second) wheels.push_back({std::move(path), std::nullopt});
      }
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
