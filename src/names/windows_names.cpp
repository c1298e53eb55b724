#include "names/windows_names.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <array>

namespace quarry::names {

namespace {

constexpr std::array<std::string_view, 6> k_devices{"con", "prn", "aux", "nul", "conin$", "conout$"};
// COM1 to COM9 and LPT1 to LPT9; Windows takes the superscripts ¹ ² ³ for digits.
constexpr std::array<std::string_view, 12> k_device_numbers{"1", "2", "3", "4",        "5",        "6",
                                                            "7", "8", "9", "\xC2\xB9", "\xC2\xB2", "\xC2\xB3"};

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Windows looks at what is before the first dot: `nul`, `nul.txt` and `nul .tar.gz` are all the device.
bool is_device(std::string_view name) {
  auto before_dot = name.substr(0, name.find('.'));
  while (before_dot.ends_with(' ')) before_dot.remove_suffix(1);
  auto stem = text::lower(before_dot);
  if (contains(k_devices, stem)) return true;
  bool port = stem.starts_with("com") || stem.starts_with("lpt");
  return port && contains(k_device_numbers, std::string_view(stem).substr(3));
}

} // namespace

bool is_windows_name(std::string_view name) {
  if (name.empty() || name.back() == '.' || name.back() == ' ') return false;
  if (name.find_first_of("<>:\"|?*\\/") != name.npos) return false;
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) return false;
  return !is_device(name);
}

} // namespace quarry::names
