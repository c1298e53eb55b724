#pragma once
// Private to the room.
// Why a place refuses a page (401, 403): object storage says the same of an object that may not be read and, to readers
// who may not list the bucket, of one that does not exist.
#include "base/result.hpp"
#include "index/site.hpp"
#include <string>
#include <string_view>

namespace quarry::index {

/// No project has this name, and no key: what a place answers for it is what it answers for anything missing.
constexpr std::string_view k_nobodys = "quarry-asks-for-what-is-not-there";

struct Refused {
  std::string why; ///< ends a sentence about the page: "the key does not exist, and …"
  std::string fix;
};

/// The cause of `reply`, which denied the page of `directory`. Asks for one page that does not exist and, on a web
/// server, for the page's index.html. The errors of the site.
Result<Refused> why_refused(Site& site, const std::string& directory, const SiteReply& reply);

/// not_found I001 for a place whose own page answered `top`, with the cause of a refusal where it can be told.
Error no_index(Site& site, const SiteReply& top);

/// The code in an S3 server's answer: "AccessDenied"; "" when another server gave it.
std::string s3_code_in(std::string_view body);

} // namespace quarry::index
