#include "content/excerpt.hpp"

#include <algorithm>

namespace quarry::content {

Result<void> Excerpt::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  auto at = spool_->size();
  TRY_DO(spool_->append(bytes));
  bool continues = !parts_.empty() && parts_.back().end == size_ &&
                   parts_.back().at + (parts_.back().end - parts_.back().begin) == at;
  if (!continues) parts_.push_back({size_, size_, at});
  size_ += bytes.size();
  parts_.back().end = size_;
  return {};
}

void Excerpt::skip(std::uint64_t count) { size_ += count; }

Result<void> Excerpt::read(std::uint64_t offset, std::span<std::byte> into) const {
  auto part = std::ranges::upper_bound(parts_, offset, {}, &Part::end);
  for (; !into.empty(); ++part) {
    if (part == parts_.end() || part->begin > offset) {
      missed_ = true;
      return fail(ErrorKind::unavailable, "D019", "these bytes were not kept while the file was read once");
    }
    auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), part->end - offset));
    TRY_DO(spool_->read(part->at + (offset - part->begin), into.first(count)));
    into = into.subspan(count);
    offset += count;
  }
  return {};
}

std::vector<Excerpt::Range> Excerpt::skipped() const {
  std::vector<Range> out;
  std::uint64_t at = 0;
  for (const auto& part : parts_) {
    if (part.begin > at) out.push_back({at, part.begin});
    at = part.end;
  }
  if (size_ > at) out.push_back({at, size_});
  return out;
}

} // namespace quarry::content
