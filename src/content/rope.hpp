#pragma once
// Ropes: immutable content as a list of slices over old bytes. Setting an RPATH or adding a member makes a new rope in
// microseconds; bytes move once, when they leave.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::content {

/// Bytes that can be read at any place, by several threads at once. Immutable for as long as it lives.
class Source {
public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills the whole span; [offset, offset + into.size()) lies inside size(). A file that changed since it was
  /// first opened is corrupt (D008).
  virtual Result<void> read(std::uint64_t offset, std::span<std::byte> into) const = 0;
  /// A hint: these bytes are read soon. Many small places that are said first and read then come side by side.
  virtual void prefetch(std::uint64_t offset, std::uint64_t length) const {
    static_cast<void>(offset), static_cast<void>(length);
  }
};

class Rope {
public:
  Rope() = default;
  static Rope literal(std::string bytes);
  static Rope zeros(std::uint64_t count);
  static Rope of(std::shared_ptr<const Source> source);
  /// The file at `path`, opened at first use and closed again by a small shared cache: a rope of 100,000 files holds
  /// few descriptors.
  static Result<Rope> file(const std::string& path);
  static Rope file(const std::string& path,
                   std::uint64_t size); ///< as it was listed: D008 when the first read finds another

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t piece_count() const { return pieces_.size(); }
  Rope slice(std::uint64_t offset, std::uint64_t length) const; ///< must lie inside
  Rope& append(const Rope& other);
  /// A rope in which [offset, offset + bytes.size()) reads as `bytes`.
  Rope overlay(std::uint64_t offset, std::string bytes) const;

  /// Fills the whole span; must lie inside. Thread-safe.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  void prefetch(std::uint64_t offset, std::uint64_t length) const; ///< Source::prefetch; what lies outside is left out
  Result<std::string> read_all(std::uint64_t max_bytes) const;     ///< resource_exhausted D003 above the bound
  friend bool same_piece(struct RopePlace a, struct RopePlace b, std::uint64_t length);

private:
  struct Piece {
    std::uint64_t begin = 0; // position in the rope
    std::uint64_t length = 0;
    std::shared_ptr<const Source> source; // null: zeros
    std::uint64_t offset = 0;             // position in the source
  };
  std::size_t piece_at(std::uint64_t offset) const;
  void push(Piece piece);
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

struct RopePlace {
  const Rope& rope;
  std::uint64_t offset;
};
/// Whether the next `length` bytes at both places are the same ranges of the same sources: an edit that did not touch
/// them is proven without reading them.
bool same_piece(RopePlace a, RopePlace b, std::uint64_t length);

/// The pump: reads a rope once, in chunks of 1 MiB into one reused buffer, and hands each chunk to every tap.
Result<void> pump(const Rope& rope, const std::function<Result<void>(std::span<const std::byte>)>& tap);
Result<Sha256> sha256_of(const Rope& rope);
Result<Sha256> sha256_of_file(const std::string& path);

} // namespace quarry::content
