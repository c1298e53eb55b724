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
    into_.push_back({std::move(code), Severity::error, std::move(place), std::move(message), k_fix});
  }
  bool broken() const { return broken_; }

private:
  static constexpr std::size_t k_shown_max = 100; // more teach nobody anything
  static constexpr const char* k_fix = "do not use this file: get it again from its source, or build it again";
  Findings& into_;
  std::string archive_;
  std::size_t count_ = 0;
  bool broken_ = false;
};

} // namespace quarry::zip
