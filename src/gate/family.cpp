#include "gate/family.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include <algorithm>

namespace quarry::gate {

bool covers(const std::vector<std::string>& patterns, std::string_view family) {
  auto key = dist::family_key(family);
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return p == "*" || text::glob_match(dist::family_key(p), key); });
}

namespace {

Platform platform_of_tag(std::string_view tag) {
  if (tag.starts_with("linux") || tag.starts_with("manylinux") || tag.starts_with("musllinux")) return Platform::linux;
  if (tag.starts_with("win")) return Platform::windows;
  return Platform::read(tag.starts_with("macosx") ? "macos" : tag);
}

template <class T> void add(std::vector<T>& to, T value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(std::move(value));
}

// "py3", "py2": any Python 3 (we judge no other). "cp312" with abi3: from 3.12 on. "cp312", "py312": that one.
void add_python(Reach& reach, std::string_view tag, bool stable_abi) {
  auto digits = tag.find_first_of("0123456789");
  auto number = digits == tag.npos ? std::string_view{} : tag.substr(digits);
  if (number.size() < 2 || number[0] != '3') return add(reach.pythons, std::string(number == "3" ? "*" : tag));
  bool open_ended = stable_abi || tag.starts_with("py");
  add(reach.pythons, "3." + std::string(number.substr(1)) + (open_ended ? "+" : ""));
}

std::uint64_t minor_of(std::string_view python) { return text::parse_u64(python.substr(2)).value_or(0); }

} // namespace

Result<Reach> reach_of(const std::string& filename) {
  Reach reach;
  if (!filename.ends_with(".whl")) {
    TRY(auto sdist, dist::SdistName::parse(filename));
    return reach;
  }
  TRY(auto wheel, dist::WheelName::parse(filename));
  for (const auto& tag : text::split(wheel.tags.platform, '.')) add(reach.platforms, platform_of_tag(tag));
  for (const auto& tag : text::split(wheel.tags.python, '.'))
    add_python(reach, tag, wheel.tags.abi.find("abi3") != std::string::npos);
  if (std::find(reach.platforms.begin(), reach.platforms.end(), Platform::read("any")) != reach.platforms.end())
    reach.platforms.clear();
  if (std::find(reach.pythons.begin(), reach.pythons.end(), "*") != reach.pythons.end()) reach.pythons.clear();
  return reach;
}

bool fits_platform(const Reach& reach, const Platform& platform) {
  return reach.platforms.empty() ||
         std::find(reach.platforms.begin(), reach.platforms.end(), platform) != reach.platforms.end();
}

bool fits_python(const Reach& reach, std::string_view python) {
  if (reach.pythons.empty() || !python.starts_with("3.")) return true;
  return std::any_of(reach.pythons.begin(), reach.pythons.end(), [&](const std::string& tag) {
    if (!tag.ends_with("+")) return tag == python;
    return minor_of(python) >= minor_of(tag.substr(0, tag.size() - 1));
  });
}

} // namespace quarry::gate
