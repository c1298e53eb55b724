#include "cli/plan_text.hpp"

#include "base/units.hpp"
#include "cli/facts.hpp"
#include "cli/table.hpp"
#include <fmt/core.h>

namespace quarry::cli {

std::string plan_text(const publish::Plan& plan, Look look) {
  auto text = fact("planning", "{}  {} to store below {}", units::things(plan.files.size(), "file"),
                   units::bytes(plan.bytes_to_write()), plan.directory);
  TableRows rows;
  for (const auto& file : plan.files)
    rows.push_back({file.present    ? "exists"
                    : file.replaces ? "replaces"
                                    : "new",
                    file.file.filename, units::bytes(file.file.size)});
  return text + table({{.least = 8}, k_name, {.right = true, .least = 9}}, rows, look, 2);
}

} // namespace quarry::cli
