#include "codec/frames.hpp"

#include "codec/compression_codecs.hpp"
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>

namespace quarry::codec {

namespace {
using Key = std::pair<const void*, std::size_t>; // the stream, the number of the frame
using Shared = std::shared_ptr<const Buffer>;

struct Decoded {
  Key key;
  bool ready = false;
  std::uint64_t size = 0; // what it holds or will hold
  Shared bytes;
};
} // namespace

struct FrameCache::State {
  explicit State(std::uint64_t max) : bytes_max(max) {}
  std::uint64_t bytes_max, bytes = 0;
  // Shared with the buffers it has handed out, which may live longer than the cache.
  std::shared_ptr<BufferPools> pools = std::make_shared<BufferPools>();
  std::mutex mutex;
  std::condition_variable changed;
  std::list<Decoded> entries; // the most recently used first

  std::list<Decoded>::iterator find(const Key& key) {
    return std::find_if(entries.begin(), entries.end(), [&](const Decoded& d) { return d.key == key; });
  }
  std::list<Decoded>::iterator claim(const Key& key, std::uint64_t size) {
    entries.push_front({key, false, size, nullptr});
    bytes += size;
    for (auto it = entries.end(); bytes > bytes_max && it != entries.begin();) {
      --it;
      if (!it->ready) continue;
      bytes -= it->size;
      it = entries.erase(it);
    }
    return entries.begin();
  }
  void forget(std::list<Decoded>::iterator it) {
    bytes -= it->size;
    entries.erase(it);
  }
};

FrameCache::FrameCache(std::uint64_t bytes_max) : state_(std::make_unique<State>(bytes_max)) {}
FrameCache::~FrameCache() = default;

namespace {

class Frames final : public content::Source {
public:
  Frames(content::Rope packed, Compression compression, std::vector<StreamFrame> frames,
         std::shared_ptr<FrameCache> cache)
      : packed_(std::move(packed)), compression_(compression), frames_(std::move(frames)), cache_(std::move(cache)) {}

  ~Frames() override {
    auto& c = cache_->state();
    std::lock_guard lock(c.mutex);
    for (auto it = c.entries.begin(); it != c.entries.end();) {
      auto here = it++;
      if (here->key.first == this) c.forget(here);
    }
  }

  std::uint64_t size() const override { return frames_.empty() ? 0 : frames_.back().offset + frames_.back().size; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    auto after = std::upper_bound(frames_.begin(), frames_.end(), offset,
                                  [](std::uint64_t o, const StreamFrame& f) { return o < f.offset; });
    for (auto number = static_cast<std::size_t>(after - frames_.begin()) - 1; !into.empty(); ++number) {
      TRY(auto frame, get(number));
      auto skip = offset - frames_[number].offset;
      auto n = std::min<std::uint64_t>(into.size(), frame->size - skip);
      std::memcpy(into.data(), frame->memory.get() + skip, n);
      into = into.subspan(n);
      offset += n;
    }
    return {};
  }

private:
  Result<Shared> get(std::size_t number) const {
    auto& c = cache_->state();
    std::unique_lock lock(c.mutex);
    for (bool looked_ahead = false;;) {
      auto it = c.find({this, number});
      if (it == c.entries.end()) return decode(number, lock);
      if (it->ready) {
        c.entries.splice(c.entries.begin(), c.entries, it);
        return it->bytes;
      }
      // Somebody makes this one. Readers go forward, so the next one is wanted soon; if it is damaged, the read that
      // wants it says so.
      auto next = number + 1;
      bool idle = !looked_ahead && next < frames_.size() && c.bytes + frames_[next].size <= c.bytes_max &&
                  c.find({this, next}) == c.entries.end();
      if (idle) {
        looked_ahead = true;
        static_cast<void>(decode(next, lock));
      } else {
        c.changed.wait(lock);
      }
    }
  }

  Result<Shared> decode(std::size_t number, std::unique_lock<std::mutex>& lock) const {
    auto& c = cache_->state();
    auto entry = c.claim({this, number}, frames_[number].size);
    lock.unlock();
    auto bytes = decoded(frames_[number]);
    lock.lock();
    c.changed.notify_all();
    if (!bytes) {
      c.forget(entry);
      return fail(std::move(bytes).error());
    }
    entry->ready = true;
    entry->bytes = *bytes;
    return *bytes;
  }

  Result<Shared> decoded(const StreamFrame& frame) const {
    auto packed_buffer = buffer(&BufferPools::packed, frame.packed_size), out = buffer(&BufferPools::plain, frame.size);
    auto packed = packed_buffer->all().first(frame.packed_size);
    TRY_DO(packed_.read(frame.packed_offset, packed));
    auto into = out->all().first(frame.size);
    TRY_DO(compression_ == Compression::zstd ? decode_zstd_frame(packed, into)
                                             : decode_xz_block(packed, frame.check, into));
    return Shared(std::move(out));
  }

  std::shared_ptr<Buffer> buffer(BufferPool BufferPools::* use, std::uint64_t size) const {
    auto pools = cache_->state().pools;
    auto taken = ((*pools).*use).take(size);
    taken.size = size;
    return {new Buffer(std::move(taken)), [pools, use](Buffer* b) {
              ((*pools).*use).give_back(std::move(*b));
              delete b;
            }};
  }

  content::Rope packed_;
  Compression compression_;
  std::vector<StreamFrame> frames_;
  std::shared_ptr<FrameCache> cache_;
};

} // namespace

Result<std::optional<std::vector<StreamFrame>>> find_frames(const content::Rope& packed, Compression compression) {
  if (compression == Compression::zstd) return zstd_frames(packed);
  if (compression == Compression::xz) return xz_blocks(packed);
  return std::optional<std::vector<StreamFrame>>{};
}

std::shared_ptr<const content::Source> open_frames(content::Rope packed, Compression compression,
                                                   std::vector<StreamFrame> frames, std::shared_ptr<FrameCache> cache) {
  return std::make_shared<Frames>(std::move(packed), compression, std::move(frames), std::move(cache));
}

} // namespace quarry::codec
