#include "cli/waivers.hpp"

#include "base/text.hpp"
#include "cli/records.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace quarry::cli {

std::string waiver_text(const registry::WaiverRecord& waiver) {
  std::vector<std::string> parts;
  for (const auto& part : {waiver.cell.platform, waiver.cell.family, waiver.cell.python, waiver.cell.framework})
    if (!part.empty()) parts.push_back(part);
  auto cells = parts.empty() ? std::string("every cell") : text::join(parts, " ");
  return fmt::format("{} on {}, until {}, by {}: {}", waiver.suite.empty() ? "every suite" : waiver.suite, cells,
                     waiver.expires, waiver.approver, waiver.reason);
}

Json waiver_json(const registry::Stored<registry::WaiverRecord>& waiver, const registry::RevocationRecord* revoked) {
  const auto& w = waiver.record;
  Json json{{"waiver", waiver.digest},
            {"channel", w.channel},
            {"suite", w.suite},
            {"cell",
             {{"platform", w.cell.platform},
              {"family", w.cell.family},
              {"python", w.cell.python},
              {"framework", w.cell.framework}}},
            {"sets", w.sets},
            {"reason", w.reason},
            {"approver", w.approver},
            {"requester", w.requester},
            {"run", url_json(w.run)},
            {"created", w.created},
            {"expires", w.expires},
            {"revoked", nullptr}};
  if (revoked) json["revoked"] = {{"who", revoked->who}, {"reason", revoked->reason}, {"time", revoked->time}};
  return json;
}

} // namespace quarry::cli
