#include "content/rope.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/identity.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fmt/core.h>
#include <mutex>
#include <optional>

namespace quarry::content {

namespace {

class Literal final : public Source {
public:
  explicit Literal(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }

private:
  std::string bytes_;
};

// Opens on demand and keeps the descriptor in a cache of few, so that a wheel of 100,000 files stays below any ulimit.
// What is read is one state of one file: each opening, and the read that reaches the end, compare it with the first
// opening. A file that grows, shrinks, is written to or replaced meanwhile would be packed as a mixture that looks
// sound.
class FileSource final : public Source {
public:
  FileSource(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (into.size() == size_ && !kept_) { // the whole file: nothing is left to read, so no descriptor need be kept
      TRY(auto file, opened());
      return read_from(file, offset, into);
    }
    TRY(auto file, descriptor());
    return read_from(*file, offset, into);
  }
  void prefetch(std::uint64_t offset, std::uint64_t length) const override {
    if (auto file = descriptor()) (*file)->prefetch(offset, length);
  }

private:
  struct Cache {
    std::mutex mutex;
    std::array<std::pair<const FileSource*, std::shared_ptr<sys::File>>, 64> slots;
    std::size_t next = 0;
  };
  static Cache& cache() {
    static Cache instance;
    return instance;
  }
  Result<void> read_from(const sys::File& file, std::uint64_t offset, std::span<std::byte> into) const {
    TRY(auto n, file.read_at(offset, into), "while reading " + path_);
    if (n != into.size()) return changed();
    return offset + into.size() == size_ ? check(file) : Result<void>{};
  }
  Result<sys::File> opened() const {
    TRY(auto file, sys::File::open_read(path_));
    TRY_DO(check(file));
    return file;
  }
  Unexpected changed() const {
    return fail(ErrorKind::corrupt, "D008", fmt::format("{} changed while it was read", path_),
                "something else writes to it: run the command again when it is done");
  }
  // The first time, this is the state that all others are compared with.
  Result<void> check(const sys::File& file) const {
    TRY(auto now, sys::identity_of(file), "while reading " + path_);
    std::lock_guard lock(first_mutex_);
    if (!first_) first_ = now;
    return now == *first_ && now.size == size_ ? Result<void>{} : Result<void>(changed());
  }
  Result<std::shared_ptr<sys::File>> descriptor() const {
    auto& c = cache();
    {
      std::lock_guard lock(c.mutex);
      for (auto& [owner, file] : c.slots)
        if (owner == this && file) return file;
    }
    TRY(auto fresh, opened());
    auto file = std::make_shared<sys::File>(std::move(fresh));
    std::lock_guard lock(c.mutex);
    kept_ = true;
    c.slots[c.next++ % c.slots.size()] = {this, file};
    return file;
  }

public:
  ~FileSource() override {
    if (!kept_) return;
    auto& c = cache();
    std::lock_guard lock(c.mutex);
    for (auto& slot : c.slots)
      if (slot.first == this) slot = {};
  }

private:
  std::string path_;
  std::uint64_t size_;
  mutable std::atomic<bool> kept_ = false; // a descriptor has been in the cache
  mutable std::mutex first_mutex_;
  mutable std::optional<sys::FileIdentity> first_;
};

} // namespace

Rope Rope::literal(std::string bytes) { return of(std::make_shared<Literal>(std::move(bytes))); }
Rope Rope::zeros(std::uint64_t count) {
  Rope rope;
  rope.push({0, count, nullptr, 0});
  return rope;
}
Rope Rope::of(std::shared_ptr<const Source> source) {
  Rope rope;
  auto size = source->size();
  rope.push({0, size, std::move(source), 0});
  return rope;
}
Result<Rope> Rope::file(const std::string& path) {
  TRY(auto file, sys::File::open_read(path));
  TRY(auto size, file.size());
  return Rope::file(path, size);
}
Rope Rope::file(const std::string& path, std::uint64_t size) { return of(std::make_shared<FileSource>(path, size)); }

void Rope::push(Piece piece) {
  if (piece.length == 0) return;
  if (!pieces_.empty()) {
    auto& last = pieces_.back();
    bool continues = last.source == piece.source && (!piece.source || last.offset + last.length == piece.offset);
    if (continues) {
      last.length += piece.length;
      size_ += piece.length;
      return;
    }
  }
  piece.begin = size_;
  size_ += piece.length;
  pieces_.push_back(std::move(piece));
}

std::size_t Rope::piece_at(std::uint64_t offset) const {
  auto it = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                             [](std::uint64_t o, const Piece& p) { return o < p.begin; });
  return static_cast<std::size_t>(it - pieces_.begin()) - 1;
}

