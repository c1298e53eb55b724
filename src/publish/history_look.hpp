#pragma once
// Private to the room.
// A look at one package that another tool published.
#include "publish/foreign.hpp"
#include "registry/history.hpp"
#include <string>

namespace quarry::publish {

struct Looked {
  registry::HistoryFile file;
  std::string sidecar; ///< METADATA of a wheel
};

struct LookAt {
  store::ObjectInfo object;
  Said said;
  std::string temporary; ///< a directory for a source distribution
};

/// The end, the central directory and METADATA of a wheel, by ranges; a source distribution whole. Fails with corrupt,
/// failed or invalid_argument and the code of what is wrong with the file, P114 if two digests that the store or
/// pages name differ, P111 if it is gone.
Result<Looked> look_at_found(store::ObjectReader& target, const LookAt& look);

/// Whether an error is about the package, not about the store. Pure.
bool is_of_the_package(const Error& error);

} // namespace quarry::publish
