#pragma once
// The index of dependencies that a command asks, far away or in a store.
#include "cli/command.hpp"
#include "mirror/resolve.hpp"
#include "store/object_store.hpp"
#include <memory>
#include <string>

namespace quarry::cli {

/// `--base-index URL|STORE`
Flag base_index_flag();

class BaseIndex {
public:
  virtual ~BaseIndex() = default;
  virtual mirror::Candidates& candidates() = 0;
  virtual const std::string& name() const = 0; ///< for messages
};

/// The index that `said` names: an http(s) URL of a simple index, or a store with a base index (`quarry mirror sync`).
/// If it is empty, the base index of the store `place`, if that has one; else null. not_found U003 for a store that was
/// named and has none. A URL costs nothing before it is asked.
Result<std::unique_ptr<BaseIndex>> open_base_index(const Context& context, const std::string& said,
                                                   const std::string& place);

} // namespace quarry::cli
