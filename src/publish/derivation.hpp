#pragma once
// The record of what packages were made of, which `release finalize` leaves beside them.
#include "registry/records.hpp"
#include <string>

namespace quarry::publish {

/// The bytes of the record `derivation.json` in `directory`, or beside it if it is the `dist` of another one; empty if
/// the record does not exist. Fails with invalid_argument P095 if the record is not about exactly the files of `set`,
/// and as registry::parse_derivation() does.
Result<std::string> read_derivation(const std::string& directory, const registry::SetRecord& set);

} // namespace quarry::publish
