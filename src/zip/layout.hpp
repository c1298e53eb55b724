#pragma once
// Private to the room.
// Where everything of a zip file goes, and the bytes of its headers (APPNOTE 4.3-4.5). Writes by position, since a
// local header holds what is known only behind its data.
#include "base/result.hpp"
#include "sys/file.hpp"
#include "zip/pipeline.hpp"
#include "zip/reader.hpp"
#include "zip/writer.hpp"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quarry::zip {

class Layout {
public:
  /// The first entry stands at `start`, which only tests of large offsets choose.
  explicit Layout(const sys::File& into, std::uint64_t start = 0) : into_(into), end_(start) {}

  /// The next chunk of `entry`, in order. The entry's last chunk completes it: then `done()` grows.
  Result<void> add(const Entry& entry, const PackedChunk& chunk);
  /// A member of another archive, its stored bytes copied as they are. Fails with unsupported (Z023) if its local
  /// header would need a form that the writer does not make.
  Result<void> keep(const Member& member, const content::Rope& archive);
  /// Central directory and end records; returns the archive's size, to which the file is cut.
  Result<std::uint64_t> finish();
  const std::vector<Written>& done() const { return done_; }

private:
  struct Placed { // what the central directory says beyond Written
    std::uint64_t header_offset = 0;
    std::uint16_t method = 0;
    bool executable = false;
  };
  void begin(const Entry& entry);
  void begin_sync(std::uint64_t more);
  Result<void> complete(const Entry& entry, const PackedChunk& chunk);
  Result<void> store_instead(const Entry& entry);
  Result<void> place(); ///< writes the local header of the entry, whose data is there
  std::string central_directory() const;

  const sys::File& into_;
  std::vector<Written> done_;
  std::vector<Placed> placed_;
  // The entry that is being written.
  Written current_;
  Placed place_;
  std::uint64_t data_offset_ = 0;
  std::uint64_t end_; // where the next entry starts
};

} // namespace quarry::zip
