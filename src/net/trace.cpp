#include "net/trace.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "net/retry.hpp"
#include <fmt/core.h>
#include <map>
#include <mutex>

namespace quarry::net {

namespace {

class Traced final : public Transport {
public:
  Traced(std::shared_ptr<Transport> inner, std::function<void(std::string_view)> trace, const sys::Clock& clock)
      : inner_(std::move(inner)), trace_(std::move(trace)), clock_(clock) {}

  Answer send(const Request& request) override {
    auto name = request.method + " " + request.url.shown();
    auto key = request.method + " " + request.url.text();
    auto began = clock_.steady_ns();
    auto answer = inner_->send(request);
    auto milliseconds = (clock_.steady_ns() - began) / 1'000'000;
    bool failed = !answer || trouble_of_status(answer->status) != Trouble::final;
    auto number = attempt(key, failed);
    trace_(fmt::format("{} -> {} in {} ms{}", name, result_of(answer), milliseconds,
                       number > 1 ? fmt::format(" (attempt {})", number) : ""));
    return answer;
  }

private:
  static std::string result_of(const Answer& answer) {
    if (!answer) return fmt::format("{}: {}", answer.error().error.code, answer.error().error.message);
    auto size = header(answer->headers, "content-length");
    auto bytes = size.empty() ? std::nullopt : text::parse_u64(size);
    return fmt::format("{}{}", answer->status, bytes ? ", " + units::bytes(*bytes) : "");
  }

  /// The number of this attempt; the next one of the same request counts on if this one failed.
  unsigned attempt(const std::string& key, bool failed) {
    std::lock_guard lock(mutex_);
    auto number = ++attempts_[key];
    if (!failed) attempts_.erase(key);
    return number;
  }

  std::shared_ptr<Transport> inner_;
  std::function<void(std::string_view)> trace_;
  const sys::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, unsigned> attempts_; // of requests whose last attempt failed
};

} // namespace

std::shared_ptr<Transport> make_traced(std::shared_ptr<Transport> inner, std::function<void(std::string_view)> trace,
                                       const sys::Clock& clock) {
  return std::make_shared<Traced>(std::move(inner), std::move(trace), clock);
}

} // namespace quarry::net
