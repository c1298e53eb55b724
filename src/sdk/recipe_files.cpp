#include "sdk/recipe_files.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
constexpr std::size_t k_entries_max = 10'000;   // a package's Python files; bounds a mistaken place
constexpr std::uint64_t k_file_max = 64u << 20; // Python files, readmes and licences

bool stays_inside(std::string_view name) {
  return !name.empty() && path::normal(name) == name && name[0] != '/' && !name.starts_with("..");
}

/// Files that Python leaves behind do not belong to a package.
bool is_left_over(const std::string& name) { return name.ends_with(".pyc") || name.find("__pycache__/") != name.npos; }
} // namespace

std::string RecipeFiles::own(std::string_view name) const {
  if (!stays_inside(name)) return "";
  auto file = path::join(directory_, name);
  return sys::exists(file) ? file : "";
}

std::vector<std::string> RecipeFiles::list(std::string_view prefix) const {
  auto name = prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix;
  auto root = own(name);
  if (root.empty() || !sys::is_directory(root)) return program_.list(prefix);
  std::vector<std::string> names;
  auto tree = sys::list_tree(root, k_entries_max);
  if (!tree) return names; // cannot be read: as if it held nothing, which is refused
  for (const auto& entry : *tree)
    if (entry.type == sys::EntryType::file && !is_left_over(entry.path)) names.push_back(path::join(name, entry.path));
  return names;
}

std::optional<std::string> RecipeFiles::read(std::string_view name) const {
  auto file = own(name);
  if (file.empty() || sys::is_directory(file)) return program_.read(name);
  auto text = sys::read_file(file, k_file_max);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::string RecipeFiles::origin(std::string_view name) const {
  auto file = own(name);
  return file.empty() ? program_.origin(name) : file;
}

Result<void> check_files(const Recipe& recipe, const Resources& resources) {
  constexpr const char* k_hint = "name it relative to the recipe's directory, or as the program has it";
  for (const auto& file : recipe.metadata.license_files)
    if (!resources.read(file))
      return fail(ErrorKind::invalid_argument, "S003",
                  fmt::format("{}:{}: metadata.license_files: {} does not exist", recipe.file,
                              recipe.metadata.license_files_line, file),
                  k_hint);
  for (const auto& package : recipe.packages) {
    if (package.role != Role::device && resources.list(package.tree + "/").empty())
      return fail(ErrorKind::invalid_argument, "S003",
                  recipe.place(package, "tree") + fmt::format(": {} holds no file", package.tree), k_hint);
    if (!package.readme.empty() && !resources.read(package.readme))
      return fail(ErrorKind::invalid_argument, "S003",
                  recipe.place(package, "readme") + fmt::format(": {} does not exist", package.readme), k_hint);
  }
  return {};
}

} // namespace quarry::sdk
