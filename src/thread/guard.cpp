#include "thread/guard.hpp"

#include <exception>
#include <new>
#include <system_error>

namespace quarry {

namespace {

Error stopped(const std::string& why) {
  return Error::of(ErrorKind::internal, "D016", "a thread stopped: " + why)
      .with_hint("this is a bug: please report it with the command and what it printed");
}

} // namespace

Error error_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Error::of(ErrorKind::resource_exhausted, "D003", "a thread ran out of memory")
        .with_hint("use fewer `--jobs`, or a machine with more memory");
  } catch (const std::system_error& refused) {
    if (refused.code() != std::errc::resource_unavailable_try_again) return stopped(refused.what());
    return Error::of(ErrorKind::resource_exhausted, "D003", "no thread can be started")
        .with_hint("allow more processes or threads (`ulimit -u`), or give a smaller --jobs");
  } catch (const std::exception& thrown) {
    return stopped(thrown.what());
  } catch (...) {
    return stopped("for an unknown reason");
  }
}

} // namespace quarry
