#pragma once
// Private to the room.
// The parts of a file that matter for its linking and its device code, kept while the file flows by once: a member of a
// wheel is inflated from front to back, and its section table stands at its end.
#include "content/rope.hpp"
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace quarry::inspect {

/// Keeps the beginning (of a library 16 MiB, with its symbols), the end, pages that begin a bundle or an ELF file, and
/// small compressed bundles: at most 72 MiB of any file, and one bit for each page of zeros. It can be read like the
/// file where it has the bytes. Feeding is for one thread; reading as well.
class Sketch final : public content::Source {
public:
  explicit Sketch(std::uint64_t size) : bytes_{size} {} ///< bytes of the whole file; it tells where the end begins
  void feed(std::span<const std::byte> bytes);
  void end_of_file(); ///< after the last feed(), before the first read()

  std::uint64_t size() const override { return bytes_.fed; }
  /// Fails with unavailable (G111) where bytes were not kept: read the file itself then.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override;
  bool missed() const { return missed_; } ///< a read has failed: what was found out may be wrong

private:
  void page(std::string_view bytes);
  /// The bytes of a page, or null if it was not kept.
  const char* page_at(std::uint64_t number) const;
  struct Kept {
    std::deque<std::array<char, 4096>> pages; ///< of a library 16 MiB; never moved
    std::vector<std::uint64_t> numbers;       ///< of each page in the file, ascending
  };
  Kept kept_;
  std::vector<bool> zeros_; ///< by number of the page
  std::string tail_;        ///< the last bytes of the file
  std::string partial_;     ///< of the page that is not complete yet
  struct Bytes {
    std::uint64_t expected, fed = 0;
  };
  Bytes bytes_;
  std::uint64_t keep_until_ = 0; ///< the number of the first page that is not kept for what came before it
  mutable bool missed_ = false;
};

} // namespace quarry::inspect
