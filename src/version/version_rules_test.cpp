#include "version/version_rules.hpp"

#include "dist/version.hpp"
#include "version/order.hpp"
#include <gtest/gtest.h>

namespace quarry::version {
namespace {

constexpr const char* k_sha = "0123456789abcdef0123456789abcdef01234567";

VersionRequest request(std::string type) {
  VersionRequest r;
  r.release_type = std::move(type);
  r.base = "7.12.0";
  r.commit = k_sha;
  r.date = "20261121";
  r.base_date = "20261101";
  r.prerelease = "3";
  return r;
}

TEST(VersionRules, EveryReleaseTypeForEveryPackage) {
  struct Row {
    const char *type, *wheel, *deb, *rpm;
  };
  for (auto row :
       {Row{"release", "7.12.0", "7.12.0", "7.12.0"}, Row{"prerelease", "7.12.0rc3", "7.12.0~pre3", "7.12.0~rc3"},
        Row{"nightly", "7.12.0a20261121", "7.12.0~20261121", "7.12.0~20261121"},
        Row{"nightly-bkc", "7.12.0a20261101+bkc.20261121", "7.12.0~20261101.bkc.20261121",
            "7.12.0~20261101.bkc.20261121"},
        Row{"ci", "7.12.0.dev0+0123456789abcdef0123456789abcdef01234567", "7.12.0~dev20261121",
            "7.12.0~20261121g01234567"},
        Row{"dev", "7.12.0.dev0+0123456789abcdef0123456789abcdef01234567", "7.12.0~dev20261121",
            "7.12.0~20261121g01234567"},
        Row{"dev-bkc", "7.12.0.dev0+0123456789abcdef0123456789abcdef01234567", "7.12.0~dev20261121",
            "7.12.0~20261121g01234567"}}) {
    EXPECT_EQ(*compute_version(request(row.type), PackageType::wheel), row.wheel);
    EXPECT_EQ(*compute_version(request(row.type), PackageType::deb), row.deb);
    EXPECT_EQ(*compute_version(request(row.type), PackageType::rpm), row.rpm);
  }
}

TEST(VersionRules, ReleaseTypesSortAsTheyMust) {
  // release > prerelease > nightly > nightly-bkc of an older base > dev == dev-bkc == ci
  std::vector<dist::Version> order;
  for (auto type : {"release", "prerelease", "nightly", "nightly-bkc", "dev"})
    order.push_back(*dist::Version::parse(*compute_version(request(type), PackageType::wheel)));
  for (std::size_t i = 1; i < order.size(); ++i) EXPECT_GT(order[i - 1], order[i]) << order[i].str();
}

TEST(VersionRules, ACustomSuffixIsTakenAsItIs) {
  auto r = request("");
  r.custom_suffix = "rc1+local.4";
  EXPECT_EQ(*compute_version(r, PackageType::wheel), "7.12.0rc1+local.4");
  r.custom_suffix = "";
  EXPECT_EQ(*compute_version(r, PackageType::deb), "7.12.0");
  r.custom_suffix = "~mine3";
  EXPECT_EQ(*compute_version(r, PackageType::deb), "7.12.0~mine3");
}

std::string code(const VersionRequest& r, PackageType type = PackageType::wheel) {
  auto version = compute_version(r, type);
  return version ? "made " + *version : version.error().code;
}

TEST(VersionRules, RefusesWhatMakesNoVersion) {
  EXPECT_EQ(code(request("Nightly")), "N001");
  EXPECT_EQ(code(request("")), "N001");
  for (auto base : {"", "7", "v7.12.0", "7.12.0rc1", "7.12.0+x", "07.12.0", "7.12.0 ", "7..1", "1!7.12.0"}) {
    auto r = request("release");
    r.base = base;
    EXPECT_EQ(code(r), "N002") << base;
  }
  for (auto date :
       {"", "2026112", "202611211", "20261131", "20260229", "20261321", "2026-1-1", "19991231", "abcdefgh"}) {
    auto r = request("nightly");
    r.date = date;
    EXPECT_EQ(code(r), "N003") << date;
  }
  auto late = request("nightly-bkc");
  late.base_date = "20261122";
  EXPECT_EQ(code(late), "N003");
  for (auto type : {"nightly-bkc", "dev-bkc"})
    for (auto base_date : {"", "20261301"}) {
      auto r = request(type);
      r.base_date = base_date;
      EXPECT_EQ(code(r), "N003") << type << " " << base_date;
    }
  for (auto sha : {"", "abc", "0123456789abcdef0123456789abcdef0123456", "g123456789abcdef0123456789abcdef01234567"}) {
    auto r = request("dev");
    r.commit = sha;
    EXPECT_EQ(code(r), "N004") << sha;
    EXPECT_EQ(code(r, PackageType::deb), "made 7.12.0~dev20261121") << "a Debian version holds no commit";
  }
  for (auto number : {"", "None", "-1", "01", "1.2", "12345678901"}) {
    auto r = request("prerelease");
    r.prerelease = number;
    EXPECT_EQ(code(r), "N005") << number;
  }
  auto nobody = request("prerelease");
  nobody.prerelease.reset();
  EXPECT_EQ(code(nobody), "N005");
}

TEST(VersionRules, RefusesSuffixesThatInstallersRewrite) {
  for (auto suffix : {"-rc1", ".rc1", "RC1", "alpha", "+Local", "+a_b", " ", "~mine", "rc01", "\n"}) {
    auto r = request("");
    r.custom_suffix = suffix;
    EXPECT_EQ(code(r), "N006") << suffix;
  }
  auto r = request("");
  for (auto suffix : {"-1", " 1", "\n", "$(x)", ":1"}) {
    r.custom_suffix = suffix;
    EXPECT_EQ(code(r, PackageType::rpm), "N006") << suffix;
  }
  r.custom_suffix = "+" + std::string(200, 'a');
  EXPECT_EQ(code(r), "N006");
}

TEST(VersionRules, UpperCaseCommitsAreTheSameCommit) {
  auto r = request("dev");
  r.commit = "0123456789ABCDEF0123456789ABCDEF01234567";
  EXPECT_EQ(*compute_version(r, PackageType::wheel), std::string("7.12.0.dev0+") + k_sha);
}

TEST(VersionFile, HoldsTheBase) {
  auto file = *parse_version_file(
      {R"({"rocm-version": "10.1.0", "release-metadata": {"base-date": "20260801"}})", "version.json"});
  EXPECT_EQ(file.base, "10.1.0");
  EXPECT_EQ(file.base_date, "20260801");
  EXPECT_EQ(parse_version_file({R"({"rocm-version": "10.1.0"})", "f"})->base_date, "");
  for (auto bad : {"{}", "[]", R"({"rocm-version": 7})", R"({"rocm-version": ""})"})
    EXPECT_EQ(parse_version_file({bad, "f"}).error().code, "N007") << bad;
  for (auto metadata : {"7", "null", "[]", "\"20260801\"", R"({"base-date": 20260801})", R"({"base-date": "20260231"})",
                        R"({"base-date": "2026-08-01"})"})
    EXPECT_EQ(
        parse_version_file({R"({"rocm-version": "10.1.0", "release-metadata": )" + std::string(metadata) + "}", "f"})
            .error()
            .code,
        "N007")
        << metadata;
  EXPECT_EQ(
      parse_version_file({R"({"rocm-version": "10.1.0", "release-metadata": {"base-date": ""}})", "f"})->base_date, "");
  EXPECT_FALSE(parse_version_file({"rocm", "f"}));
}

TEST(Order, GoesForward) {
  struct Row {
    const char *previous, *next;
    const char* outcome; // "": fine, "note", or a code
  };
  for (auto row :
       {Row{"7.12.0rc1", "7.12.0rc2", ""}, Row{"7.12.0", "7.12.0", ""}, Row{"7.12.0a20261120", "7.12.0a20261121", ""},
        Row{"7.12.0rc2", "7.12.0rc1", "N008"}, Row{"7.12.0", "7.12.0rc3", "N008"},
        Row{"7.12.0a20261121", "7.12.0.dev0+0123456", "N008"}, Row{"0.8.2+rocm7.12.0", "0.8.2+rocm10.1.0", "N008"},
        Row{"2.9.0+rocm7", "2.10.0+rocm10", ""}, Row{"7.12.0.dev0+bbbbbbb", "7.12.0.dev0+aaaaaaa", "note"},
        Row{"7.12.0.dev0+aaaaaaa", "7.12.0.dev0+bbbbbbb", "note"},
        Row{"0.8.2+rocm7.12.0.dev0.abc", "0.8.2+rocm7.12.0", "N008"}}) {
    auto order = check_order(*dist::Version::parse(row.previous), *dist::Version::parse(row.next));
    auto outcome = !order ? order.error().code : *order ? std::string("note") : std::string();
    EXPECT_EQ(outcome, row.outcome) << row.previous << " -> " << row.next;
  }
}

TEST(Date, IsTheDayInUtc) {
  EXPECT_EQ(date_of(1'762'877'928'000'000), "20251111");
  EXPECT_EQ(date_of(0), "19700101");
}

} // namespace
} // namespace quarry::version
