#pragma once
// A small wheel as text, for tests that damage it.
#include "wheel/wheel.hpp"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarry::wheel {

/// A minimal sound wheel.
struct DraftText {
  std::string name = "x-1-py3-none-any.whl", info = "x-1.dist-info/";
  std::string metadata = "Metadata-Version: 2.1\nName: x\nVersion: 1\n";
  std::string wheel = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
  std::vector<std::pair<std::string, std::string>> files{{"x.py", "1\n"}};
  std::optional<std::string> record; // instead of the right one
  std::string record_more;           // appended
  bool has_metadata = true, has_wheel = true, has_record = true;

  std::string row(const std::string& path, const std::string& text) const {
    return path + ",sha256=" + sha256(text).base64url() + "," + std::to_string(text.size()) + "\n";
  }
  std::vector<std::pair<std::string, std::string>> all() const {
    auto out = files;
    if (has_metadata) out.emplace_back(info + "METADATA", metadata);
    if (has_wheel) out.emplace_back(info + "WHEEL", wheel);
    std::string rows;
    for (const auto& [path, text] : out) rows += row(path, text);
    rows += info + "RECORD,,\n";
    if (has_record) out.emplace_back(info + "RECORD", record.value_or(rows) + record_more);
    return out;
  }
};

} // namespace quarry::wheel
