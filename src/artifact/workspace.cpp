#include "artifact/workspace.hpp"

#include "artifact/fetch_state.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"

namespace quarry::artifact {

Result<Workspace> Workspace::open(const std::string& output_directory) {
  auto state = path::join(output_directory, k_fetch_directory);
  if (sys::read_link(state)) // what is removed there would be removed elsewhere
    return fail(ErrorKind::already_exists, "A051", state + " is a link, and a fetch makes a directory",
                "remove the link or choose another output directory");
  TRY_DO(sys::make_directories(state));
  TRY(auto lock, sys::FileLock::acquire(path::join(state, "lock")));
  Workspace space(output_directory, state, std::move(lock));
  TRY_DO(sys::remove_tree(space.staging()));
  TRY_DO(sys::make_directories(space.staging()));
  return space;
}

Workspace::~Workspace() {
  // Moved from, it owns nothing. A failure to clean up is repeated and reported by the next fetch.
  if (!state_.empty()) (void)sys::remove_tree(staging()).has_value();
}

Result<std::string> Workspace::stage(const std::string& name) const {
  auto directory = path::join(staging(), name);
  TRY_DO(sys::make_directories(directory));
  return directory;
}

Result<void> Workspace::discard(const std::string& path) const {
  auto moved = sys::rename(path, path::join(staging(), "old-" + sys::random_hex(8)));
  if (!moved && moved.error().kind == ErrorKind::not_found) return {};
  return moved;
}

} // namespace quarry::artifact
