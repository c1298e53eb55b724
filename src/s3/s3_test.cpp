// Replies, errors, places and credentials, as values.
#include "base/json.hpp"
#include "s3/capabilities.hpp"
#include "s3/credentials.hpp"
#include "s3/errors.hpp"
#include "s3/location.hpp"
#include "s3/replies.hpp"
#include "s3/sources.hpp"
#include "s3/writes.hpp"
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

TEST(Replies, AListing) {
  auto page = parse_list("  \n<?xml version=\"1.0\"?>\n<ListBucketResult "
                         "xmlns=\"x\"><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
                         "<NextContinuationToken>a&amp;b</NextContinuationToken><Contents><Key>a%20b%2Bc+d</"
                         "Key><LastModified>2013-05-24T00:00:01.000Z</LastModified>"
                         "<ETag>&quot;e&quot;</ETag><Size>5</Size><Owner><ID>x</ID></Owner></"
                         "Contents><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page) << render(page.error());
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key.text(), "a b+c d");
  EXPECT_EQ(page->objects[0].etag, "e");
  EXPECT_EQ(page->objects[0].size, 5u);
  EXPECT_EQ(page->objects[0].modified_us, 1369353601'000'000);
  EXPECT_EQ(page->next, "a&b");
}

TEST(Replies, PartsAndUploads) {
  auto parts =
      parse_parts("<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>2</"
                  "NextPartNumberMarker><Part><PartNumber>1</PartNumber><Size>7</Size><ETag>\"a\"</ETag></Part>"
                  "<Part><PartNumber>2</PartNumber><Size>8</Size><ETag>b</ETag></Part></ListPartsResult>");
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->parts.size(), 2u);
  EXPECT_EQ(parts->parts[1].number, 2u);
  EXPECT_EQ(parts->parts[1].etag, "b");
  EXPECT_EQ(parts->next_marker, "2");
  auto uploads =
      parse_uploads("<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</"
                    "UploadId><Initiated>2013-05-24T00:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>");
  ASSERT_TRUE(uploads);
  EXPECT_EQ(uploads->uploads.at(0).id, "u");
  EXPECT_EQ(uploads->uploads.at(0).initiated_us, 1369353600'000'000);
  EXPECT_FALSE(
      parse_uploads("<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>"))
      << "taken for the last page, the rest would stay";
  EXPECT_FALSE(parse_uploads("<ListMultipartUploadsResult><Upload><Key>k</Key><Initiated>2013-05-24T00:00:00.000Z</"
                             "Initiated></Upload></ListMultipartUploadsResult>"))
      << "DELETE k?uploadId= would remove the object k";
}

TEST(Replies, WhatIsNoAnswerOfS3) {
  for (const std::string body :
       {"", "<html><body>Please log in</body></html>",
        "<ListBucketResult><Contents><Key>k</Key><Size>x</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<ListBucketResult>", "{}",
        "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult>&a;</ListBucketResult>",
        "<ListBucketResult>&unknown;</ListBucketResult>"}) {
    auto page = parse_list(body);
    ASSERT_FALSE(page) << body;
    EXPECT_EQ(page.error().code, "K020");
    EXPECT_EQ(page.error().kind, ErrorKind::corrupt);
  }
}

TEST(Replies, DatesAndEtags) {
  EXPECT_EQ(time_of("Fri, 24 May 2013 00:00:00 GMT"), 1369353600'000'000);
  EXPECT_EQ(time_of("yesterday"), 0);
  EXPECT_EQ(unquoted("\"a\""), "a");
  EXPECT_EQ(unquoted("W/\"a\""), "a");
  EXPECT_EQ(unquoted("a"), "a");
}

