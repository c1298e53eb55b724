#pragma once
// A tar archive onto the disk, below one directory and nowhere else.
#include "sys/beneath.hpp"
#include "tar/tar.hpp"
#include <vector>

namespace quarry::tar {

/// Writes members as they come: files 0644 or 0755 (less the umask), directories 0755, hard links to files already
/// there. Symlinks are kept back until make_links(), to be called after Reader::finish(): nothing is ever written
/// through a link of the archive. Nothing is synced. Never sets owners, times or extended attributes. On failure the
/// directory holds rubbish: extract into one of your own.
class Extractor final : public Visitor {
public:
  explicit Extractor(sys::Beneath root) : root_(std::move(root)) {}
  Result<void> begin(const Member& member) override;
  Result<void> data(std::span<const std::byte> chunk) override;
  Result<void> end() override;
  Result<void> make_links();

  std::uint64_t files() const { return files_; } ///< entries other than directories
  std::uint64_t bytes() const { return bytes_; } ///< as lstat counts them: a hard link counts again

private:
  sys::Beneath root_;
  sys::File file_;
  std::string path_;
  std::uint64_t offset_ = 0, files_ = 0, bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> symlinks_;
};

} // namespace quarry::tar
