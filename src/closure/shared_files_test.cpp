#include "closure/shared_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::closure {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;

class SharedFiles : public ::testing::Test {
protected:
  void add(const std::string& file, std::vector<wheel::OwnedFile> files) {
    auto package = package_of(file, dist::Metadata(), 100);
    ASSERT_TRUE(package) << render(package.error());
    packages_.push_back(std::move(*package));
    files_.push_back(std::move(files));
  }
  Findings found(const std::string& platforms = "linux") {
    auto targets = targets_of(packages_, "3.10,3.12", platforms);
    EXPECT_TRUE(targets);
    std::vector<InstalledFiles> wheels;
    for (auto i : wheels_to_compare(packages_)) wheels.push_back({packages_[i], files_[i]});
    return check_shared_files(wheels, targets->targets);
  }
  std::size_t compared() const { return wheels_to_compare(packages_).size(); }

private:
  std::vector<Package> packages_;
  std::vector<std::vector<wheel::OwnedFile>> files_;
};

TEST_F(SharedFiles, WithOtherBytesAreAnErrorThatNamesBothWheelsAndThePaths) {
  add("one-1.0-py3-none-any.whl", {{"x/a", 1, 1}, {"x/b", 1, 1}, {"x/c", 1, 1}});
  add("two-1.0-py3-none-any.whl", {{"x/a", 1, 2}, {"x/b", 2, 1}, {"y/c", 1, 1}});
  auto findings = found();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "Q438");
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[0].place, "two-1.0-py3-none-any.whl");
  EXPECT_EQ(findings[0].message, "one-1.0-py3-none-any.whl also installs x/a, x/b, with other bytes");
}

TEST_F(SharedFiles, WithTheSameBytesAreANote) {
  add("one-1.0-py3-none-any.whl", {{"x/__init__.py", 0, 0}});
  add("two-1.0-py3-none-any.whl", {{"x/__init__.py", 0, 0}});
  auto findings = found();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::note);
  EXPECT_THAT(findings[0].message, EndsWith("also installs x/__init__.py"));
}

TEST_F(SharedFiles, OfWheelsThatNobodyInstallsTogetherAreNoFinding) {
  add("one-1.0-cp310-cp310-linux_x86_64.whl", {{"x", 1, 1}});
  add("two-1.0-cp312-cp312-linux_x86_64.whl", {{"x", 1, 2}});
  add("three-1.0-py3-none-win_amd64.whl", {{"x", 1, 3}});
  EXPECT_THAT(found("linux,windows"), IsEmpty());
}

// Their lists are not even read: 20,000 wheels of 100 projects are published without opening them again.
TEST_F(SharedFiles, OfOneProjectOrOfAnOlderVersionAreNotCompared) {
  add("one-1.0-py3-none-any.whl", {{"x", 1, 1}});
  add("one-2.0-py3-none-any.whl", {{"y", 1, 2}});
  EXPECT_EQ(compared(), 0u);
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
  EXPECT_THAT(findings[0].message, EndsWith("also installs x, with other bytes"));
}

} // namespace
} // namespace quarry::closure
