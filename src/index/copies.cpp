#include "index/copies.hpp"

#include "index/facts.hpp"
#include <algorithm>
#include <iterator>

namespace quarry::index {

namespace {

const std::string k_repair = "`quarry index repair` writes pages and copies again";

} // namespace

Result<void> Copies::look(Site& site, const std::string& directory, const SiteReply& page) {
  if (page.text.find_first_not_of(" \t\r\n") == page.text.find('{')) return {}; // JSON has no copy
  TRY(auto copy, site.copy_of(directory));
  if (!copy) return {};
  if (!copy->there()) {
    missing_.push_back(directory);
    return {};
  }
  ++copies_;
  std::ranges::move(header_findings(shown(directory), *copy), std::back_inserter(found_));
  if (copy->text != page.text)
    found_.push_back({"I040", Severity::error, shown(directory),
                      "the page under the key that installers ask for differs from its index.html", k_repair});
  return {};
}

Findings Copies::findings() const {
  auto all = found_;
  if (copies_ == 0 && !missing_.empty())
    all.push_back({"I041", Severity::note, shown(missing_.front()),
                   "no page is stored under the key that installers ask for, so `--index-url` needs a web server that "
                   "answers a directory with its index.html; `--find-links` needs none",
                   "in a store of ours, `quarry index repair` writes these keys where the server can keep them"});
  for (const auto& directory : missing_)
    if (copies_ != 0)
      all.push_back({"I040", Severity::error, shown(directory),
                     "the page is missing under the key that installers ask for, while others have it", k_repair});
  return all;
}

} // namespace quarry::index
