#include "pages/foreign_pages.hpp"

#include "index/read_page.hpp"
#include "pages/page_writer.hpp"

namespace quarry::pages {

bool is_our_page(const std::string& bytes) {
  if (bytes.starts_with('{')) return true; // JSON: other tools write HTML
  auto page = index::read_html_page({bytes, "page"});
  return page && page->ours;
}

bool is_anothers_page(const std::string& bytes) {
  auto page = index::read_html_page({bytes, "page"});
  return page && !page->ours && !page->files.empty() && !bytes.starts_with('{');
}

void ForeignPages::begin_round() {
  std::lock_guard lock(mutex_);
  left_.clear();
}

Result<void> ForeignPages::look_first() {
  std::lock_guard lock(mutex_);
  return find_whether_ours();
}

Result<void> ForeignPages::find_whether_ours() {
  if (ours_before_) return {};
  // A JSON page: a tool that rewrites HTML leaves it. It is the last that we write, so a run that was killed before,
  // while it replaced the pages of another tool, does not leave the rest to that tool.
  TRY(auto json, store_.head(directory_ + "/" + std::string(k_written_last)));
  ours_before_ = json.has_value();
  return {};
}

Result<bool> ForeignPages::is_left(const std::string& key, const std::string& etag) {
  std::lock_guard lock(mutex_);
  TRY_DO(find_whether_ours());
  auto [first, fresh] = seen_.try_emplace(key, etag);
  bool rewritten = lost_.contains(key) || (!fresh && first->second != etag);
  if (!*ours_before_ && !rewritten) return false;
  left_.insert(page_key_of(key));
  return true;
}

void ForeignPages::lost(const std::string& key) {
  std::lock_guard lock(mutex_);
  lost_.insert(key);
}

std::vector<std::string> ForeignPages::left() const {
  std::lock_guard lock(mutex_);
  return {left_.begin(), left_.end()};
}

} // namespace quarry::pages
