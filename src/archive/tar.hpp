#pragma once
// tar: ustar with pax headers and GNU long names (POSIX.1-2017 pax; GNU tar manual "Basic Tar Format"). Streaming reader that
// trusts nothing, deterministic writer.
#include "archive/compression.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace quarry::archive {

enum class TarType : std::uint8_t { file, directory, symlink, hardlink };

struct TarMember {
  std::string path;  ///< a leading "./" is dropped, no trailing '/'; validated (T010): relative, no "..", no control characters
  TarType type = TarType::file;
  std::uint64_t size = 0;
  bool executable = false;
  std::string link;  ///< of a symlink: as stored; of a hard link: a validated path
};

struct TarLimits {
  std::uint64_t entries_max = 1'000'000;
  std::uint64_t declared_bytes_max = 256ull << 30;
  std::size_t path_bytes_max = 4096, component_bytes_max = 255, depth_max = 128;
};

struct TarVisitor {
  virtual ~TarVisitor() = default;
  virtual Result<void> begin(const TarMember& member) = 0;                 ///< once for each member, in order
  virtual Result<void> data(std::span<const std::byte> chunk) = 0;         ///< of the member begun last
  virtual Result<void> end() = 0;                                          ///< its bytes are complete
};

/// Push parser: feed the uncompressed stream in pieces of any size, then finish(). Any header, checksum, padding or end-marker
/// defect is corrupt (T003…T009). Device, fifo, sparse and unknown members are refused (T009).
class TarReader {
public:
  TarReader(TarVisitor& visitor, std::string archive_name, TarLimits limits = {});
  ~TarReader();
  Result<void> feed(std::span<const std::byte> bytes);
  Result<void> finish();
private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Deterministic: mtime 0, uid/gid 0, no names, modes 0755/0644, pax only where ustar cannot say it.
class TarWriter {
public:
  explicit TarWriter(ByteSink out) : out_(std::move(out)) {}
  Result<void> file(const std::string& path, const content::Rope& data, bool executable);
  Result<void> symlink(const std::string& path, const std::string& target);
  Result<void> directory(const std::string& path);
  Result<void> finish();  ///< two zero blocks, padded to 10,240 bytes as other tars do
private:
  ByteSink out_;
  std::uint64_t written_ = 0;
};

}  // namespace quarry::archive
