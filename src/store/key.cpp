#include "store/object_store.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace quarry::store {

namespace {
constexpr std::size_t k_key_bytes_max = 1024;      // S3's own limit
constexpr std::size_t k_component_bytes_max = 255; // NAME_MAX: a key must have a form as a plain file

std::string_view defect_of(std::string_view key) {
  if (key.empty()) return "it is empty";
  if (key.size() > k_key_bytes_max) return "it is longer than 1024 bytes";
  if (std::any_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return "it holds a control character";
  bool first = true;
  for (std::size_t begin = 0; begin <= key.size();) {
    auto end = std::min(key.find('/', begin), key.size());
    auto component = key.substr(begin, end - begin);
    if (std::exchange(first, false) && component == ".quarry") return "`.quarry/` is the store's own directory";
    if (component.empty()) return "a component is empty";
    if (component == "." || component == "..") return "a component is `.` or `..`";
    if (component.size() > k_component_bytes_max) return "a component is longer than 255 bytes";
    begin = end + 1;
  }
  return {};
}
} // namespace

Result<void> check_key(std::string_view key, SlashKeys slash_keys) {
  auto name = key;
  if (slash_keys == SlashKeys::allowed && name.ends_with('/')) name.remove_suffix(1);
  auto defect = key.size() > k_key_bytes_max ? defect_of(key) : defect_of(name);
  if (defect.empty()) return {};
  return fail(ErrorKind::invalid_argument, "R005",
              fmt::format("`{}` cannot be a key in a store: {}", key.substr(0, 120), defect));
}

} // namespace quarry::store
