#include "promote/difference.hpp"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <functional>
#include <numeric>

namespace quarry::promote {

namespace {

/// One flag that the other request may have had otherwise.
struct Change {
  std::string line;
  std::function<void(Request&)> make;
};

std::string cells_of(bool ready) { return ready ? "ready" : "all"; }

std::vector<Change> changes_of(const Request& request) {
  std::vector<Change> changes;
  if (!request.distribution.empty())
    changes.push_back({added_store(request.distribution), [](Request& r) { r.distribution.clear(); }});
  changes.push_back({fmt::format("differs   --cells: reviewed {}, now {}", cells_of(!request.ready_cells_only),
                                 cells_of(request.ready_cells_only)),
                     [](Request& r) { r.ready_cells_only = !r.ready_cells_only; }});
  bool pins = request.pin_from.has_value();
  changes.push_back(
      {fmt::format("differs   --pin: reviewed {} it, now {}", pins ? "without" : "with", pins ? "with it" : "without"),
       [pins](Request& r) {
         r.pin_from.reset();
         if (!pins) r.pin_from.emplace();
       }});
  if (!request.base_index_name.empty())
    changes.push_back({fmt::format("differs   --base-index: reviewed without it, now {}", request.base_index_name),
                       [](Request& r) { r.base_index_name.clear(); }});
  if (!request.expectations.empty())
    changes.push_back(
        {"differs   --expect: reviewed without it, now with it", [](Request& r) { r.expectations.clear(); }});
  return changes;
}

/// What digest_of() looks at, without the sets: there may be many.
Request fields_of(const Request& request) {
  Request fields;
  fields.source.source = request.source.source;
  fields.channel = request.channel;
  fields.policy = request.policy;
  fields.ready_cells_only = request.ready_cells_only;
  fields.distribution = request.distribution;
  fields.elsewhere = request.elsewhere;
  fields.expectations = request.expectations;
  fields.base_index_name = request.base_index_name;
  fields.pin_from = request.pin_from;
  return fields;
}

std::vector<std::string> asked_now(const Request& request) {
  auto or_none = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
  return {
      fmt::format("now       from {} to {}, policy {}", request.source.source, request.channel, request.policy.name),
      fmt::format("now       --cells {}, --to-store {}, --base-index {}, --pin {}, --expect {}",
                  cells_of(request.ready_cells_only), or_none(request.distribution), or_none(request.base_index_name),
                  request.pin_from ? "yes" : "no", request.expectations.empty() ? "none" : "given")};
}

} // namespace

std::string added_store(const std::string& distribution) {
  auto line = distribution.substr(0, distribution.find('\n')); // what is taken over there follows
  return fmt::format("differs   --to-store: reviewed without it, now {}", line);
}

std::vector<std::string> request_difference(const Request& request, const std::string& reviewed) {
  auto changes = changes_of(request);
  std::vector<unsigned> choices(1u << changes.size());
  std::iota(choices.begin(), choices.end(), 0u);
  std::ranges::stable_sort(choices, {}, [](unsigned choice) { return std::popcount(choice); });
  const auto fields = fields_of(request);
  for (auto choice : choices) {
    auto other = fields;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (!(choice >> i & 1u)) continue;
      changes[i].make(other);
      lines.push_back(changes[i].line);
    }
    if (!lines.empty() && digest_of(other) == reviewed) return lines;
  }
  return asked_now(request);
}

bool reviewed_without_store(const Plan& plan, const registry::ReviewedPlan& reviewed) {
  if (plan.distribution.empty()) return false;
  auto other = plan;
  other.distribution.clear();
  return reviewed.names(digest_of(other));
}

} // namespace quarry::promote
