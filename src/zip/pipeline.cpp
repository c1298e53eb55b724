#include "zip/pipeline.hpp"

#include "thread/guard.hpp"
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <fmt/core.h>
#include <mutex>
#include <optional>
#include <thread>

namespace quarry::zip {

namespace {

// Chunks in flight for each worker: enough that a slow chunk (dense) does not stop the others, few enough to stay small
// (2 MiB each).
constexpr std::size_t k_window_per_worker = 4, k_window_extra = 2;

struct Slot {
  std::vector<std::byte> input = std::vector<std::byte>(codec::k_history_bytes + codec::k_chunk_bytes);
  std::vector<std::byte> output = std::vector<std::byte>(codec::encoded_bytes_max(codec::k_chunk_bytes));
  PackedChunk chunk;
  std::size_t history = 0;
  bool whole_entry = false;
  // Guarded by the pipeline's mutex.
  bool loaded = false, packed = false, hashed = false;
  std::optional<Error> error;
};

class Pipeline {
public:
  Pipeline(std::span<const Entry> entries, codec::Profile profile, unsigned workers)
      : entries_(entries), profile_(profile), workers_(std::max(1u, workers)), total_(count_chunks(entries)),
        slots_(std::min(total_, workers_ * k_window_per_worker + k_window_extra)) {}

  Result<void> run(const ChunkConsumer& consume) {
    // Stopped before the threads are joined, also when `consume` throws: they would wait for room for ever.
    struct Threads {
      Pipeline& pipeline;
      std::vector<std::jthread> all;
      ~Threads() { pipeline.stop(); }
    } threads{*this, {}};
    for (unsigned i = 0; i < std::min<std::size_t>(workers_, total_); ++i)
      threads.all.emplace_back([this] { run_thread([this] { work(); }); });
    threads.all.emplace_back([this] { run_thread([this] { hash_large_entries(); }); });
    return deliver(consume);
  }

private:
  static std::size_t chunks_of(const Entry& e) {
    return std::max<std::size_t>(1, (e.data.size() + codec::k_chunk_bytes - 1) / codec::k_chunk_bytes);
  }
  static std::size_t count_chunks(std::span<const Entry> entries) {
    std::size_t n = 0;
    for (const auto& e : entries) n += chunks_of(e);
    return n;
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  template <class Work> void run_thread(const Work& work) {
    auto done = guarded([&]() -> Result<void> {
      work();
      return {};
    });
    if (done) return;
    std::lock_guard lock(mutex_);
    thrown_ = std::move(done).error().with_context("while packing");
    stopped_ = true;
    changed_.notify_all();
  }

  Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  // Waits until `ready()`; false when the pipeline stops.
  template <class Ready> bool wait(std::unique_lock<std::mutex>& lock, Ready ready) {
    changed_.wait(lock, [&] { return stopped_ || ready(); });
    return !stopped_;
  }

  Slot* claim() {
    std::unique_lock lock(mutex_);
    if (next_ == total_ || !wait(lock, [&] { return next_ == total_ || next_ < delivered_ + slots_.size(); }) ||
        next_ == total_)
      return nullptr;
    auto& s = slot(next_++);
    const auto& e = entries_[entry_];
    s.chunk = {};
    s.chunk.entry = entry_;
    s.chunk.offset = offset_;
    auto n = std::min<std::uint64_t>(codec::k_chunk_bytes, e.data.size() - offset_);
    offset_ += n;
    s.chunk.last = offset_ == e.data.size();
    s.whole_entry = s.chunk.last && s.chunk.offset == 0;
    s.history = profile_ == codec::Profile::stored
                    ? 0
                    : static_cast<std::size_t>(std::min<std::uint64_t>(codec::k_history_bytes, s.chunk.offset));
    s.chunk.data = std::span(s.input).subspan(s.history, static_cast<std::size_t>(n));
    if (s.chunk.last) ++entry_, offset_ = 0;
    return &s;
  }

  void mark(Slot& s, bool Slot::* flag) {
    std::lock_guard lock(mutex_);
    s.*flag = true;
    changed_.notify_all();
  }

  void work() {
    codec::ChunkEncoder encoder(profile_);
    Sha256Hasher hasher;
    while (auto* s = claim()) {
      auto& c = s->chunk;
      auto read =
          entries_[c.entry].data.read(c.offset - s->history, std::span(s->input).first(s->history + c.data.size()));
      if (!read) {
        std::lock_guard lock(mutex_);
        s->error = std::move(read).error();
        s->loaded = s->packed = s->hashed = true;
        changed_.notify_all();
        continue;
      }
      if (!s->whole_entry) mark(*s, &Slot::loaded);
      c.crc = crc32(0, c.data);
      pack(encoder, *s);
      if (s->whole_entry) {
        hasher.update(c.data);
        c.sha256 = hasher.finish();
      }
      std::lock_guard lock(mutex_);
      s->packed = true;
      if (s->whole_entry) s->loaded = s->hashed = true;
      changed_.notify_all();
    }
  }

  void pack(codec::ChunkEncoder& encoder, Slot& s) const {
    auto& c = s.chunk;
    if (profile_ == codec::Profile::stored || c.data.empty()) {
      c.packed = c.data;
      return;
    }
    auto encoded = encoder.encode({c.data, std::span(s.input).first(s.history), c.last}, s.output);
    c.method = encoded.method;
    c.packed = std::span(s.output).first(encoded.size);
  }

  // SHA-256 is one lane for a file, so files of several chunks are digested here, in order, beside the deflating.
  void hash_large_entries() {
    Sha256Hasher hasher;
    for (std::size_t number = 0; number < total_; ++number) {
      auto& s = slot(number);
      {
        std::unique_lock lock(mutex_);
        if (!wait(lock, [&] { return number < delivered_ || (number < next_ && s.loaded); })) return;
        if (number < delivered_ || s.whole_entry || s.error) continue;
      }
      hasher.update(s.chunk.data);
      if (s.chunk.last) s.chunk.sha256 = hasher.finish();
      mark(s, &Slot::hashed);
    }
  }

  Result<void> deliver(const ChunkConsumer& consume) {
    for (std::size_t number = 0; number < total_; ++number) {
      auto& s = slot(number);
      {
        std::unique_lock lock(mutex_);
        bool ready = wait(lock, [&] { return number < next_ && s.packed && s.hashed; });
        if (thrown_) return fail(*thrown_);
        if (ready && s.error) return fail(std::move(*s.error));
      }
      TRY_DO(consume(s.chunk));
      std::lock_guard lock(mutex_);
      s.loaded = s.packed = s.hashed = false;
      ++delivered_;
      changed_.notify_all();
    }
    return {};
  }

  std::span<const Entry> entries_;
  codec::Profile profile_;
  unsigned workers_;
  std::size_t total_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_: the next chunk to claim, and how many have been delivered.
  std::size_t next_ = 0, delivered_ = 0, entry_ = 0;
  std::uint64_t offset_ = 0;
  bool stopped_ = false;
  std::optional<Error> thrown_; ///< by a thread of ours
};

} // namespace

Result<void> run_pipeline(std::span<const Entry> entries, codec::Profile profile, unsigned workers,
                          const ChunkConsumer& consume) {
  if (entries.empty()) return {};
  return Pipeline(entries, profile, workers).run(consume);
}

} // namespace quarry::zip
