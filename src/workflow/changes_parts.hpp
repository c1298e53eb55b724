#pragma once
// Private to the room.
// Parts of changes.cpp.
#include "workflow/changes.hpp"
#include <utility>

namespace quarry::workflow {

/// A value as YAML writes it in one line: `{os: linux, gpus: [a, b]}`.
std::string flow_text(const Node& node);
/// The items of a list, or a value: "a, b".
std::string values_of(const Node& column);

/// Where a change is: in words, and the place for what the new state lacks.
struct Spot {
  std::string where;
  Position at;
};

/// Collects the changes of one file.
class Recorder {
public:
  Recorder(std::string file, Changes& changes) : file_(std::move(file)), changes_(changes) {}
  /// The result is valid until the next one is added.
  Change& add(Change::Kind kind, Change::What what, Position at, std::string name);
  /// A value that is another one, was added or removed: an empty text stands for one that is not there. nullptr if both
  /// are equal.
  Change* value(Change::Kind kind, std::string name, const Spot& spot, std::pair<std::string, std::string> texts);
  std::size_t count() const { return changes_.list.size(); }
  /// Keeps those permissions of a new job, behind the first `known` changes, by which its token may do more than the
  /// workflow's before. They are suggestions.
  void keep_gains(std::size_t known);

private:
  std::string file_;
  Changes& changes_;
};

/// Events and their filters, permissions.
void compare_starts(const File& before, const File& after, Recorder& recorder);
/// Jobs and steps, their keys and commands. O(jobs * steps).
void compare_settings(const File& before, const File& after, Recorder& recorder);

} // namespace quarry::workflow
