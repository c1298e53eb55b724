#pragma once
// A directory for what a command downloads and does not keep.
#include "cli/command.hpp"
#include "sys/file.hpp"
#include <string>
#include <utility>

namespace quarry::cli {

/// Below TMPDIR, else /tmp; gone when the command ends, however it ends.
class Scratch {
public:
  static Result<Scratch> make(const Context& context) {
    auto below = context.variable("TMPDIR");
    TRY(auto path, sys::make_temporary_directory(below.empty() ? "/tmp" : below, "quarry-"));
    return Scratch(std::move(path));
  }
  /// Hidden in a directory that is written to anyway: for gigabytes, which TMPDIR may not hold.
  static Result<Scratch> make_in(const std::string& directory) {
    TRY_DO(sys::make_directories(directory));
    TRY(auto path, sys::make_temporary_directory(directory, ".quarry-scratch-"));
    return Scratch(std::move(path));
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!path_.empty()) static_cast<void>(sys::remove_tree(path_));
  }
  const std::string& path() const { return path_; }

private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace quarry::cli
