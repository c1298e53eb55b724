#pragma once
// Who refuses a wheel for which defect: PyPI, pip, uv and `installer`, as data/refusals.toml says it. Pure,
// thread-safe.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

/// A program or service that takes wheels, and the version whose behaviour the table describes.
struct WheelConsumer {
  std::string name, version;
};

/// Findings with this code whose message has `message` in it (empty: any message).
struct RefusalRow {
  std::string code, message;
  std::vector<std::string> refused_by; ///< names of consumers that always refuse
  std::vector<std::string> depends;    ///< names of those that refuse in the cases that `note` says
  std::string note, source;
};

struct Refusals {
  std::vector<WheelConsumer> consumers;
  std::vector<RefusalRow> rows;
  /// The first row that fits the finding; nullptr if the table says nothing about it. Linear in the rows.
  const RefusalRow* find(const Finding& finding) const;
  /// "PyPI, uv; pip: in some cases", or who takes the wheel all the same.
  std::string text_of(const RefusalRow& row) const;
};

/// Fails with corrupt Q008, with file, line and key: a name that is not a consumer's, a row that an earlier row hides,
/// a row without source or version, `depends` without `note`.
Result<Refusals> parse_refusals(NamedText named);

} // namespace quarry::inspect
