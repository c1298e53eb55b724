#pragma once
// Private to the room.
// What a difference consists of: each requirement of a list, and what means the same although it is written otherwise.
#include "inspect/compare.hpp"
#include "inspect/values.hpp"
#include <string>
#include <vector>

namespace quarry::inspect {

/// The values of one package, and the files that some of them are about.
struct Described {
  Values values;
  const Entries& entries;
};

/// Returns the parts of what differs at `place`; empty if they cannot be told apart. Parts are:
/// - the requirements and extras that one side lacks, each with its name,
/// - a requirement whose marker alone differs ("…!marker:LEFT|RIGHT"),
/// - a console script that calls the same function in another spelling ("…!spelling"), or one that neither package has
///   a program for ("…!no-program"),
/// - the two values of a field of one word ("wheel:Root-Is-Purelib:false|true").
std::vector<Part> parts_of(const std::string& place, const Described& left, const Described& right);

/// Whether two files are JSON documents with equal values, whatever their spaces and the order of keys and arrays.
/// False for files above 16 MiB and for what is not JSON. Fails if the bytes cannot be read.
Result<bool> same_json(const content::Rope& left, const content::Rope& right);

} // namespace quarry::inspect
