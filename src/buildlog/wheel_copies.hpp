#pragma once
// Wheels that a log lists: two files of the same project, version and interpreter in one directory, one with the
// platform tag before auditwheel and one with that after it. What auditwheel itself prints names both and proves
// nothing, so only listings, uploads and installations count.
#include "buildlog/lines.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_wheels_max = 4096; ///< different wheels of one log that are told apart

struct WheelCopy {
  std::string project, first_name, second_name;
  std::uint64_t line = 0;
};

class WheelWatcher {
public:
  void take(const Line& line); ///< a line with ".whl" in it
  std::vector<WheelCopy> copies() const { return copies_; }

private:
  void listed(std::string_view path, std::uint64_t line);
  std::map<std::string, std::string, std::less<>> seen_; ///< directory, project, version, tags -> platform tag
  std::map<std::string, bool, std::less<>> told_;
  std::vector<WheelCopy> copies_;
};

} // namespace quarry::buildlog
