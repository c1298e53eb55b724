#pragma once
// One thing that a diagnosis looked at: how it is, and what to do about it.
#include <cstdint>
#include <string>
#include <string_view>

namespace quarry {

enum class Health : std::uint8_t { ok, note, warning, failed };
constexpr std::string_view to_string(Health health) {
  switch (health) {
  case Health::ok: return "ok";
  case Health::note: return "note";
  case Health::warning: return "warning";
  case Health::failed: return "failed";
  }
  return "";
}

struct Check {
  std::string name;
  Health health = Health::ok;
  std::string found; ///< "Python 3.11.7, /usr/bin/python3"
  std::string next;  ///< the next command or step; empty when nothing is to be done
};

} // namespace quarry
