#include "artifact/forward.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

namespace quarry::artifact {

namespace {

constexpr std::uint64_t k_step = 1u << 20;

class ForwardSource final : public content::Source {
public:
  explicit ForwardSource(content::Rope rope) : rope_(std::move(rope)) {}

  std::uint64_t size() const override { return rope_.size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::lock_guard lock(mutex_);
    bool near = offset >= begin_ && offset + into.size() <= end_ + k_forward_window;
    if (!near || into.size() > k_forward_window) return rope_.read(offset, into);
    while (!into.empty()) {
      // Room is made only in front of what is wanted.
      while (end_ <= offset) TRY_DO(extend(offset));
      auto at = offset - begin_;
      const auto& chunk = chunks_[at / k_step];
      auto skip = at % k_step;
      auto take = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), chunk.size() - skip));
      std::memcpy(into.data(), chunk.data() + skip, take);
      into = into.subspan(take);
      offset += take;
    }
    return {};
  }

private:
  Result<void> extend(std::uint64_t wanted) const {
    std::vector<std::byte> chunk;
    if (chunks_.size() * k_step >= k_forward_window && begin_ + k_step <= wanted) {
      chunk = std::move(chunks_.front());
      chunks_.pop_front();
      begin_ += k_step;
    }
    chunk.resize(std::min(k_step, rope_.size() - end_));
    TRY_DO(rope_.read(end_, chunk));
    end_ += chunk.size();
    chunks_.push_back(std::move(chunk));
    return {};
  }

  content::Rope rope_;
  mutable std::mutex mutex_;
  mutable std::deque<std::vector<std::byte>> chunks_; // each of k_step but the last of the rope
  mutable std::uint64_t begin_ = 0, end_ = 0;
};

} // namespace

std::shared_ptr<const content::Source> make_forward_source(content::Rope rope) {
  return std::make_shared<ForwardSource>(std::move(rope));
}

} // namespace quarry::artifact
