#pragma once
// A difference between two runs of one build, and the table that says which differences are explained
// (docs/formats/differences.md). Pure, thread-safe.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "inspect/allow.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::shadow {

enum class Topic : std::uint8_t { keys, packages, pages, outputs, verdicts };
std::string_view to_string(Topic topic); ///< "keys", … : as rows of the table name it, after '#'

struct Difference {
  Topic topic = Topic::keys;
  /// What differs: "KEY!ours" only we have it, "KEY!theirs" only they do, "KEY!FIELD" both have it and its FIELD
  /// differs (docs/formats/differences.md).
  std::string place;
  std::string ours, theirs; ///< the two values, for people; empty: nothing is there, or `what` says it
  std::string where = {};   ///< of packages: the directory that they lie in
  std::string kind = {};    ///< of packages: an inspect::Kind, where `ours` is the left side: "only-left"
  std::string what = {};    ///< of packages, if both sides have it: in what they differ
  std::string reason = {};  ///< why it is expected; empty: nothing explains it
  bool explained() const { return !reason.empty(); }
};

struct Section {
  std::uint64_t equal = 0; ///< keys, files, values or links that agree
  std::vector<Difference> differences;
  std::uint64_t explained() const, unexplained() const;
};

/// The table: rows of packages, and rows of the topics.
class Table {
public:
  /// Fails with invalid_argument Q001 as inspect::parse_allowed() does, and with Q500 for a row of a topic without
  /// place or reason. Rows of topics that are not compared here are passed over.
  static Result<Table> parse(NamedText source);
  /// Returns the reason of the first row of the topic whose glob fits the place; empty if none does.
  std::string reason(Topic topic, std::string_view place) const;
  const inspect::Allowed& packages() const { return packages_; }

private:
  struct Row {
    std::string topic, place, reason;
  };
  inspect::Allowed packages_;
  std::vector<Row> rows_;
};

} // namespace quarry::shadow
