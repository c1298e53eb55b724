#include "zip/pipeline.hpp"

#include "thread/guard.hpp"
#include "zip/piece.hpp"
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <fmt/core.h>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace quarry::zip {

namespace {

// Chunks in flight for each worker: enough that a slow chunk (dense) does not stop the others, few enough to stay small
// (2 MiB each).
constexpr std::size_t k_window_per_worker = 4, k_window_extra = 2;

/// What the chunks of some entries need: two small files do not need buffers of two whole chunks, 4 MiB.
struct ChunkRoom {
  std::size_t history = 0, data = 0;
};

ChunkRoom room_for(std::span<const Entry> entries) {
  ChunkRoom room;
  for (const auto& e : entries) {
    if (e.data.size() > codec::k_chunk_bytes) room.history = codec::k_history_bytes;
    room.data =
        std::max(room.data, static_cast<std::size_t>(std::min<std::uint64_t>(codec::k_chunk_bytes, e.data.size())));
  }
  return room;
}

struct Slot {
  explicit Slot(const ChunkRoom& room) : input(room.history + room.data), output(codec::encoded_bytes_max(room.data)) {}
  std::vector<std::byte> input, output;
  PackedChunk chunk;
  std::span<const std::byte> history; ///< the bytes before the chunk
  bool whole_entry = false;
  // Guarded by Progress::mutex.
  bool loaded = false, packed = false, hashed = false;
  std::optional<Error> error;
};

/// Cuts the entries into chunks, in their order. One thread at a time.
class Cutter {
public:
  Cutter(std::span<const Entry> entries, codec::Profile profile) : entries_(entries), profile_(profile) {}

  std::size_t count_chunks() const {
    std::size_t n = 0;
    for (const auto& e : entries_)
      n += std::max<std::size_t>(1, (e.data.size() + codec::k_chunk_bytes - 1) / codec::k_chunk_bytes);
    return n;
  }

  /// Says in `s` which bytes the next chunk consists of. Reads nothing.
  void cut(Slot& s) {
    const auto& e = entries_[entry_];
    s.chunk = {};
    s.chunk.entry = entry_;
    s.chunk.offset = offset_;
    auto n = std::min<std::uint64_t>(codec::k_chunk_bytes, e.data.size() - offset_);
    offset_ += n;
    s.chunk.last = offset_ == e.data.size();
    s.whole_entry = s.chunk.last && s.chunk.offset == 0;
    auto before = profile_ == codec::Profile::stored
                      ? 0
                      : static_cast<std::size_t>(std::min<std::uint64_t>(codec::k_history_bytes, s.chunk.offset));
    s.history = std::span(s.input).first(before);
    s.chunk.data = std::span(s.input).subspan(before, static_cast<std::size_t>(n));
    if (s.chunk.last) ++entry_, offset_ = 0;
  }

private:
  std::span<const Entry> entries_;
  codec::Profile profile_;
  std::size_t entry_ = 0; ///< the next chunk begins here, at offset_
  std::uint64_t offset_ = 0;
};

/// How far the chunks are: what the threads of one pipeline tell each other.
struct Progress {
  std::mutex mutex;
  // One for each kind of waiter: woken for what does not concern them, they cost 2 % of a build's processor time.
  std::condition_variable room;   ///< the workers wait for a free slot
  std::condition_variable loaded; ///< the hashing thread for the bytes of the next chunk
  std::condition_variable done;   ///< the consumer for the next chunk, packed and hashed
  // Guarded by the mutex.
  std::size_t claimed = 0, delivered = 0; ///< chunks
  bool stopped = false;
  std::optional<Error> thrown; ///< by a thread of ours

  /// Changes what the mutex guards, and wakes one of those who wait for it.
  template <class Change> void update(std::condition_variable& waiters, Change change) {
    {
      std::lock_guard lock(mutex);
      change();
    }
    waiters.notify_one();
  }
  template <class Change> void stop(Change change) {
    {
      std::lock_guard lock(mutex);
      change();
      stopped = true;
    }
    for (auto* waiters : {&room, &loaded, &done}) waiters->notify_all();
  }
  /// Waits until `ready()`; false when the pipeline stops.
  template <class Ready> bool wait(std::condition_variable& waiters, std::unique_lock<std::mutex>& lock, Ready ready) {
    waiters.wait(lock, [&] { return stopped || ready(); });
    return !stopped;
  }
};

/// Reads and packs one chunk; with the digest of an entry that it holds whole.
class Packer {
public:
  /// `zeros` is as long as the longest chunk.
  Packer(std::span<const Entry> entries, codec::Profile profile, std::span<const std::byte> zeros)
      : entries_(entries), profile_(profile), zeros_(zeros), encoder_(profile) {}

  Result<void> read(Slot& s) const {
    auto& c = s.chunk;
    const auto& data = entries_[c.entry].data;
    const auto begin = c.offset - s.history.size(), size = s.history.size() + c.data.size();
    if (!is_zeros(data, begin, size)) return data.read(begin, std::span(s.input).first(size));
    // What thinning leaves: a thousand chunks that need not be written to memory.
    s.history = zeros_.first(s.history.size());
    c.data = zeros_.first(c.data.size());
    return {};
  }
  Result<void> pack(Slot& s) {
    auto& c = s.chunk;
    c.crc = crc_of(c.data);
    TRY_DO(encode(s));
    if (!s.whole_entry) return {};
    hasher_.update(c.data);
    c.sha256 = hasher_.finish();
    return {};
  }

private:
  std::uint32_t crc_of(std::span<const std::byte> data) {
    if (data.data() != zeros_.data()) return crc32(0, data);
    if (data.size() != crc_of_zeros_.first) crc_of_zeros_ = {data.size(), crc32(0, data)};
    return crc_of_zeros_.second;
  }
  Result<void> encode(Slot& s) {
    auto& c = s.chunk;
    if (profile_ == codec::Profile::stored || c.data.empty()) {
      c.packed = c.data;
      return {};
    }
    TRY(bool taken, take_from_old_stream(s));
    if (taken) return {};
    auto encoded = encoder_.encode({c.data, s.history, c.last}, s.output);
    c.method = encoded.method;
    c.packed = std::span(s.output).first(encoded.size);
    return {};
  }
  Result<bool> take_from_old_stream(Slot& s) {
    auto& c = s.chunk;
    const auto& old = entries_[c.entry].old_stream;
    if (!old || c.last) return false;
    auto place = old->chunks.find(c.offset / codec::k_chunk_bytes);
    if (place == old->chunks.end() || place->second.size > s.output.size()) return false;
    auto packed = std::span(s.output).first(place->second.size);
    TRY_DO(old->bytes.read(place->second.begin, packed));
    if (!inflater_) inflater_ = std::make_unique<PieceInflater>();
    if (!inflater_->gives({packed, s.history, false}, c.data)) return false;
    c.method = codec::ChunkMethod::dense;
    c.packed = packed;
    c.taken = true;
    return true;
  }

  std::span<const Entry> entries_;
  codec::Profile profile_;
  std::span<const std::byte> zeros_;
  std::pair<std::size_t, std::uint32_t> crc_of_zeros_ = {}; ///< of that many
  codec::ChunkEncoder encoder_;
  std::unique_ptr<PieceInflater> inflater_ = {}; ///< made when the first chunk needs it
  Sha256Hasher hasher_;
};

class Pipeline {
public:
  Pipeline(std::span<const Entry> entries, codec::Profile profile, unsigned workers)
      : entries_(entries), profile_(profile), workers_(std::max(1u, workers)), cutter_(entries, profile),
        total_(cutter_.count_chunks()) {
    auto room = room_for(entries);
    memory_.zeros.resize(room.data);
    auto count = std::min(total_, workers_ * k_window_per_worker + k_window_extra);
    memory_.slots.reserve(count);
    for (std::size_t i = 0; i < count; ++i) memory_.slots.emplace_back(room);
  }

  Result<void> run(const ChunkConsumer& consume) {
    // Stopped before the threads are joined, also when `consume` throws: they would wait for room for ever.
    struct Threads {
      Progress& progress;
      std::vector<std::jthread> all;
      ~Threads() {
        progress.stop([] {});
      }
    } threads{progress_, {}};
    TRY_DO(guarded([&]() -> Result<void> { // the system may start no more threads
      for (unsigned i = 0; i < std::min<std::size_t>(workers_, total_); ++i)
        threads.all.emplace_back([this] { run_thread([this] { work(); }); });
      threads.all.emplace_back([this] { run_thread([this] { hash_large_entries(); }); });
      return {};
    }));
    return deliver(consume);
  }

private:
  template <class Work> void run_thread(const Work& work) {
    auto done = guarded([&]() -> Result<void> {
      work();
      return {};
    });
    if (done) return;
    progress_.stop([&] { progress_.thrown = std::move(done).error().with_context("while packing"); });
  }

  Slot& slot(std::size_t number) { return memory_.slots[number % memory_.slots.size()]; }

  /// The next chunk, once a slot is free; null after the last one, or when the pipeline stops.
  Slot* claim() {
    std::unique_lock lock(progress_.mutex);
    auto& p = progress_;
    if (!p.wait(p.room, lock, [&] { return p.claimed == total_ || p.claimed < p.delivered + memory_.slots.size(); }))
      return nullptr;
    if (p.claimed == total_) return nullptr;
    auto& s = slot(p.claimed++);
    cutter_.cut(s);
    return &s;
  }

  void work() {
    Packer packer(entries_, profile_, memory_.zeros);
    while (auto* s = claim()) {
      if (auto read = packer.read(*s); !read) {
        progress_.update(progress_.done, [&] {
          s->error = std::move(read).error();
          s->loaded = s->packed = s->hashed = true;
        });
        progress_.loaded.notify_one();
        continue;
      }
      progress_.update(progress_.loaded, [&] { s->loaded = true; });
      auto packed = packer.pack(*s);
      progress_.update(progress_.done, [&] {
        s->packed = true;
        if (s->whole_entry || !packed) s->hashed = true;
        if (!packed) s->error = std::move(packed).error();
      });
    }
  }

  // SHA-256 is one lane for a file, so files of several chunks are digested here, in order, beside the deflating.
  void hash_large_entries() {
    Sha256Hasher hasher;
    auto& p = progress_;
    for (std::size_t number = 0; number < total_; ++number) {
      auto& s = slot(number);
      {
        std::unique_lock lock(p.mutex);
        if (!p.wait(p.loaded, lock, [&] { return number < p.delivered || (number < p.claimed && s.loaded); })) return;
        if (number < p.delivered || s.whole_entry || s.error) continue;
      }
      hasher.update(s.chunk.data);
      if (s.chunk.last) s.chunk.sha256 = hasher.finish();
      p.update(p.done, [&] { s.hashed = true; });
    }
  }

  Result<void> deliver(const ChunkConsumer& consume) {
    auto& p = progress_;
    for (std::size_t number = 0; number < total_; ++number) {
      auto& s = slot(number);
      {
        std::unique_lock lock(p.mutex);
        bool ready = p.wait(p.done, lock, [&] { return number < p.claimed && s.packed && s.hashed; });
        if (p.thrown) return fail(*p.thrown);
        if (ready && s.error) return fail(std::move(*s.error));
      }
      TRY_DO(consume(s.chunk));
      p.update(p.room, [&] {
        s.loaded = s.packed = s.hashed = false;
        ++p.delivered;
      });
    }
    return {};
  }

  std::span<const Entry> entries_;
  codec::Profile profile_;
  unsigned workers_;
  Cutter cutter_; ///< guarded by the mutex of progress_
  std::size_t total_;
  struct Memory {
    std::vector<Slot> slots;
    std::vector<std::byte> zeros; ///< the bytes of all chunks that are zeros
  };
  Memory memory_;
  Progress progress_;
};

} // namespace

Result<void> run_pipeline(std::span<const Entry> entries, codec::Profile profile, unsigned workers,
                          const ChunkConsumer& consume) {
  if (entries.empty()) return {};
  return Pipeline(entries, profile, workers).run(consume);
}

} // namespace quarry::zip