struct Row {
  int status;
  std::string code, ours;
  ErrorKind kind;
  net::Trouble trouble;
};
class Errors : public ::testing::TestWithParam<Row> {};
TEST_P(Errors, BecomeOurs) {
  net::Response response{GetParam().status,
                         {{"x-amz-request-id", "id-1"}},
                         "<Error><Code>" + GetParam().code +
                             "</Code><Message>said\nthe server</Message><Region>eu-west-1</Region></Error>"};
  if (GetParam().code.empty()) response.body.clear();
  auto refusal = refusal_of(response, "store `k`");
  EXPECT_EQ(refusal.error.code, GetParam().ours);
  EXPECT_EQ(refusal.error.kind, GetParam().kind);
  EXPECT_EQ(refusal.trouble, GetParam().trouble);
  EXPECT_THAT(render(refusal.error), HasSubstr("id-1"));
  EXPECT_THAT(refusal.error.message, HasSubstr("store `k`"));
  EXPECT_EQ(refusal.error.hint.empty(), refusal.error.code == "K003"); // whose hint is that of the request
}
using net::Trouble;
INSTANTIATE_TEST_SUITE_P(
    Table, Errors,
    ::testing::Values(Row{404, "NoSuchBucket", "K002", ErrorKind::not_found, Trouble::final},
                      Row{403, "AccessDenied", "K003", ErrorKind::unauthenticated, Trouble::final},
                      Row{403, "SignatureDoesNotMatch", "K004", ErrorKind::unauthenticated, Trouble::final},
                      Row{400, "ExpiredToken", "K004", ErrorKind::unauthenticated, Trouble::expired},
                      Row{403, "RequestTimeTooSkewed", "K009", ErrorKind::unauthenticated, Trouble::skewed},
                      Row{400, "AuthorizationHeaderMalformed", "K004", ErrorKind::unauthenticated, Trouble::moved},
                      Row{301, "PermanentRedirect", "K008", ErrorKind::invalid_argument, Trouble::moved},
                      Row{403, "QuotaExceeded", "K014", ErrorKind::unavailable, Trouble::final},
                      Row{507, "", "K014", ErrorKind::unavailable, Trouble::final},
                      Row{400, "EntityTooLarge", "K008", ErrorKind::unsupported, Trouble::final},
                      Row{400, "InvalidPart", "K006", ErrorKind::unavailable, Trouble::final},
                      Row{503, "SlowDown", "K006", ErrorKind::unavailable, Trouble::throttled},
                      Row{400, "RequestTimeout", "K006", ErrorKind::unavailable, Trouble::busy},
                      Row{500, "InternalError", "K006", ErrorKind::unavailable, Trouble::busy},
                      Row{400, "BadDigest", "K007", ErrorKind::corrupt, Trouble::damaged},
                      Row{409, "ConditionalRequestConflict", "K005", ErrorKind::precondition_failed, Trouble::conflict},
                      Row{501, "NotImplemented", "K008", ErrorKind::unsupported, Trouble::final},
                      Row{403, "", "K003", ErrorKind::unauthenticated, Trouble::final},
                      Row{404, "", "K005", ErrorKind::not_found, Trouble::final},
                      Row{412, "", "K005", ErrorKind::precondition_failed, Trouble::final},
                      Row{500, "SomethingNew", "K006", ErrorKind::unavailable, Trouble::busy},
                      Row{418, "Teapot", "K005", ErrorKind::failed, Trouble::final}));

