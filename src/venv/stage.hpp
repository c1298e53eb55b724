#pragma once
// Files of a store that is elsewhere, brought to this machine so that an installer can be pointed at them.
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "venv/environment.hpp"
#include "venv/source.hpp"
#include <string>

namespace quarry::venv {

/// A directory in the environment for the time of one command, on its file system so that uv can link instead of
/// copying.
class Workplace {
public:
  static Result<Workplace> create(const Environment& environment) {
    TRY(auto path, sys::make_temporary_directory(environment.directory, ".quarry-"));
    return Workplace(std::move(path));
  }
  Workplace(Workplace&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace() {
    if (!path_.empty()) static_cast<void>(sys::remove_tree(path_));
  }
  std::string at(const std::string& name) const { return path::join(path_, name); }

private:
  explicit Workplace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Downloads every offered file that has no path into `directory`, hashing in the same pass, and notes those in
/// `verified`; those of an unsealed source get their sha256 and are not noted. corrupt V007 (not the file that was
/// sealed), unsupported V006 (no store was given), R0xx, D00x.
Result<void> stage_files(Source& source, store::ObjectReader* store, const std::string& directory, unsigned workers,
                         VerifiedPaths& verified);

} // namespace quarry::venv
