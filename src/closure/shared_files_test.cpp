#include "closure/shared_files.hpp"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::closure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SharedFiles : public ::testing::Test {
protected:
  void add(const std::string& file, std::vector<wheel::OwnedFile> files) {
    auto package = package_of(file, dist::Metadata(), 100);
    ASSERT_TRUE(package) << render(package.error());
    packages_.push_back(std::move(*package));
    wheels_.push_back({packages_.back(), std::move(files)});
  }
  Findings found(const std::string& platforms = "linux") {
    std::vector<Package> set(packages_.begin(), packages_.end());
    auto targets = targets_of(set, "3.10,3.12", platforms);
    EXPECT_TRUE(targets);
    return check_shared_files(wheels_, targets->targets);
  }

private:
  std::deque<Package> packages_; // their places stay
  std::vector<InstalledFiles> wheels_;
};

TEST_F(SharedFiles, WithOtherBytesAreAnErrorThatNamesBothWheelsAndThePaths) {
  add("one-1.0-py3-none-any.whl", {{"x/a", 1, 1}, {"x/b", 1, 1}, {"x/c", 1, 1}});
  add("two-1.0-py3-none-any.whl", {{"x/a", 1, 2}, {"x/b", 2, 1}, {"y/c", 1, 1}});
  auto findings = found();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "Q438");
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[0].place, "two-1.0-py3-none-any.whl");
  EXPECT_EQ(findings[0].message, "one-1.0-py3-none-any.whl installs 2 files of it, too, with other bytes: x/a, x/b");
}

TEST_F(SharedFiles, WithTheSameBytesAreANote) {
  add("one-1.0-py3-none-any.whl", {{"x/__init__.py", 0, 0}});
  add("two-1.0-py3-none-any.whl", {{"x/__init__.py", 0, 0}});
  auto findings = found();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::note);
  EXPECT_THAT(findings[0].message, HasSubstr("one of its files, too: x/__init__.py"));
}

TEST_F(SharedFiles, OfWheelsThatNobodyInstallsTogetherAreNoFinding) {
  add("one-1.0-cp310-cp310-linux_x86_64.whl", {{"x", 1, 1}});
  add("two-1.0-cp312-cp312-linux_x86_64.whl", {{"x", 1, 2}});
  add("three-1.0-py3-none-win_amd64.whl", {{"x", 1, 3}});
  EXPECT_THAT(found("linux,windows"), IsEmpty());
}

TEST_F(SharedFiles, OfOneProjectOrOfAnOlderVersionAreNoFinding) {
  add("one-1.0-py3-none-any.whl", {{"x", 1, 1}});
  add("one-2.0-py3-none-any.whl", {{"y", 1, 2}});
  add("two-1.0-py3-none-any.whl", {{"x", 1, 3}});
  EXPECT_THAT(found(), IsEmpty());
}

// Two builds for each of two Pythons meet at one path twice; it counts once. No target has this machine.
TEST_F(SharedFiles, CountOncePerPathOnAnyMachine) {
  for (const char* tag : {"cp310-cp310-linux_aarch64", "cp312-cp312-linux_aarch64"}) {
    add(std::string("one-1.0-") + tag + ".whl", {{"x", 1, 1}});
    add(std::string("two-1.0-") + tag + ".whl", {{"x", 1, 2}});
  }
  auto findings = found();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("one of its files, too, with other bytes: x"));
}

} // namespace
} // namespace quarry::closure
