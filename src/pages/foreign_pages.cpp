#include "pages/foreign_pages.hpp"

#include "index/read_page.hpp"
#include "pages/page_writer.hpp"

namespace quarry::pages {

bool is_anothers_page(const std::string& bytes) {
  auto page = index::read_html_page(bytes, "page");
  return page && !page->ours && !page->files.empty() && !bytes.starts_with('{');
}

Result<bool> ForeignPages::is_left(const std::string& key, const std::string& etag) {
  std::lock_guard lock(mutex_);
  if (!ours_before_) {
    // A JSON page: a tool that rewrites HTML leaves it. It is the last that we write, so a run that was killed before,
    // while it replaced the pages of another tool, does not leave the rest to that tool.
    TRY(auto json, store_.head(directory_ + "/" + std::string(k_written_last)));
    ours_before_ = json.has_value();
  }
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
