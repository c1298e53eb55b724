#pragma once
// Private to the room.
// Between a tar reader and what takes its members: the rules of an artifact. The manifest first, then only what it
// names.
#include "artifact/base_tree.hpp"
#include "tar/tar.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

class ManifestGuard final : public tar::Visitor {
public:
  ManifestGuard(tar::Visitor& inner, std::string file) : inner_(inner), file_(std::move(file)) {}
  Result<void> begin(const tar::Member& member) override;
  Result<void> data(std::span<const std::byte> chunk) override;
  Result<void> end() override;
  Result<void> finish() const; ///< A007 when no manifest came
  std::vector<std::string>& bases() { return bases_; }

private:
  tar::Visitor& inner_;
  std::string file_, text_;
  bool reading_manifest_ = false, manifest_done_ = false;
  std::vector<std::string> bases_;
  BaseTree base_tree_;
};

} // namespace quarry::artifact
