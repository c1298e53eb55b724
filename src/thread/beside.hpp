#pragma once
// One task on a thread of its own.
#include <future>
#include <memory>
#include <system_error>
#include <utility>

namespace quarry {

/// Runs `task` on a new thread and returns the future of its result; the future's destructor waits for the task. Where
/// the system starts no more threads (std::async would throw), the task runs in the future's get() instead: later, with
/// the same result; not at all if get() is not called. An exception of the task comes out of get(): guard the task
/// (guard.hpp).
template <class Task> auto run_beside(Task task) {
  auto shared = std::make_shared<Task>(std::move(task)); // std::async may have moved from a callable when it throws
  auto run = [shared] { return (*shared)(); };
  try {
    return std::async(std::launch::async, run);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, run);
  }
}

} // namespace quarry
