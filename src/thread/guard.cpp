#include "thread/guard.hpp"

#include <exception>
#include <new>

namespace quarry {

Error error_of_exception() {
  constexpr const char* k_report = "this is a bug: please report it with the command and what it printed";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Error::of(ErrorKind::resource_exhausted, "D003", "a thread ran out of memory")
        .with_hint("use fewer `--jobs`, or a machine with more memory");
  } catch (const std::exception& thrown) {
    return Error::of(ErrorKind::internal, "D016", "a thread stopped: " + std::string(thrown.what()))
        .with_hint(k_report);
  } catch (...) {
    return Error::of(ErrorKind::internal, "D016", "a thread stopped").with_hint(k_report);
  }
}

} // namespace quarry
