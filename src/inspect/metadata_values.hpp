#pragma once
// What METADATA may say that PyPI takes: data/metadata-values.toml. Pure.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

struct MetadataValues {
  std::string spdx, trove_classifiers;        ///< the versions of both lists, for messages
  std::set<std::string> licenses, exceptions; ///< identifiers of SPDX, in lower case
  std::set<std::string, std::less<>> classifiers;
  std::map<std::string, std::vector<std::string>, std::less<>> deprecated; ///< classifier -> what replaces it
};
/// Fails with corrupt Q014, with file, line and key.
Result<MetadataValues> parse_metadata_values(NamedText named);

/// The identifiers of an expression that SPDX does not list, as they are written. `LicenseRef-…` is the author's own.
/// The expression has passed dist::check_license_expression().
std::vector<std::string> unlisted_licenses(std::string_view expression, const MetadataValues& values);

} // namespace quarry::inspect
