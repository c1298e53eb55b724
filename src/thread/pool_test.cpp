#include "thread/pool.hpp"

#include "thread/beside.hpp"
#include "thread/guard.hpp"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <latch>
#include <numeric>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace quarry {
namespace {

TEST(ParallelFor, RunsEachTaskOnce) {
  for (unsigned workers : {0u, 1u, 2u, 5u, 100u})
    for (std::size_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> runs(count);
      ASSERT_TRUE(parallel_for(count, workers, [&](std::size_t i) -> Result<void> {
        ++runs[i];
        return {};
      }));
      EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
    }
}

TEST(ParallelFor, UsesTheCallerAndNoMoreThreadsThanAsked) {
  std::mutex mutex;
  std::vector<std::thread::id> ids;
  ASSERT_TRUE(parallel_for(500, 3, [&](std::size_t) -> Result<void> {
    std::lock_guard lock(mutex);
    if (std::find(ids.begin(), ids.end(), std::this_thread::get_id()) == ids.end())
      ids.push_back(std::this_thread::get_id());
    return {};
  }));
  EXPECT_LE(ids.size(), 3u);
}

// Both fail at the same time; whichever thread is first, the answer is the same.
TEST(ParallelFor, ReturnsTheErrorWithTheLowestNumber) {
  for (int round = 0; round < 200; ++round) {
    std::latch both(2);
    auto result = parallel_for(2, 2, [&](std::size_t i) -> Result<void> {
      both.arrive_and_wait();
      return fail(ErrorKind::failed, "X" + std::to_string(i), "no");
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "X0");
  }
}

TEST(ParallelFor, StartsNothingAfterAFailure) {
  std::atomic<int> started{0};
  auto result = parallel_for(1000, 1, [&](std::size_t i) -> Result<void> {
    ++started;
    if (i == 3) return fail(ErrorKind::failed, "X3", "no");
    return {};
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(started, 4);
}

// Without the guard a thread that throws ends the whole program.
TEST(ParallelFor, ATaskThatThrowsHasFailed) {
  struct Row {
    std::function<void()> thrown;
    ErrorKind kind;
    const char* code;
  };
  for (const auto& row : {Row{[] { throw std::bad_alloc(); }, ErrorKind::resource_exhausted, "D003"},
                          Row{[] { throw std::runtime_error("broken"); }, ErrorKind::internal, "D016"},
                          Row{[] { throw 7; }, ErrorKind::internal, "D016"}})
    for (unsigned workers : {1u, 4u}) {
      auto result = parallel_for(100, workers, [&](std::size_t i) -> Result<void> {
        if (i == 5) row.thrown();
        return {};
      });
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().kind, row.kind);
      EXPECT_EQ(result.error().code, row.code);
    }
}

// While it lives, the system refuses new threads, as at a limit of processes: no address space holds such a stack.
class NoMoreThreads {
public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 52);
    pthread_setattr_default_np(&huge);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;

private:
  pthread_attr_t before_{};
};

TEST(ParallelFor, SaysThatNoThreadCanBeStarted) {
  NoMoreThreads refused;
  EXPECT_TRUE(parallel_for(3, 1, [](std::size_t) -> Result<void> { return {}; })) << "the caller needs no thread";
  auto result = parallel_for(3, 2, [](std::size_t) -> Result<void> { return {}; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::resource_exhausted);
  EXPECT_EQ(result.error().code, "D003");
  EXPECT_NE(result.error().hint.find("ulimit -u"), std::string::npos);
}

TEST(RunBeside, RunsOnAThreadOfItsOwn) {
  auto id = run_beside([] { return std::this_thread::get_id(); });
  EXPECT_NE(id.get(), std::this_thread::get_id());
}

TEST(RunBeside, RunsInGetWhereNoThreadCanBeStarted) {
  NoMoreThreads refused;
  std::string text = "moved once";
  auto result = run_beside(
      [text = std::move(text)]() mutable { return guarded([&]() -> Result<std::string> { return std::move(text); }); });
  auto got = result.get();
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, "moved once");
}

TEST(BoundedQueue, DeliversEverythingOnce) {
  BoundedQueue<int> queue(4);
  constexpr int k_each = 2000;
  std::atomic<long> sum{0};
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> consumers;
    for (int c = 0; c < 3; ++c)
      consumers.emplace_back([&] {
        while (auto item = queue.pop()) sum += *item, ++taken;
      });
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < 3; ++p)
        producers.emplace_back([&] {
          for (int i = 0; i < k_each; ++i) EXPECT_TRUE(queue.push(i));
        });
    }
    queue.close();
  }
  EXPECT_EQ(taken, 3 * k_each);
  EXPECT_EQ(sum, 3L * k_each * (k_each - 1) / 2);
}

TEST(BoundedQueue, KeepsOrderAndDrainsAfterClose) {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(i));
  queue.close();
  EXPECT_FALSE(queue.push(9));
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesAProducerThatWaitsForRoom) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1));
  std::atomic<bool> accepted{true};
  std::jthread producer([&] { accepted = queue.push(2); });
  queue.close();
  producer.join();
  EXPECT_FALSE(accepted);
}

} // namespace
} // namespace quarry
