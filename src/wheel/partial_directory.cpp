#include "wheel/partial_directory.hpp"

#include "sys/file.hpp"

namespace quarry::wheel {

namespace {
Error is_there(const std::string& target) {
  return {ErrorKind::already_exists, "W015", target + " already exists", {}, {}, "remove it, or choose another place"};
}
} // namespace

Result<PartialDirectory> PartialDirectory::create(const std::string& target) {
  if (sys::exists(target)) return fail(is_there(target));
  TRY(auto held, sys::HeldDirectory::create(target));
  return PartialDirectory(std::move(held), target);
}

Result<void> PartialDirectory::commit() {
  auto named = held_.commit();
  if (!named && named.error().kind == ErrorKind::already_exists) return fail(is_there(target_)); // somebody was faster
  return named;
}

} // namespace quarry::wheel
