#pragma once
// Wraps a store; its Nth call fails, loses a reply or "dies". copy_from() is false and root_page() gives nothing.
// keys() and children() count as a listing. digest() counts as an open. All other functions without a `do_` below
// always work.
#include "store/object_store.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <mutex>
#include <vector>

namespace quarry::store::testing {

/// A test lets a process die at every call: the distance is 1. With clang's AddressSanitizer, under which each call
/// takes several times as long, it is 5, unless QUARRY_LONG is set.
inline std::uint64_t moment_step() {
#ifdef __has_feature // clang
  constexpr bool k_sanitized = __has_feature(address_sanitizer);
#else
  constexpr bool k_sanitized = false;
#endif
  return k_sanitized && !std::getenv("QUARRY_LONG") ? 5 : 1;
}

class FaultyStore : public ObjectStore {
public:
  enum class Fault : std::uint8_t {
    none,
    refuse,       ///< the Nth call does nothing and says unavailable; later ones work
    lose_reply,   ///< the Nth call is done, and says outcome_unknown, or unavailable if it reads; later ones work
    lose_request, ///< as lose_reply, but what the Nth call would have written is not
    die_before,   ///< from the Nth call on nothing is done any more, as after kill -9
    die_after,    ///< the Nth call is done, then as above
  };
  struct Plan {
    Fault fault = Fault::none;
    std::uint64_t at = 0;     ///< counts from 1
    bool writes_only = false; ///< count only calls that change the store
  };

  explicit FaultyStore(ObjectStore& inner, Plan plan = {Fault::none, 0, false}) : inner_(inner), plan_(plan) {}

  std::uint64_t calls() const { return calls_; } // with no call on its way
  bool fired() const { return plan_.fault != Fault::none && calls_ >= plan_.at; }
  /// What was called before a death, also what failed by the fault, one line each ("put sets/…"), for assertions on
  /// order.
  std::vector<std::string> log() const {
    std::lock_guard lock(mutex_);
    return log_;
  }
  /// Called after every call that got through, with its number: where a child process kills itself, or a test checks
  /// invariants.
  std::function<void(std::uint64_t)> after_call;

  std::string describe() const override { return inner_.describe(); }
  std::string url(const std::string& key) const override { return inner_.url(key); }
  Counters counters() const override { return inner_.counters(); }
  Result<bool> conditional_writes() override { return inner_.conditional_writes(); }
  Result<bool> slash_keys() override { return inner_.slash_keys(); }
  Result<std::optional<ObjectInfo>> do_head(const std::string& key) override {
    return run("head " + key, false, [&] { return inner_.head(key); });
  }
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override {
    return run("get " + key, false, [&] { return inner_.get(key, max_bytes, etag); });
  }
  Result<content::Rope> do_open(const std::string& key) override {
    return run("open " + key, false, [&] { return inner_.open(key); });
  }
  Result<ObjectInfo> do_put(const std::string& key, const content::Rope& content, const PutOptions& options) override {
    return run("put " + key, true, [&] { return inner_.put(key, content, options); });
  }
  Result<void> do_copy(const CopyRequest& asked) override {
    return run("copy " + asked.to, true, [&] { return inner_.copy(asked.from, asked.to, asked.options); });
  }
  Result<void> do_remove(const std::string& key) override {
    return run("remove " + key, true, [&] { return inner_.remove(key); });
  }
  Result<std::vector<ObjectInfo>> do_list(const std::string& prefix) override {
    return run("list " + prefix, false, [&] { return inner_.list(prefix); });
  }
  Result<std::uint64_t> remove_leftovers(std::int64_t before_us) override { return inner_.remove_leftovers(before_us); }

protected:
  ObjectStore& inner() { return inner_; }

private:
  template <class Call> auto run(std::string what, bool writes, Call call) -> decltype(call()) {
    std::unique_lock lock(mutex_);
    bool dies = plan_.fault == Fault::die_before || plan_.fault == Fault::die_after;
    if (dead_) return fail(ErrorKind::internal, "R099", "the process is dead: " + what);
    if (writes || !plan_.writes_only) ++calls_;
    auto number = calls_; // of this call; others may be on their way beside it
    log_.push_back(std::move(what));
    bool now = plan_.fault != Fault::none && !fired_ && number == plan_.at && (writes || !plan_.writes_only);
    fired_ = fired_ || now;
    dead_ = now && dies;
    if (now && (plan_.fault == Fault::die_before || plan_.fault == Fault::refuse))
      return fail(ErrorKind::unavailable, "R098", fmt::format("injected fault at call {}", number));
    if (now && writes && plan_.fault == Fault::lose_request)
      return fail(ErrorKind::outcome_unknown, "R004", fmt::format("injected: call {} was lost", number));
    lock.unlock();
    auto result = call();
    if (after_call) {
      std::lock_guard one(after_mutex_);
      after_call(number);
    }
    if (!now) return result;
    if (plan_.fault == Fault::die_after)
      return fail(ErrorKind::unavailable, "R098", fmt::format("injected death after call {}", number));
    if (writes)
      return fail(ErrorKind::outcome_unknown, "R004", fmt::format("injected: the reply to call {} was lost", number));
    return fail(ErrorKind::unavailable, "R098", fmt::format("injected fault at call {}", number));
  }

  ObjectStore& inner_;
  Plan plan_;
  mutable std::mutex mutex_;
  std::recursive_mutex after_mutex_; // a test may use this store in after_call
  std::uint64_t calls_ = 0;
  bool fired_ = false, dead_ = false;
  std::vector<std::string> log_;
};

} // namespace quarry::store::testing
