#include "content/spool.hpp"

namespace quarry::content {

Result<std::shared_ptr<Spool>> Spool::create(const std::string& directory) {
  TRY(auto file, sys::File::create_unnamed(directory));
  return std::make_shared<Spool>(std::move(file));
}

Result<void> Spool::append(std::span<const std::byte> bytes) {
  TRY_DO(file_.write_at(size_, bytes));
  size_ += bytes.size();
  return {};
}

Result<void> Spool::read(std::uint64_t offset, std::span<std::byte> into) const {
  TRY(auto n, file_.read_at(offset, into));
  if (n != into.size()) return fail(ErrorKind::corrupt, "D008", "a temporary file became shorter while it was read");
  return {};
}

Result<std::shared_ptr<Spool>> SpoolPool::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return Spool::create(directory_);
  auto spool = std::move(free_.back());
  free_.pop_back();
  return spool;
}

void SpoolPool::give_back(std::shared_ptr<Spool> spool) {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(spool));
}

} // namespace quarry::content
