#pragma once
// Threads: a bounded pool and a bounded queue. Header for the queue, since it is a template.
#include "base/result.hpp"
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace quarry {

/// Runs `task(0) … task(count-1)` on at most `workers` threads (the caller is one of them) and waits for all. Tasks are
/// taken in order. After the first failure no new task starts; of several failures the one with the lowest number is
/// returned, so that the result does not depend on timing. A task that throws has failed (error_of_exception,
/// guard.hpp). If the system gives not one further thread, the call fails (resource_exhausted) before a task is begun:
/// one task may wait for another.
Result<void> parallel_for(std::size_t count, unsigned workers, const std::function<Result<void>(std::size_t)>& task);

/// Many producers, many consumers. close() lets consumers drain what is left; push then returns false.
template <class T> class BoundedQueue {
public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}
  bool push(T item) {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    filled_.notify_one();
    return true;
  }
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    space_.notify_one();
    return item;
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    filled_.notify_all();
    space_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable filled_, space_;
  std::deque<T> items_;
  std::size_t capacity_;
  bool closed_ = false;
};

} // namespace quarry
