#include "wheel/thin_excerpt.hpp"

#include <algorithm>

namespace quarry::wheel {

namespace {
constexpr std::size_t k_page = 4096; // bundles in ELF files begin at multiples of it

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
} // namespace

bool ThinExcerpt::is_needed(std::string_view page) {
  if (at_ >= bundle_.end) {
    if (auto found = gpu::unneeded_of(page, whole_.size - at_, devices_)) {
      bundle_ = std::move(*found);
      bundle_.end += at_;
      for (auto& range : bundle_.ranges) range.begin += at_, range.end += at_;
      next_range_ = 0;
    }
  }
  auto& ranges = bundle_.ranges;
  while (next_range_ < ranges.size() && ranges[next_range_].end <= at_) ++next_range_;
  return next_range_ == ranges.size() || at_ < ranges[next_range_].begin;
}

Result<void> ThinExcerpt::take_pages(std::string_view pages) {
  std::size_t kept = 0; // the pages that stand before `done` and are needed
  std::size_t done = 0;
  for (; done < pages.size(); done += k_page, at_ += k_page) {
    if (is_needed(pages.substr(done, k_page))) {
      kept += k_page;
      continue;
    }
    TRY_DO(kept_->append(bytes_of(pages.substr(done - kept, kept))));
    kept_->skip(k_page);
    kept = 0;
  }
  return kept_->append(bytes_of(pages.substr(done - kept, kept)));
}

Result<void> ThinExcerpt::feed(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (at_ == 0 && partial_.empty() && !gpu::may_have_unneeded(text)) whole_.all = true;
  if (whole_.all) return kept_->append(bytes);
  if (!partial_.empty()) {
    auto missing = std::min(k_page - partial_.size(), text.size());
    partial_ += text.substr(0, missing);
    text.remove_prefix(missing);
    if (partial_.size() < k_page) return {};
    TRY_DO(take_pages(partial_));
  }
  auto whole = text.size() / k_page * k_page;
  partial_ = text.substr(whole);
  return take_pages(text.substr(0, whole));
}

Result<std::shared_ptr<content::Excerpt>> ThinExcerpt::finish() {
  TRY_DO(kept_->append(bytes_of(partial_)));
  return kept_;
}

} // namespace quarry::wheel
