#include "index/refused.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {

constexpr int k_wants_login = 401;

Refused not_readable(bool bucket) {
  return {"what does not exist is answered with 404 there, so the page exists and readers may not read it",
          bucket ? "let readers read the objects below it: s3:GetObject in the bucket's policy"
                 : "let readers read it: look at the server's configuration"};
}

Refused missing_and_hidden(bool bucket) {
  return {fmt::format("its index.html can be read, so {} does not exist; what does not exist is answered with 403{}",
                      bucket ? "the key that ends in a slash" : "the directory itself",
                      bucket ? ", because readers may not list the bucket" : ""),
          bucket ? "`quarry index repair` writes the key where the server can keep it; else install with --find-links"
                 : "let the server answer a directory with its index.html"};
}

Refused not_known(bool bucket) {
  return {bucket
              ? "it does not exist, or readers may not read it: they may not list the bucket, so the server says 403 "
                "for both"
              : "the server says 403 also for what does not exist, so it may be missing or forbidden",
          bucket ? "check the URL; let readers read the objects (s3:GetObject), and list the bucket (s3:ListBucket) to "
                   "get 404 for what is missing; with credentials, `quarry index check s3://BUCKET/PREFIX` sees more"
                 : "check the URL, and who may read it"};
}

} // namespace

std::string s3_code_in(std::string_view body) {
  constexpr std::string_view k_open = "<Code>", k_close = "</Code>";
  auto begin = body.find(k_open);
  if (body.find("<Error") == body.npos || begin == body.npos) return {};
  begin += k_open.size();
  auto end = body.find(k_close, begin);
  if (end == body.npos || end - begin > 64) return {};
  std::string code(body.substr(begin, end - begin));
  return std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isalnum(c); }) ? code : std::string();
}

Result<Refused> why_refused(Site& site, const std::string& directory, const SiteReply& reply) {
  if (reply.status == k_wants_login)
    return Refused{"the server wants a login", "put it into the URL's .netrc entry, or let everybody read it"};
  if (!reply.s3_code.empty() && reply.s3_code != "AccessDenied")
    return Refused{fmt::format("the S3 server says {}", reply.s3_code),
                   "look up that code with whoever runs the server"};
  bool bucket = site.is_bucket() || !reply.s3_code.empty();
  TRY(auto missing, site.page(path::join(directory, k_nobodys)));
  if (missing.state != SiteReply::State::denied) return not_readable(bucket);
  TRY(auto by_name, site.page_by_name(directory));
  if (by_name && by_name->there()) return missing_and_hidden(bucket);
  return not_known(bucket);
}

namespace {

std::string hint_without_index(const Site& site) {
  if (site.served())
    return "check the URL: an index is the directory that holds index.html, simple/ or simple-json/; that of a "
           "store's channel is channels/NAME/";
  auto place = site.describe();
  if (!sys::exists(place)) return "check the path";
  if (sys::is_directory(path::join(place, "channels")))
    return fmt::format("it is a store: name one of its channels, `quarry index check {}/NAME`",
                       path::join(place, "channels"));
  return "name channels/NAME of a store, or make an index of packages with `quarry index build DIR`";
}

} // namespace

Error no_index(Site& site, const SiteReply& top) {
  bool exists = site.served() || sys::exists(site.describe());
  auto error = Error::of(ErrorKind::not_found, "I001",
                         exists ? fmt::format("{} holds no index: neither index.html nor simple/ nor simple-json/",
                                              site.describe())
                                : fmt::format("{} does not exist", site.describe()))
                   .with_hint(hint_without_index(site));
  if (top.state != SiteReply::State::denied) return error;
  error.message = fmt::format("{} shows no index", site.describe());
  error.details = {"answer    " + top.refusal};
  auto refused = why_refused(site, "", top);
  if (!refused) return error;
  error.details.push_back("cause     " + refused->why);
  error.hint = refused->fix;
  return error;
}

} // namespace quarry::index
