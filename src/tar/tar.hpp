#pragma once
// tar: ustar with pax headers and GNU long names (POSIX.1-2017 pax; GNU tar manual "Basic Tar Format"). Streaming
// reader that trusts nothing, deterministic writer.
#include "base/result.hpp"
#include "codec/compression.hpp"
#include "content/rope.hpp"
#include "tar/paths.hpp"
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace quarry::tar {

struct Member {
  std::string path; ///< a leading "./" is dropped, no trailing '/'; validated by checked_path()
  Type type = Type::file;
  std::uint64_t size = 0;
  bool executable = false;  ///< of a file: any x bit
  std::string link;         ///< of a symlink: as stored; of a hard link: a validated path
  std::uint64_t offset = 0; ///< of its bytes in the uncompressed stream
};

struct Visitor {
  virtual ~Visitor() = default;
  virtual Result<void> begin(const Member& member) = 0;            ///< once for each member, in order
  virtual Result<void> data(std::span<const std::byte> chunk) = 0; ///< of the member begun last
  virtual Result<void> end() = 0;                                  ///< its bytes are complete
};

/// Push parser: feed the uncompressed stream in pieces of any size, then finish(). Refused (all corrupt): a header that
/// fails its checksum (T004) or that two readers would understand differently (T005), odd pax records (T006), names
/// that cannot be side by side (T007), more than the limits (T008), device, fifo, sparse and unknown members (T009),
/// names and links that lead elsewhere (T010), a missing end marker, non-zero padding or bytes after the end (T003). A
/// symlink is judged when all are known: a visitor makes links after finish(). After an error the reader may only be
/// destroyed. Memory: the names (NameTree) and one extension header of at most 1 MiB.
class Reader {
public:
  Reader(Visitor& visitor, std::string archive_name, Limits limits = {}); ///< the name is for messages
  ~Reader();
  Result<void> feed(std::span<const std::byte> bytes);
  /// How many of the next bytes are a member's data; 0 elsewhere.
  std::uint64_t data_ahead() const;
  /// Passes over that many of them, for a stream that can be read at any place: the visitor does not see them.
  Result<void> skip(std::uint64_t bytes);
  Result<void> finish();
  const CasePairs& case_pairs() const; ///< see Paths

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Deterministic: mtime 0, uid/gid 0, no names, modes 0755/0644, pax only where ustar cannot say it. Refuses with the
/// reader's own codes what the reader would refuse, before a byte of that member is written.
class Writer {
public:
  explicit Writer(codec::ByteSink out, CaseRule case_rule = CaseRule::refuse);
  /// Hands on ropes instead of bytes: a tar that is itself a rope, made without reading one file (see Rope).
  struct Ropes {
    std::function<Result<void>(const content::Rope&)> out;
  };
  explicit Writer(Ropes ropes) : out_(std::move(ropes.out)), paths_(Limits{}) {}
  Result<void> file(const std::string& path, const content::Rope& data, bool executable);
  Result<void> symlink(const std::string& path, const std::string& target);
  Result<void> directory(const std::string& path);
  Result<void> finish(); ///< checks the links; two zero blocks, padded to 10,240 bytes as other tars do
  /// T008 when a reader with the bounds of Limits::for_archive(packed) would refuse what was written.
  /// After finish(), when the size of the compressed archive is known.
  Result<void> check_readable(const PackedSize& packed) const;
  const CasePairs& case_pairs() const { return paths_.case_pairs(); }

private:
  Result<void> member(const std::string& path, Type type, std::uint64_t size, bool executable, const std::string& link);
  Result<void> header(const std::string& path, char type, std::uint64_t size, unsigned mode, const std::string& link);
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> pad();
  std::function<Result<void>(const content::Rope&)> out_;
  Paths paths_;
  std::uint64_t written_ = 0, data_ = 0; ///< of written_, bytes of files
};

} // namespace quarry::tar