Rope Rope::slice(std::uint64_t offset, std::uint64_t length) const {
  Rope out;
  if (length == 0) return out;
  for (auto i = piece_at(offset); length > 0; ++i) {
    const auto& p = pieces_.at(i);
    auto skip = offset - p.begin;
    auto take = std::min(length, p.length - skip);
    out.push({0, take, p.source, p.source ? p.offset + skip : 0});
    offset += take;
    length -= take;
  }
  return out;
}

Rope& Rope::append(const Rope& other) {
  for (auto piece : std::vector<Piece>(other.pieces_)) push(std::move(piece));
  return *this;
}

Rope Rope::overlay(std::uint64_t offset, std::string bytes) const {
  auto length = bytes.size();
  Rope out = slice(0, offset);
  out.append(literal(std::move(bytes)));
  out.append(slice(offset + length, size_ - offset - length));
  return out;
}

void Rope::prefetch(std::uint64_t offset, std::uint64_t length) const {
  if (offset >= size_) return;
  for (const auto& piece : slice(offset, std::min(length, size_ - offset)).pieces_)
    if (piece.source) piece.source->prefetch(piece.offset, piece.length);
}

Result<void> Rope::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (into.empty()) return {};
  if (offset > size_ || into.size() > size_ - offset)
    return fail(ErrorKind::internal, "D008",
                fmt::format("a read of {} bytes at {} leaves a rope of {}", into.size(), offset, size_));
  for (auto i = piece_at(offset); !into.empty(); ++i) {
    const auto& p = pieces_[i];
    auto skip = offset - p.begin;
    auto take = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), p.length - skip));
    if (p.source)
      TRY_DO(p.source->read(p.offset + skip, into.first(take)));
    else
      std::memset(into.data(), 0, take);
    into = into.subspan(take);
    offset += take;
  }
  return {};
}

Result<std::string> Rope::read_all(std::uint64_t max_bytes) const {
  if (size_ > max_bytes)
    return fail(ErrorKind::resource_exhausted, "D003",
                fmt::format("{} bytes are more than the {} that are read at once", size_, max_bytes));
  std::string out(size_, '\0');
  TRY_DO(read(0, std::as_writable_bytes(std::span(out))));
  return out;
}

bool same_piece(RopePlace a, RopePlace b, std::uint64_t length) {
  auto left = a.rope.slice(a.offset, length), right = b.rope.slice(b.offset, length);
  if (left.pieces_.size() != right.pieces_.size()) return false;
  for (std::size_t i = 0; i < left.pieces_.size(); ++i) {
    const auto &l = left.pieces_[i], &r = right.pieces_[i];
    if (l.source != r.source || l.offset != r.offset || l.length != r.length) return false;
  }
  return true;
}

Result<void> pump(const Rope& rope, const std::function<Result<void>(std::span<const std::byte>)>& tap) {
  constexpr std::size_t k_chunk = 1u << 20;
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(k_chunk, rope.size())));
  for (std::uint64_t offset = 0; offset < rope.size(); offset += buffer.size()) {
    auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), rope.size() - offset));
    auto part = std::span(buffer).first(n);
    TRY_DO(rope.read(offset, part));
    TRY_DO(tap(part));
  }
  return {};
}

Result<Sha256> sha256_of(const Rope& rope) {
  Sha256Hasher hasher;
  TRY_DO(pump(rope, [&](std::span<const std::byte> chunk) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    hasher.update(chunk);
    return {};
  }));
  return hasher.finish();
}

Result<Sha256> sha256_of_file(const std::string& path) {
  TRY(auto rope, Rope::file(path));
  return sha256_of(rope);
}

} // namespace quarry::content
