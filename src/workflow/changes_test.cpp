#include "workflow/changes.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <map>

namespace quarry::workflow {
namespace {

/// A repository with one workflow whose only job runs `b FIRST`, `b FIRST+1`, …
Repository with_steps(int first, int count) {
  std::string text = "on: push\njobs:\n  j:\n    steps:\n";
  for (int i = 0; i < count; ++i) text += fmt::format("    - run: b{}\n", first + i);
  Repository repository;
  repository.files.push_back(read_file_model("a.yml", std::move(text), false, repository.defects));
  return repository;
}

/// How many changes of each kind there are.
std::map<std::string, int> changes_of_steps(int count) {
  auto before = with_steps(100'000, count), after = with_steps(100'001, count - 1);
  EXPECT_TRUE(before.defects.empty() && after.defects.empty());
  std::map<std::string, int> counted;
  for (const auto& change : compare(before, after).list)
    ++counted[change.kind == Change::Kind::command   ? "changed commands"
              : change.what == Change::What::removed ? "removed steps"
                                                     : "other"];
  return counted;
}

using Counted = std::map<std::string, int>;

TEST(Changes, StepsAreComparedByTheirContents) { EXPECT_EQ(changes_of_steps(1000), (Counted{{"removed steps", 1}})); }

TEST(Changes, StepsOfAJobThatGitHubWouldNotRunAreComparedByTheirOrder) {
  // A search for each step among 25,000 others takes minutes.
  EXPECT_EQ(changes_of_steps(25'000), (Counted{{"changed commands", 24'999}, {"removed steps", 1}}));
}

} // namespace
} // namespace quarry::workflow
