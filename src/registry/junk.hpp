#pragma once
// Private to the room.
// What is told of objects that lie where records belong and are not records.
#include "base/finding.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

struct Junk {
  std::string key, defect;
};
/// Adds a warning R021 for each object; if they are many, for the first few, and one that counts all below that place:
/// whoever may write evidence can write as much junk as he likes, and nobody reads 20,000 lines. Pure.
void tell_junk(const std::vector<Junk>& junk, Findings& findings);

} // namespace quarry::registry
