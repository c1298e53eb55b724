#pragma once
// A directory of a test's own, removed with it.
#include "sys/file.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::store::testing {

class TemporaryDirectory {
public:
  TemporaryDirectory() : path_(*sys::make_temporary_directory(::testing::TempDir(), "quarry-store-")) {}
  ~TemporaryDirectory() {
    if (!sys::remove_tree(path_)) ADD_FAILURE() << "cannot remove " << path_;
  }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace quarry::store::testing
