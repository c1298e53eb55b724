#include "thread/pool.hpp"

#include "thread/guard.hpp"
#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace quarry {

Result<void> parallel_for(std::size_t count, unsigned workers, const std::function<Result<void>(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t first = count;
  std::optional<Error> error;
  auto loop = [&] {
    while (!failed) {
      auto i = next++;
      if (i >= count) return;
      if (auto result = guarded([&] { return task(i); }); !result) {
        failed = true;
        std::lock_guard lock(mutex);
        if (i < first) first = i, error = std::move(result).error();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    auto extra = std::min<std::size_t>(workers ? workers - 1 : 0, count ? count - 1 : 0);
    try {
      for (std::size_t i = 0; i < extra; ++i) threads.emplace_back(loop);
    } catch (const std::system_error&) {
      // Fewer threads do the same work. With none, a task may wait for another one that nobody begins.
      if (threads.empty()) return fail(error_of_exception());
    }
    loop();
  }
  if (error) return fail(std::move(*error));
  return {};
}

} // namespace quarry
