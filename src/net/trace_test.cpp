#include "net/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Answers what it is told to.
class TraceScript final : public Transport {
public:
  std::vector<Answer> answers;
  Answer send(const Request&) override {
    auto answer = answers.front();
    answers.erase(answers.begin());
    return answer;
  }
};

Answer failed() {
  return tl::unexpected(Failure{Fault::cut, true, false, {ErrorKind::unavailable, "H005", "h was cut", {}, {}, {}}});
}

class Tracing : public ::testing::Test {
protected:
  void send(const std::string& url) {
    Request request;
    request.url = parse_url(url).value();
    request.headers = {{"authorization", "AWS4 secret"}};
    static_cast<void>(traced_->send(request));
  }
  sys::FixedClock clock_{0};
  std::vector<std::string> lines_;
  std::shared_ptr<TraceScript> inner_ = std::make_shared<TraceScript>();
  std::shared_ptr<Transport> traced_ =
      make_traced(inner_, [this](std::string_view line) { lines_.emplace_back(line); }, clock_);
};

TEST_F(Tracing, NamesRequestAnswerAndAttempt) {
  inner_->answers = {Response{503, {}, ""}, failed(), Response{200, {{"content-length", "2000"}}, ""},
                     Response{404, {}, ""}};
  for (int i = 0; i < 3; ++i) send("https://h/a");
  send("https://h/b");
  EXPECT_THAT(lines_,
              ElementsAre("GET https://h/a -> 503 in 0 ms", "GET https://h/a -> H005: h was cut in 0 ms (attempt 2)",
                          "GET https://h/a -> 200, 2.00 kB in 0 ms (attempt 3)", "GET https://h/b -> 404 in 0 ms"));
}

TEST_F(Tracing, AnotherRequestForTheSameIsNotAnAttempt) {
  inner_->answers = {Response{200, {}, ""}, Response{200, {}, ""}};
  send("https://h/a");
  send("https://h/a");
  EXPECT_EQ(lines_.back(), "GET https://h/a -> 200 in 0 ms");
}

TEST_F(Tracing, SignaturesStayOut) {
  inner_->answers = {Response{200, {}, ""}};
  send("https://h/a?X-Amz-Signature=secret");
  EXPECT_THAT(lines_.at(0), ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(lines_.at(0), HasSubstr("https://h/a?"));
}

} // namespace
} // namespace quarry::net
