#pragma once
// Private to the room.
// Collecting the defects of one archive, a bounded number of them: a hostile archive has as many as it has entries.
#include "base/finding.hpp"
#include "names/entry_names.hpp"
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>

namespace quarry::zip {

class Defects {
public:
  Defects(Findings& into, std::string archive) : into_(into), archive_(std::move(archive)) {}

  void error(std::string code, std::string_view member, std::string message) {
    broken_ = true;
    if (++count_ > k_shown_max) return;
    auto place = member.empty() ? archive_ : fmt::format("{}!{}", archive_, names::printable(member));
    auto fix = fix_of(code);
    into_.push_back({std::move(code), Severity::error, std::move(place), std::move(message), std::move(fix)});
  }
  bool broken() const { return broken_; }

private:
  static constexpr std::size_t k_shown_max = 100; // more teach nobody anything
  /// A defect of names comes from what was packed, and is there again in the next build.
  static std::string fix_of(std::string_view code) {
    if (code == "Z014") return "name it by a path below the wheel's root, with `/`; from a stranger: do not use it";
    if (code == "Z017" || code == "Z018") return "rename one of the two where they are built, and build it again";
    return "do not use this file: get it again from its source, or build it again";
  }
  Findings& into_;
  std::string archive_;
  std::size_t count_ = 0;
  bool broken_ = false;
};

} // namespace quarry::zip
