#include "cli/waivers.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "cli/records.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::size_t k_sets_shown = 3;
} // namespace

std::string waiver_text(const registry::WaiverRecord& waiver) {
  std::vector<std::string> sets;
  for (const auto& set : waiver.sets) sets.push_back("set:" + set.short_hex());
  auto of = sets.empty() ? "every set" : text::first(sets, k_sets_shown);
  auto attached = waiver.attachment
                      ? fmt::format(" [{} {}]", waiver.attachment->name, waiver.attachment->sha256.short_hex())
                      : std::string();
  return text::one_line(
      fmt::format("{} on {} of {}, until {}, by {}: {}{}", waiver.suite.empty() ? "every suite" : waiver.suite,
                  cell_text(waiver.cell, "every cell"), of, waiver.expires, waiver.approver, waiver.reason, attached));
}

Json attachment_json(const registry::WaiverRecord& waiver) {
  if (!waiver.attachment) return nullptr;
  return {{"name", waiver.attachment->name}, {"sha256", waiver.attachment->sha256.hex()}};
}

Json waiver_json(const registry::Stored<registry::WaiverRecord>& waiver, const registry::RevocationRecord* revoked) {
  const auto& w = waiver.record;
  Json json{{"waiver", waiver.digest},
            {"channel", w.channel},
            {"suite", w.suite},
            {"cell", cell_json(w.cell)},
            {"sets", w.sets},
            {"reason", w.reason},
            {"approver", w.approver},
            {"requester", w.requester},
            {"run", url_json(w.run)},
            {"created", w.created},
            {"expires", w.expires},
            {"revoked", nullptr},
            {"attachment", attachment_json(w)}};
  if (revoked) json["revoked"] = {{"who", revoked->who}, {"reason", revoked->reason}, {"time", revoked->time}};
  return json;
}

Json waived_json(const registry::Waived& waived) {
  return {{"waiver", waived.waiver},     {"set", waived.set},          {"suite", waived.suite},
          {"approver", waived.approver}, {"reason", waived.reason},    {"expires", waived.expires},
          {"cells", waived.cells},       {"projects", waived.projects}};
}

std::vector<registry::Remark> waiver_remarks(const std::vector<registry::ShownSet>& sets) {
  std::vector<registry::Remark> remarks;
  for (const auto& one : sets)
    for (const auto& remark : one.remarks) {
      bool known = std::ranges::find(remarks, remark.text, &registry::Remark::text) != remarks.end();
      if (!remark.waiver.empty() && !known) remarks.push_back(remark);
    }
  return remarks;
}

Json waiver_remarks_json(const std::vector<registry::Remark>& remarks) {
  auto list = Json::array();
  for (const auto& one : remarks) list.push_back({{"waiver", one.waiver}, {"text", one.text}});
  return list;
}

} // namespace quarry::cli
