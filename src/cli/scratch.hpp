#pragma once
// A directory for what a command downloads and does not keep.
#include "cli/command.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <cstdint>
#include <string>
#include <string_view>
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
  static Result<Scratch> make_in(const Context& context, const std::string& directory) {
    TRY_DO(sys::make_directories(directory));
    remove_abandoned(directory, context.clock.now_us());
    TRY(auto path, sys::make_temporary_directory(directory, std::string(k_hidden)));
    return Scratch(std::move(path));
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!path_.empty()) static_cast<void>(sys::remove_tree(path_));
  }
  const std::string& path() const { return path_; }

private:
  static constexpr std::string_view k_hidden = ".quarry-scratch-";
  /// A command that was killed cannot remove its directory. One that nobody has written to for a week is nobody's.
  static void remove_abandoned(const std::string& directory, std::int64_t now_us) {
    constexpr std::int64_t k_week_us = 7 * 24 * 3600 * std::int64_t{1'000'000};
    auto entries = sys::list_directory(directory);
    if (!entries) return; // the command itself says what is wrong with the directory
    for (const auto& entry : *entries)
      if (entry.type == sys::EntryType::directory && entry.path.starts_with(k_hidden) &&
          now_us - entry.modified_ns / 1000 > k_week_us)
        static_cast<void>(sys::remove_tree(path::join(directory, entry.path)));
  }
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace quarry::cli
