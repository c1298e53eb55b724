#include "store/spooled.hpp"

#include <mutex>

namespace quarry::store {

namespace {

class SpooledSource final : public content::Source {
public:
  SpooledSource(std::shared_ptr<const content::Source> in_ranges, std::shared_ptr<std::atomic<bool>> rangeless,
                FetchWhole fetch)
      : in_ranges_(std::move(in_ranges)), rangeless_(std::move(rangeless)), fetch_(std::move(fetch)) {}

  std::uint64_t size() const override { return in_ranges_->size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (!*rangeless_) {
      auto read = in_ranges_->read(offset, into);
      if (read || !*rangeless_) return read;
    }
    std::lock_guard lock(mutex_);
    if (!file_.is_open()) {
      TRY(file_, fetch_());
    }
    TRY(auto count, file_.read_at(offset, into));
    if (count == into.size()) return {};
    return fail(ErrorKind::internal, "K099", "a file of fetched bytes is shorter than what was fetched");
  }

private:
  std::shared_ptr<const content::Source> in_ranges_;
  std::shared_ptr<std::atomic<bool>> rangeless_;
  FetchWhole fetch_;
  mutable std::mutex mutex_;
  mutable sys::File file_;
};

} // namespace

std::shared_ptr<const content::Source> make_spooled_source(std::shared_ptr<const content::Source> in_ranges,
                                                           std::shared_ptr<std::atomic<bool>> rangeless,
                                                           FetchWhole fetch) {
  return std::make_shared<SpooledSource>(std::move(in_ranges), std::move(rangeless), std::move(fetch));
}

} // namespace quarry::store
