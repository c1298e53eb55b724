#pragma once
// Private to the room.
// Pages and their copies under keys that end in a slash, which installers ask object storage for.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "index/site.hpp"
#include <string>
#include <vector>

namespace quarry::index {

class Copies {
public:
  /// Compares the page of `directory` with its copy, where the site keeps copies. One more request.
  Result<void> look(Site& site, const std::string& directory, const SiteReply& page);
  /// I040 for each copy that is missing or differs; I041, a note, when no page has a copy.
  Findings findings() const;

private:
  std::string shown(const std::string& directory) const { return directory + "/"; }

  Findings found_;
  std::vector<std::string> missing_; ///< directories of pages without copy
  std::size_t copies_ = 0;
};

} // namespace quarry::index
