#pragma once
// A directory of packages that cost nothing to make: their bytes are any text, described by a fake instead of being
// read as wheels.
#include "dist/name.hpp"
#include "publish/collect.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::publish::testing {

class Packages {
public:
  Packages() : path_(*sys::make_temporary_directory(::testing::TempDir(), "quarry-packages-")) {}
  ~Packages() {
    if (!sys::remove_tree(path_)) ADD_FAILURE() << "cannot remove " << path_;
  }
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;
  const std::string& path() const { return path_; }
  Packages& add(const std::string& name, const std::string& bytes = "content") {
    EXPECT_TRUE(sys::make_directories(path::dirname(path::join(path_, name))));
    EXPECT_TRUE(sys::write_file(path::join(path_, name), bytes + " of " + name));
    return *this;
  }

private:
  std::string path_;
};

/// Believes the file's name. A file whose bytes begin with "unsound" is refused as a reader would refuse it.
inline Result<index::Described> fake_describe(const std::string& path, unsigned = 1) {
  std::string name(path::basename(path));
  TRY(auto parsed, dist::DistributionName::parse(name));
  TRY(auto bytes, sys::read_file(path));
  if (bytes.starts_with("unsound")) return fail(ErrorKind::corrupt, "W010", name + " is not sound");
  index::Described described;
  described.file.filename = name;
  described.file.project = parsed.project.str();
  described.file.version = parsed.version.str();
  described.file.size = bytes.size();
  described.file.sha256 = sha256(bytes);
  described.file.requires_python = ">=3.10";
  if (parsed.kind == dist::DistributionKind::sdist) return described;
  described.sidecar =
      "Metadata-Version: 2.4\nName: " + parsed.project.str() + "\nVersion: " + parsed.version.str() + "\n";
  described.file.metadata_sha256 = sha256(described.sidecar);
  return described;
}

} // namespace quarry::publish::testing
