#include "publish/foreign.hpp"

#include "dist/name.hpp"
#include "index/read_page.hpp"
#include "pages/page_writer.hpp"
#include "pages/projection.hpp"
#include "publish/placement.hpp"
#include "registry/distributions.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>
#include <mutex>

namespace quarry::publish {

namespace {

/// Pages of a repository in HTML: its own, those of projects, and those of simple/.
bool is_html_page(const std::string& rest) {
  bool page = rest.empty() || rest == "index.html" || rest.ends_with('/') || rest.ends_with("/index.html");
  return page && !rest.starts_with("simple-json/") && !rest.starts_with("merged/");
}

void add_digest(Said& said, const std::optional<Sha256>& digest) {
  if (!said.sha256)
    said.sha256 = digest;
  else if (digest && *digest != *said.sha256)
    said.other = digest;
}

/// Two pages may link to one package. The first that says something counts, but two digests do not fit together.
void add_said(Said& said, const index::PageFile& link) {
  add_digest(said, link.sha256());
  if (said.yanked || !link.yanked) return;
  said.yanked = true;
  said.yank_reason = link.yank_reason;
}

/// Its links are not known, so our page could hide a package.
Unexpected unreadable_page(const std::string& key, const std::string& why) {
  return fail(
      ErrorKind::already_exists, "P121", fmt::format("the page {} {}, so its links would be lost", key, why),
      "nothing was moved; store it again as plain HTML, or remove it if nobody needs it; or promote to a prefix of "
      "its own: `--prefix quarry/{family}`");
}

Result<UnshownByName> on_page(store::ObjectReader& target, const std::string& key, const FileNames& known,
                              bool is_repository) {
  UnshownByName found;
  TRY(auto bytes, target.get(key, pages::k_page_bytes_max));
  if (!bytes || bytes->empty()) return found;
  // Such as a page that is stored compressed, or in UTF-16.
  bool is_text = !bytes->starts_with("\x1f\x8b") && bytes->find('\0') == std::string::npos;
  if (!is_text) return unreadable_page(key, "is not text");
  auto page = index::read_page({*bytes, key});
  if (!page) return unreadable_page(key, "cannot be read: " + page.error().message);
  if (page->ours && is_repository) return found;
  for (const auto& link : page->files) { // links to projects do not count: their own pages are read, too
    auto name = link.url_name();
    if (!is_package(name) || known.contains(name)) continue;
    found[name].places.insert(key);
    add_said(found[name].said, link);
  }
  return found;
}

void merge_into(UnshownByName& all, UnshownByName found) {
  for (auto& [name, one] : found) {
    auto& known = all[name];
    known.places.merge(one.places);
    add_digest(known.said, one.said.sha256);
    add_digest(known.said, one.said.other);
    if (one.said.yanked && !known.said.yanked) {
      known.said.yanked = true;
      known.said.yank_reason = one.said.yank_reason;
    }
  }
}

} // namespace

bool is_package(const std::string& name) {
  return dist::DistributionName::parse(name).has_value() || name.ends_with(".whl") || name.ends_with(".egg");
}

Result<UnshownByName> unshown_packages(store::ObjectReader& target, const ForeignPlace& place, unsigned transfers) {
  UnshownByName unshown;
  if (place.objects.empty()) return unshown;
  TRY(auto pointer, target.head(registry::distribution_key(place.directory)));
  std::vector<std::string> pages;
  for (const auto& object : place.objects) {
    auto name = object.key.substr(place.directory.size() + 1);
    if (is_html_page(name)) pages.push_back(object.key);
    if (!place.all && pointer) continue;
    auto package = package_at(name); // any other directory below holds packages of its own
    if (!package.empty() && !place.known.contains(package)) unshown[package].places.insert(place.directory + "/");
  }
  std::mutex mutex;
  TRY_DO(parallel_for(pages.size(), transfers, [&](std::size_t i) -> Result<void> {
    TRY(auto found, on_page(target, pages[i], place.known, pointer.has_value()));
    std::lock_guard lock(mutex);
    merge_into(unshown, std::move(found));
    return {};
  }));
  return unshown;
}

} // namespace quarry::publish
