#pragma once
// For the tests: a directory that goes away with the test.
#include "sys/file.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::sys {

class InDirectory : public ::testing::Test {
protected:
  std::string root = make_temporary_directory(::testing::TempDir(), "quarry-sys-").value();
  ~InDirectory() override { (void)remove_tree(root); }
  std::string at(const std::string& name) const { return root + "/" + name; }
  std::string put(const std::string& name, std::string_view content = "x") const {
    EXPECT_TRUE(make_directories(at(name).substr(0, at(name).rfind('/'))));
    EXPECT_TRUE(File::create(at(name))->write(content));
    return at(name);
  }
};

} // namespace quarry::sys
