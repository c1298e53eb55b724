#pragma once
// No exception leaves a worker thread: std::terminate would end the program without a word about what failed.
#include "base/result.hpp"
#include <utility>

namespace quarry {

/// The exception that is being handled, as an Error: resource_exhausted D003 if memory ran out or the system starts no
/// more threads, else internal D016 with the exception's text. Call it in a catch block only.
Error error_of_exception();

/// Runs `task`, which returns a Result, on the thread that calls it. Returns the task's result, or
/// error_of_exception() if it throws. Costs nothing if it does not.
template <class Task> auto guarded(Task&& task) -> decltype(std::forward<Task>(task)()) {
  try {
    return std::forward<Task>(task)();
  } catch (...) {
    return fail(error_of_exception());
  }
}

} // namespace quarry
