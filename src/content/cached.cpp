#include "content/cached.hpp"

#include "sys/clock.hpp"
#include <algorithm>
#include <vector>

namespace quarry::content {

namespace {
constexpr std::uint64_t k_fetched_least = 64u << 10; // what a store fetches at least
constexpr std::uint64_t k_gap_max = 256u << 10;
constexpr std::uint64_t k_fetched_at_once = 1u << 20;
} // namespace

Result<std::shared_ptr<Cached>> Cached::create(Rope far, const std::string& directory) {
  TRY(auto file, sys::File::create_unnamed(directory));
  return std::make_shared<Cached>(std::move(far), std::move(file));
}

std::optional<Error> Cached::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

Result<void> Cached::read(std::uint64_t offset, std::span<std::byte> into) const {
  std::lock_guard lock(mutex_);
  auto provided = provide({offset, offset + into.size()});
  if (!provided) {
    if (!failure_) failure_ = provided.error();
    return provided;
  }
  TRY(auto count, file_.read_at(offset, into));
  if (count == into.size()) return {};
  return fail(ErrorKind::corrupt, "D008", "a temporary file became shorter while it was read");
}

/// Fetches the parts of `wanted` that are missing.
Result<void> Cached::provide(Range wanted) const {
  for (auto at = wanted.begin; at < wanted.end;) {
    auto next = kept_.upper_bound(at);
    auto before = next == kept_.begin() ? kept_.end() : std::prev(next);
    if (before != kept_.end() && at < before->second) {
      at = before->second;
      continue;
    }
    Range missing{at, std::min(size(), std::max(wanted.end, at + k_fetched_least))};
    if (before != kept_.end() && at - before->second <= k_gap_max) missing.begin = before->second;
    if (next != kept_.end()) missing.end = std::min(missing.end, next->first);
    TRY_DO(fetch(missing));
    at = missing.end;
  }
  return {};
}

Result<void> Cached::fetch(Range missing) const {
  std::vector<std::byte> buffer(std::min(k_fetched_at_once, missing.end - missing.begin));
  while (missing.begin < missing.end) {
    TRY_DO(sys::check_interrupted());
    auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), missing.end - missing.begin));
    TRY_DO(far_.read(missing.begin, part));
    TRY_DO(file_.write_at(missing.begin, part));
    keep({missing.begin, missing.begin + part.size()});
    missing.begin += part.size();
  }
  return {};
}

void Cached::keep(Range fetched) const {
  auto next = kept_.upper_bound(fetched.begin);
  bool continues = next != kept_.begin() && std::prev(next)->second == fetched.begin;
  auto at = continues ? std::prev(next) : kept_.emplace(fetched.begin, fetched.end).first;
  at->second = fetched.end;
  if (next != kept_.end() && next->first == fetched.end) {
    at->second = next->second;
    kept_.erase(next);
  }
}

} // namespace quarry::content
