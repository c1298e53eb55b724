#include "s3/sigv4.hpp"

#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

// Inputs and results as Amazon publishes them: the test suite of Signature Version 4, and the examples of the S3 API
// Reference ("Authenticating Requests: Using the Authorization Header" and "Using Query Parameters").
struct Vector {
  std::string name;
  std::string method, path;
  Pairs query, headers;
  std::string payload, signature;
};
void PrintTo(const Vector& v, std::ostream* out) { *out << v.name; }

class Suite : public ::testing::TestWithParam<Vector> {};

TEST_P(Suite, SignsAsPublished) {
  const auto& v = GetParam();
  SignedRequest request{v.method, v.path, canonical_query(v.query), v.headers, sha256(v.payload).hex()};
  request.headers.emplace_back("host", "example.amazonaws.com");
  request.headers.emplace_back("x-amz-date", "20150830T123600Z");
  Keys keys{"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), {}};
  EXPECT_EQ(signature(request, {"20150830T123600Z", "us-east-1", "service"}, keys), v.signature)
      << canonical_request(request);
}

INSTANTIATE_TEST_SUITE_P(
    Published, Suite,
    ::testing::Values(
        Vector{
            "get_vanilla", "GET", "/", {}, {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        Vector{"post_vanilla",
               "POST",
               "/",
               {},
               {},
               "",
               "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        Vector{"get_query_order",
               "GET",
               "/",
               {{"Param2", "value2"}, {"Param1", "value1"}},
               {},
               "",
               "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        Vector{"get_query_unreserved",
               "GET",
               "/",
               {{"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                 "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}},
               {},
               "",
               "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
        Vector{"get_utf8_query",
               "GET",
               "/",
               {{"\u1234", "bar"}},
               {},
               "",
               "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
        Vector{"get_unreserved",
               "GET",
               "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
               {},
               {},
               "",
               "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        Vector{"post_header_key_sort",
               "POST",
               "/",
               {},
               {{"my-header1", "value1"}},
               "",
               "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
        Vector{"get_header_value_trim",
               "GET",
               "/",
               {},
               {{"my-header1", " value1"}, {"my-header2", " \"a   b   c\""}},
               "",
               "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"}),
    [](const auto& vector) { return vector.param.name; });

class Examples : public ::testing::TestWithParam<Vector> {};

TEST_P(Examples, SignsAsPublished) {
  const auto& v = GetParam();
  auto hash = sha256(v.payload).hex();
  SignedRequest request{v.method, v.path, canonical_query(v.query), v.headers, hash};
  request.headers.emplace_back("host", "examplebucket.s3.amazonaws.com");
  request.headers.emplace_back("x-amz-content-sha256", hash);
  request.headers.emplace_back("x-amz-date", "20130524T000000Z");
  Keys keys{"AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), {}};
  auto header = authorization(request, {"20130524T000000Z", "us-east-1"}, keys);
  EXPECT_TRUE(header.starts_with(
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders="));
  EXPECT_TRUE(header.ends_with("Signature=" + v.signature)) << header << "\n" << canonical_request(request);
}

INSTANTIATE_TEST_SUITE_P(Published, Examples,
                         ::testing::Values(Vector{"get_object",
                                                  "GET",
                                                  "/test.txt",
                                                  {},
                                                  {{"range", "bytes=0-9"}},
                                                  "",
                                                  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
                                           Vector{"put_object",
                                                  "PUT",
                                                  "/" + uri_encode("test$file.text", Slash::kept),
                                                  {},
                                                  {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                                   {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                                                  "Welcome to Amazon S3.",
                                                  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
                                           Vector{"get_lifecycle",
                                                  "GET",
                                                  "/",
                                                  {{"lifecycle", ""}},
                                                  {},
                                                  "",
                                                  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
                                           Vector{"list_objects",
                                                  "GET",
                                                  "/",
                                                  {{"prefix", "J"}, {"max-keys", "2"}},
                                                  {},
                                                  "",
                                                  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"}),
                         [](const auto& vector) { return vector.param.name; });

TEST(CanonicalRequest,
     HeadersAreSortedByNameNotByLine) { // '-' sorts before ':', so a sort of whole lines is another order
  SignedRequest request{"PUT", "/k", {}, {{"x-amz-meta-a-b", "2"}, {"x-amz-meta-a", "1"}}, "UNSIGNED-PAYLOAD"};
  EXPECT_EQ(canonical_request(request),
            "PUT\n/k\n\nx-amz-meta-a:1\nx-amz-meta-a-b:2\n\nx-amz-meta-a;x-amz-meta-a-b\nUNSIGNED-PAYLOAD");
}

TEST(UriEncode, IsForS3) {
  EXPECT_EQ(uri_encode("a/b c+d~é=%", Slash::kept), "a/b%20c%2Bd~%C3%A9%3D%25");
  EXPECT_EQ(uri_encode("a/b", Slash::encoded), "a%2Fb");
  EXPECT_EQ(canonical_query({{"uploads", ""}, {"a+", "/"}}), "a%2B=%2F&uploads=");
}

TEST(AmzDate, IsSecondsInUtc) { EXPECT_EQ(amz_date(1369353600'000'000), "20130524T000000Z"); }

TEST(Secret, NeverShowsItself) {
  Secret secret("canary");
  EXPECT_EQ(fmt::format("{}", secret), "***");
  auto moved = std::move(secret);
  EXPECT_EQ(moved.reveal(), "canary");
  EXPECT_TRUE(secret.empty());
}

} // namespace
} // namespace quarry::s3
