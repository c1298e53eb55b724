#include "inspect/refusals.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::inspect {

namespace {
constexpr const char* k_refusals_code = "Q008";
constexpr const char* k_refusals_page = "docs/formats/refusals.md";

Result<void> check_names(const TomlTable& table, const std::string& key, const std::vector<std::string>& names,
                         const Refusals& refusals) {
  for (const auto& name : names)
    if (std::ranges::find(refusals.consumers, name, &WheelConsumer::name) == refusals.consumers.end())
      return table.error(key, fmt::format("{} is not the name of a consumer", name));
  return {};
}

/// A row is reached if no row before it fits all findings that it fits.
bool is_hidden(const Refusals& refusals, const RefusalRow& row) {
  return std::ranges::any_of(refusals.rows, [&](const RefusalRow& before) {
    return before.code == row.code && row.message.find(before.message) != row.message.npos;
  });
}

Result<void> read_consumer(TomlTable& table, Refusals& refusals) {
  WheelConsumer consumer;
  TRY_DO(table.text("name", consumer.name, true));
  TRY_DO(table.text("version", consumer.version, true));
  refusals.consumers.push_back(std::move(consumer));
  return {};
}

Result<void> read_defect(TomlTable& table, Refusals& refusals) {
  RefusalRow row;
  TRY_DO(table.text("code", row.code, true));
  TRY_DO(table.text("message", row.message));
  TRY_DO(table.texts("refused_by", row.refused_by));
  TRY_DO(table.texts("depends", row.depends));
  TRY_DO(table.text("note", row.note));
  TRY_DO(table.text("source", row.source, true));
  TRY_DO(check_names(table, "refused_by", row.refused_by, refusals));
  TRY_DO(check_names(table, "depends", row.depends, refusals));
  if (!row.depends.empty() && row.note.empty()) return table.error("depends", "`note` must say on what it depends");
  if (is_hidden(refusals, row)) return table.error("code", "a row above fits all findings of this one");
  refusals.rows.push_back(std::move(row));
  return {};
}
} // namespace

const RefusalRow* Refusals::find(const Finding& finding) const {
  for (const auto& row : rows)
    if (row.code == finding.code && finding.message.find(row.message) != finding.message.npos) return &row;
  return nullptr;
}

std::string Refusals::text_of(const RefusalRow& row) const {
  std::vector<std::string> parts;
  if (!row.refused_by.empty()) parts.push_back(text::join(row.refused_by, ", "));
  if (!row.depends.empty())
    parts.push_back(fmt::format("in some cases {} ({})", text::join(row.depends, ", "), row.note));
  if (!parts.empty()) return text::join(parts, "; ");
  std::vector<std::string> names;
  for (const auto& consumer : consumers) names.push_back(consumer.name);
  return fmt::format("nobody: {} take it", text::join(names, ", "));
}

Result<Refusals> parse_refusals(NamedText named) {
  TRY(auto root, TomlTable::parse({named.text, named.name}, {k_refusals_code, k_refusals_code, k_refusals_page}));
  Refusals refusals;
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.refusals/1"}, true));
  TRY_DO(root.tables("consumer", [&](TomlTable& table) { return read_consumer(table, refusals); }));
  TRY_DO(root.tables("defect", [&](TomlTable& table) { return read_defect(table, refusals); }));
  TRY_DO(root.finish());
  return refusals;
}

} // namespace quarry::inspect