TEST(Errors, ASuccessThatHoldsAnError) {
  net::Response response{200, {}, "  <?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>"};
  EXPECT_TRUE(holds_error(response));
  EXPECT_EQ(refusal_of(response, "complete").trouble, Trouble::busy);
  EXPECT_EQ(refusal_of(response, "complete").status, 500);
  response.body = "<Error><Code>PreconditionFailed</Code></Error>";
  EXPECT_EQ(refusal_of(response, "complete").status, 412) << "a condition that does not hold, said late";
  EXPECT_FALSE(holds_error({200, {}, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"}));
}

struct Foreign {
  int status;
  net::Headers headers;
  std::string body, told;
};
TEST(Errors, AnswersOfSomebodyElse) {
  const std::string page = "\n <!DOCTYPE html><html><title>Sign\tin</title><p>to the <b>network</b></html>";
  const Foreign table[] = {
      {403, {{"x-amz-request-id", "1"}}, page, "Sign in to the network"},
      {404, {}, "<HTML>nothing here", "nothing here"},
      {404, {{"content-type", "text/html; charset=utf-8"}}, "", "answer   404"}, // to HEAD
      {405, {}, "\xef\xbb\xbf<html>", "answer   405"},
      {302, {{"location", "https://login.example/a?token=canary"}}, "", "leads to https://login.example/a"},
      {301, {}, "", "answer   301"},
  };
  for (const auto& row : table) {
    auto refusal = refusal_of({row.status, row.headers, row.body}, "read `k`");
    auto text = render(refusal.error);
    EXPECT_EQ(refusal.error.code, "K020") << text;
    EXPECT_EQ(refusal.status, 0) << text; // not S3's 404: nothing is absent
    EXPECT_THAT(text, ::testing::AllOf(HasSubstr(row.told), ::testing::Not(HasSubstr("canary"))));
  }
  EXPECT_EQ(refusal_of({502, {}, page}, "read `k`").error.code, "K006"); // a gateway before a store that is ill
  EXPECT_THAT(render(refusal_of({502, {}, page}, "read `k`").error), HasSubstr("Sign in"));
  auto empty = refusal_of({404, {{"content-type", "text/html"}, {"x-amz-request-id", "1"}}, ""}, "read `k`");
  EXPECT_EQ(empty.error.kind, ErrorKind::not_found);
  EXPECT_EQ(refusal_of({301, {{"x-amz-bucket-region", "eu-west-1"}}, ""}, "look").trouble, Trouble::moved);
}

TEST(Errors, ADenialNamesThePermissionOfItsRequest) {
  EXPECT_THAT(hint_of_denial({"PUT", true, true}), HasSubstr("s3:PutObject"));
  EXPECT_THAT(hint_of_denial({"DELETE", true, true}), HasSubstr("s3:DeleteObject"));
  EXPECT_THAT(hint_of_denial({"GET", false, true}), HasSubstr("s3:ListBucket"));
  EXPECT_THAT(hint_of_denial({"HEAD", true, true}), HasSubstr("s3:GetObject"));
  for (const auto* method : {"PUT", "GET", "DELETE"})
    EXPECT_THAT(hint_of_denial({method, true, false}), HasSubstr("credentials"));
}

struct Place {
  std::string locator;
  Variables environment, profile;
  std::string url; ///< of the key "k y"; or the code of the refusal
};
class Places : public ::testing::TestWithParam<Place> {};
TEST_P(Places, AreAddressedAsAwsDoes) {
  Profile profile;
  profile.values = GetParam().profile;
  auto location = parse_location(GetParam().locator, GetParam().environment, profile);
  auto prefix = location ? location->prefix + (location->prefix.empty() ? "" : "/") : "";
  EXPECT_EQ(location ? url_of(*location, BucketKey(prefix + "k y")).text() : location.error().code, GetParam().url);
}
INSTANTIATE_TEST_SUITE_P(
    Table, Places,
    ::testing::Values(
        Place{"s3://bucket/a/b", {}, {}, "https://bucket.s3.us-east-1.amazonaws.com/a/b/k%20y"},
        Place{"s3://bucket/",
              {{"AWS_DEFAULT_REGION", "eu-west-1"}},
              {},
              "https://bucket.s3.eu-west-1.amazonaws.com/k%20y"},
        Place{"s3://dotted.name/p",
              {{"AWS_REGION", "eu-west-1"}, {"AWS_DEFAULT_REGION", "x"}},
              {},
              "https://s3.eu-west-1.amazonaws.com/dotted.name/p/k%20y"},
        Place{"s3://bucket", {{"AWS_REGION", "cn-north-1"}}, {}, "https://bucket.s3.cn-north-1.amazonaws.com.cn/k%20y"},
        Place{"s3://bucket/p",
              {{"AWS_ENDPOINT_URL", "http://127.0.0.1:9000/"}},
              {},
              "http://127.0.0.1:9000/bucket/p/k%20y"},
        Place{"s3://bucket/p",
              {{"AWS_ENDPOINT_URL", "https://a.example"}, {"AWS_ENDPOINT_URL_S3", "https://b.example/s3"}},
              {},
              "https://b.example/s3/bucket/p/k%20y"},
        Place{"s3://bucket/p",
              {},
              {{"endpoint_url", "https://c.example"}, {"addressing_style", "virtual"}},
              "https://bucket.c.example/p/k%20y"},
        Place{"s3://bucket/p",
              {},
              {{"region", "us-west-2"}, {"addressing_style", "path"}},
              "https://s3.us-west-2.amazonaws.com/bucket/p/k%20y"},
        Place{"s3:bucket/p", {}, {}, "K001"}, Place{"s3:", {}, {}, "K001"}, Place{"s3:///p", {}, {}, "K001"},
        Place{"s3://Bucket/p", {}, {}, "K001"}, Place{"s3://ab/p", {}, {}, "K001"},
        Place{"s3://a..b/p", {}, {}, "K001"}, Place{"s3://bucket/p", {{"AWS_REGION", "eu west"}}, {}, "K001"},
        Place{"s3://bucket/p", {{"AWS_ENDPOINT_URL", "bucket.example"}}, {}, "H001"}));

// A server says in its answer where the bucket is. What it says becomes part of a host's name.
TEST(Regions, ATextThatCannotBeOneChangesNothing) {
  auto location = *parse_location("s3://bucket", {{"AWS_REGION", "us-east-2"}}, {});
  auto host = [&](const char* region) { return url_of(in_region(location, region), BucketKey("k")).host; };
  EXPECT_EQ(host("eu-west-1"), "bucket.s3.eu-west-1.amazonaws.com");
  for (const char* region : {"", "x.evil.example/", "a b", "eu-west-1@evil.example", "EU"})
    EXPECT_EQ(host(region), "bucket.s3.us-east-2.amazonaws.com") << region;
}

TEST(Profiles, OfBothFiles) {
  auto config = parse_ini({"# comment\n[default]\nregion = eu-west-1\n[profile ci]\nrole_arn=arn:aws:iam::1:role/x ; "
                           "not a comment\ns3 =\n  addressing_style = path\n",
                           "config"});
  auto credentials =
      parse_ini({"[ci]\naws_access_key_id = A\naws_secret_access_key = S#1 # a comment\n", "credentials"});
  ASSERT_TRUE(config && credentials);
  auto profile = profile_of({*config, *credentials}, "ci");
  EXPECT_TRUE(profile.found);
  EXPECT_EQ(profile.value("addressing_style"), "path");
  EXPECT_EQ(profile.value("aws_secret_access_key"), "S#1");
  EXPECT_EQ(profile_of({*config, *credentials}, "default").value("region"), "eu-west-1");
  EXPECT_FALSE(profile_of({*config, *credentials}, "other").found);
  auto broken = parse_ini({"[x]\nsecret-without-equals\n", "file"});
  ASSERT_FALSE(broken);
  EXPECT_THAT(render(broken.error()),
              ::testing::AllOf(HasSubstr("K010"), HasSubstr("file:2"), ::testing::Not(HasSubstr("secret-without"))));
}

/// Answers in order; what was asked can be looked at.
class Fake final : public net::Transport {
public:
  net::Answer send(const net::Request& request) override {
    asked.push_back(request.method + " " + request.url.text());
    bodies.push_back(request.body ? *request.body->read_all(10'000) : "");
    headers.push_back(request.headers);
    if (answers.empty()) return tl::unexpected(failure);
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::deque<net::Response> answers;
  /// What happens when no answer is left.
  net::Failure failure{net::Fault::unreachable, false, false, {ErrorKind::unavailable, "H002", "nobody", {}, {}, {}}};
  std::vector<std::string> asked, bodies;
  std::vector<net::Headers> headers;
};

const sys::FixedClock k_clock(1369353600'000'000);
Result<Credentials> find(Fake& fake, const Variables& environment, const SharedFiles& files = {},
                         std::vector<std::string>* skipped = nullptr) {
  return find_credentials({environment, fake, k_clock, "eu-west-1"}, files, skipped);
}
const std::string k_assumed = "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><"
                              "AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
                              "<SessionToken>T</SessionToken><Expiration>2013-05-24T01:00:00Z</Expiration></"
                              "Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";

TEST(Credentials, OfTheEnvironment) {
  Fake fake;
  auto found = find(fake, {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}, {"AWS_SESSION_TOKEN", "T"}});
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(found->keys.access_key, "A");
  EXPECT_EQ(found->keys.session_token.reveal(), "T");
  EXPECT_TRUE(fake.asked.empty());
  EXPECT_EQ(find(fake, {{"AWS_ACCESS_KEY_ID", "A"}}).error().code, "K012");
}

TEST(Credentials, WithControlCharactersAreRefusedUnsaid) {
  for (const std::string name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"})
    for (const std::string bad : {"\n", "\r", "\t", "\x7f"}) {
      Fake fake;
      Variables variables = {
          {"AWS_ACCESS_KEY_ID", "canary"}, {"AWS_SECRET_ACCESS_KEY", "canary"}, {"AWS_SESSION_TOKEN", "canary"}};
      variables[name] += bad;
      auto found = find(fake, variables);
      ASSERT_FALSE(found) << name;
      EXPECT_EQ(found.error().code, "K015");
      EXPECT_EQ(traits(found.error().kind).exit_code, 4);
      EXPECT_THAT(render(found.error()), ::testing::AllOf(HasSubstr(name), ::testing::Not(HasSubstr("canary"))));
    }
}

TEST(Credentials, OfAProfileAndItsRole) {
  Fake fake;
  SharedFiles files{*parse_ini({"[profile deploy]\nrole_arn = arn:role\nsource_profile = base\n[profile "
                                "circle]\nrole_arn = r\nsource_profile = circle2\n[profile circle2]\nrole_arn = "
                                "r\nsource_profile = circle\n[profile process]\ncredential_process = x\n"
                                "[profile self]\nrole_arn = arn:role\nsource_profile = self\naws_access_key_id = B\n"
                                "aws_secret_access_key = S\n[profile hollow]\nrole_arn = r\nsource_profile = hollow\n",
                                "c"}),
                    *parse_ini({"[base]\naws_access_key_id = A\naws_secret_access_key = S\n", "k"})};
  EXPECT_EQ(find(fake, {{"AWS_PROFILE", "base"}}, files)->keys.access_key, "A");
  fake.answers.push_back({200, {}, k_assumed});
  auto found = find(fake, {{"AWS_PROFILE", "deploy"}}, files);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(found->keys.access_key, "ASIA");
  EXPECT_EQ(found->expires_us, 1369357200'000'000);
  EXPECT_EQ(fake.asked.at(0), "POST https://sts.eu-west-1.amazonaws.com/");
  EXPECT_THAT(net::header(fake.headers.at(0), "authorization"),
              HasSubstr("Credential=A/20130524/eu-west-1/sts/aws4_request"));
  fake.answers.push_back({200, {}, k_assumed}); // its own keys, but not instead of the role
  auto own = find(fake, {{"AWS_PROFILE", "self"}}, files);
  ASSERT_TRUE(own) << render(own.error());
  EXPECT_EQ(own->keys.access_key, "ASIA");
  EXPECT_THAT(net::header(fake.headers.at(1), "authorization"), HasSubstr("Credential=B/"));
  for (const auto* name : {"absent", "circle", "process", "hollow"})
    EXPECT_EQ(find(fake, {{"AWS_PROFILE", name}}, files).error().code, "K012") << name;
}

TEST(Credentials, OfChinasPartitionComeFromItsHost) {
  Fake fake;
  fake.answers.push_back({200, {}, k_assumed});
  SharedFiles files{*parse_ini({"[profile deploy]\nrole_arn = arn:role\nsource_profile = base\n", "c"}),
                    *parse_ini({"[base]\naws_access_key_id = A\naws_secret_access_key = S\n", "k"})};
  Variables deploy = {{"AWS_PROFILE", "deploy"}};
  ASSERT_TRUE(find_credentials({deploy, fake, k_clock, "cn-north-1"}, files));
  EXPECT_EQ(fake.asked.at(0), "POST https://sts.cn-north-1.amazonaws.com.cn/");
}

TEST(Credentials, OfGitHubsIdentity) {
  Fake fake;
  fake.answers = {{200, {}, R"({"value":"jwt"})"}, {200, {}, k_assumed}};
  Variables job = {{"ACTIONS_ID_TOKEN_REQUEST_URL", "https://token.example/x?v=1"},
                   {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "bearer-secret"},
                   {"AWS_ROLE_ARN", "arn:role"},
                   {"GITHUB_RUN_ID", "42"}};
  auto found = find(fake, job);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(fake.asked.at(0), "GET https://token.example/x?v=1&audience=sts.amazonaws.com");
  EXPECT_EQ(net::header(fake.headers.at(0), "authorization"), "bearer bearer-secret");
  EXPECT_THAT(fake.bodies.at(1),
              ::testing::AllOf(HasSubstr("WebIdentityToken=jwt"), HasSubstr("RoleSessionName=github-42"),
                               HasSubstr("Action=AssumeRoleWithWebIdentity")));
  EXPECT_EQ(net::header(fake.headers.at(1), "authorization"), "");
  fake.answers = {{403, {}, ""}};
  auto refused = find(fake, job);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "K012");
  EXPECT_THAT(render(refused.error()), ::testing::Not(HasSubstr("bearer-secret")));
}

TEST(Credentials, OfTheContainerOnlyFromWhereTheyAreSafe) {
  Fake fake;
  fake.answers = {
      {200, {}, R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T01:00:00Z"})"}};
  auto found =
      find(fake, {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "t"}});
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(fake.asked.at(0), "GET http://169.254.170.2/creds");
  EXPECT_EQ(find(fake, {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example/creds"}}).error().code, "K012");
}

TEST(Credentials, OfTheMachineNeedItsToken) {
  Fake fake;
  fake.answers = {
      {200, {}, "imds-token"},
      {200, {}, "role-name\n"},
      {200, {}, R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T01:00:00Z"})"}};
  auto found = find(fake, {});
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(fake.asked.at(0), "PUT http://169.254.169.254/latest/api/token");
  EXPECT_THAT(fake.asked.at(2), HasSubstr("/latest/meta-data/iam/security-credentials/role-name"));
  EXPECT_EQ(net::header(fake.headers.at(2), "x-aws-ec2-metadata-token"), "imds-token");
}

TEST(Credentials, AMachineThatCannotSayItsRoleIsNotOneWithoutARole) {
  Fake none, broken, silent;
  none.answers = {{200, {}, "imds-token"}, {404, {}, "not found"}};
  EXPECT_THAT(find(none, {}).error().message, HasSubstr("no credentials"));
  broken.answers = {{200, {}, "imds-token"}, {500, {}, "later"}};
  EXPECT_THAT(find(broken, {}).error().message, HasSubstr("status 500"));
  silent.answers = {{200, {}, "imds-token"}};
  EXPECT_EQ(find(silent, {}).error().code, "H002");
}

// Otherwise Ctrl-C would be told as missing credentials, with another exit code.
TEST(Credentials, AnInterruptionIsNotAMachineWithoutARole) {
  Fake interrupted;
  interrupted.failure = {net::Fault::own, false, false, {ErrorKind::cancelled, "D006", "interrupted", {}, {}, {}}};
  auto found = find(interrupted, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "D006");
  EXPECT_EQ(traits(found.error().kind).exit_code, 130);
}

// STS refuses what a clock that is an hour late has signed, and says what time it is.
TEST(Credentials, ARoleIsAskedForAgainByTheServersClock) {
  const SharedFiles files{*parse_ini({"[profile deploy]\nrole_arn = arn:role\nsource_profile = base\n", "c"}),
                          *parse_ini({"[base]\naws_access_key_id = A\naws_secret_access_key = S\n", "k"})};
  Fake fake;
  fake.answers.push_back({403, {{"date", "Fri, 24 May 2013 01:00:00 GMT"}}, "<ErrorResponse/>"});
  fake.answers.push_back({200, {}, k_assumed});
  auto found = find(fake, {{"AWS_PROFILE", "deploy"}}, files);
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(fake.headers.size(), 2u);
  EXPECT_EQ(net::header(fake.headers.at(0), "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(net::header(fake.headers.at(1), "x-amz-date"), "20130524T010000Z");
  Fake denied;
  denied.answers.push_back({403, {{"date", "Fri, 24 May 2013 00:01:00 GMT"}}, "<ErrorResponse/>"});
  EXPECT_EQ(find(denied, {{"AWS_PROFILE", "deploy"}}, files).error().code, "K012");
  EXPECT_EQ(denied.headers.size(), 1u) << "the clock was right";
}

TEST(Credentials, NoneSaysWhyEachSourceWasPassedOver) {
  Fake fake;
  std::vector<std::string> skipped;
  auto found = find(fake, {{"AWS_EC2_METADATA_DISABLED", "true"}}, {}, &skipped);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "K011");
  EXPECT_EQ(found.error().kind, ErrorKind::unauthenticated);
  EXPECT_EQ(skipped.size(), credential_sources().size());
  for (const auto* reason :
       {"AWS_ACCESS_KEY_ID is not set", "there is no profile default", "AWS_EC2_METADATA_DISABLED is true"})
    EXPECT_THAT(render(found.error()), HasSubstr(reason));
}

TEST(CredentialCache, RenewsFiveMinutesBeforeTheEnd) {
  auto fake = std::make_shared<Fake>();
  sys::FixedClock clock(1369353600'000'000);
  for (int i = 0; i < 3; ++i)
    fake->answers.push_back({200,
                             {},
                             R"({"AccessKeyId":"A)" + std::to_string(i) +
                                 R"(","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T01:00:00Z"})"});
  auto cache = make_credential_cache({{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c"}}, {}, fake, clock, "us-east-1");
  EXPECT_EQ(cache->get()->keys.access_key, "A0");
  clock.advance_us(54ll * 60 * 1'000'000);
  EXPECT_EQ(cache->get()->keys.access_key, "A0");
  clock.advance_us(2ll * 60 * 1'000'000);
  EXPECT_EQ(cache->get()->keys.access_key, "A1");
  auto used = *cache->get();
  cache->drop(used); // the server says that they have ended
  cache->drop(used);
  EXPECT_EQ(cache->get()->keys.access_key, "A2");
}

TEST(CredentialCache, EndedKeysAreNotGivenOut) {
  auto fake = std::make_shared<Fake>();
  sys::FixedClock clock(1369353600'000'000); // 2013-05-24T00:00:00Z
  fake->answers.push_back(
      {200, {}, R"({"AccessKeyId":"A0","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T01:00:00Z"})"});
  auto cache = make_credential_cache({{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c"}}, {}, fake, clock, "us-east-1");
  ASSERT_TRUE(cache->get());
  clock.advance_us((59 * 60 + 50) * 1'000'000ll);
  EXPECT_EQ(cache->get()->keys.access_key, "A0"); // nobody answers, and they are good for ten seconds more
  clock.advance_us(20 * 1'000'000ll);
  EXPECT_FALSE(cache->get());
}

TEST(Capabilities, AreKeptForAWeekAndForOneEndpoint) {
  Capabilities ceph{true, true, false, false, false, true};
  std::int64_t now = 1369353600'000'000, week = 7ll * 24 * 3600 * 1'000'000;
  auto text = capabilities_json(ceph, {"http://a b", now});
  auto at = [&](std::int64_t then) { return parse_capabilities(text, {"http://a b", then}); };
  EXPECT_EQ(at(now)->capabilities, ceph);
  EXPECT_FALSE(at(now + week)->expired);
  EXPECT_TRUE(at(now + week + 1)->expired);
  EXPECT_FALSE(at(now - 3'600'000'000)->expired); // two clocks never agree
  EXPECT_TRUE(at(now - week)->expired);           // a date in the future would never expire
  EXPECT_FALSE(parse_capabilities(text, {"http://other b", now}));
  EXPECT_FALSE(parse_capabilities("{}", {"http://a b", now}));
  auto older = text; // written before keys that end in a slash were asked for
  older.replace(older.find("slash_keys"), 10, "other_keys");
  auto kept = parse_capabilities(older, {"http://a b", now});
  ceph.slash_keys = false;
  EXPECT_EQ(kept->capabilities, ceph);
  EXPECT_TRUE(kept->expired);
}

/// A bucket at a named endpoint, read and written without credentials.
Bucket bucket_at(const std::shared_ptr<Fake>& server) {
  const Variables variables = {{"AWS_ENDPOINT_URL", "http://store.example"}, {"QUARRY_S3_ANONYMOUS", "1"}};
  net::RetryLimits quick;
  quick.base_ms = quick.throttled_base_ms = quick.cap_ms = 1;
  return Bucket(*parse_location("s3://bucket", variables, {}), server,
                make_credential_cache(variables, {}, server, k_clock, "us-east-1"), k_clock, quick);
}
std::vector<std::string> methods(const Fake& server) {
  std::vector<std::string> found;
  for (const auto& line : server.asked) found.push_back(line.substr(0, line.find(' ')));
  return found;
}

// Each request to a server that drops packets takes ten seconds; the probe would send some 150 of them.
TEST(Capabilities, AServerThatCannotBeReachedIsNotProbed) {
  auto server = std::make_shared<Fake>();
  auto bucket = bucket_at(server);
  auto found = CapabilityCache(bucket, "", k_clock).get();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "H002");
  EXPECT_EQ(methods(*server), std::vector<std::string>(6, "GET")) << "the attempts of one call";
}

const net::Response k_denied{403, {}, "<Error><Code>AccessDenied</Code></Error>"};

TEST(Capabilities, AProbeRemovesOnlyWhatItMayHaveWritten) {
  auto server = std::make_shared<Fake>();
  auto bucket = bucket_at(server);
  server->answers = {k_denied};
  EXPECT_EQ(probe(bucket, "").error().code, "K003");
  EXPECT_EQ(methods(*server), std::vector<std::string>{"PUT"});
  server->asked.clear();
  server->answers = {{200, {{"etag", "\"e\""}}, ""}, k_denied, {204, {}, ""}};
  EXPECT_EQ(probe(bucket, "").error().code, "K003");
  EXPECT_EQ(methods(*server), (std::vector<std::string>{"PUT", "PUT", "DELETE"}));
  server->asked.clear();
  server->answers = {{501, {}, "<Error><Code>NotImplemented</Code></Error>"}, k_denied}; // the header, then all of it
  EXPECT_EQ(probe(bucket, "").error().code, "K003");
  EXPECT_EQ(methods(*server), (std::vector<std::string>{"PUT", "PUT"}));
}

TEST(Lineage, TellsWhatBecameOfAWrite) {
  EXPECT_EQ(fate_of({"mine,old", "mine", "old"}), Fate::written);
  EXPECT_EQ(fate_of({"rival,mine,old", "mine", "old"}), Fate::written); // and was built on
  EXPECT_EQ(fate_of({"rival,old", "mine", "old,older"}), Fate::not_written);
  EXPECT_EQ(fate_of({"rival", "mine", "old"}), Fate::unknown); // a writer that keeps no lineage came between
  EXPECT_EQ(fate_of({"rival,old", "mine", ""}), Fate::unknown);
  EXPECT_EQ(fate_of({"", "mine", "old"}), Fate::unknown);
}

TEST(PartSize, KeepsWithinTheLimitsOfS3) {
  constexpr std::uint64_t k_mib = 1 << 20, k_part = 8 * k_mib;
  EXPECT_EQ(part_size({0, k_part}), k_part);
  EXPECT_EQ(part_size({5ull << 30, k_part}), k_part);
  EXPECT_EQ(part_size({9500 * k_part, k_part}), k_part);
  EXPECT_EQ(part_size({9500 * k_part + 1, k_part}), 9 * k_mib);
  for (std::uint64_t size : {1ull << 30, 1ull << 37, 1ull << 38, 5ull << 40})
    EXPECT_LE((size + part_size({size, k_part}) - 1) / part_size({size, k_part}), 9500u);
}

} // namespace
} // namespace quarry::s3
