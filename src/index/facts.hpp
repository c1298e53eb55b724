#pragma once
// Private to the room.
// What one file of an index is, and what a page's headers do to it: the looking part of `index check`. Private to the
// room.
#include "base/finding.hpp"
#include "digest/sha256.hpp"
#include "index/site.hpp"
#include <optional>
#include <string>

namespace quarry::index {

constexpr std::string_view k_set_headers = "set the headers of these objects, or of the server";

/// What one distribution is; looked at once, however many pages mention it.
struct FileFacts {
  bool exists = false, denied = false;
  bool read = false; ///< its bytes, too
  std::optional<std::string> sidecar;
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string metadata, requires_python; // wheels: METADATA
  Findings findings;                     // why it is not sound
};

struct LookOptions {
  bool sidecar = false, contents = true; ///< read the metadata file; read the file itself
  unsigned workers = 1;
};
Result<FileFacts> look_at(Site& site, const std::string& target, const LookOptions& options);
/// For messages: without a query, which may be signed.
std::string shown_target(const std::string& target);

/// What installers make of a page before they read it: I022, I023.
Findings header_findings(const std::string& place, const SiteReply& reply);

} // namespace quarry::index
