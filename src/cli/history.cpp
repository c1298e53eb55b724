#include "cli/history.hpp"

#include "base/units.hpp"
#include "cli/facts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

std::string history_text(const publish::HistoryPlan& history, bool dry_run) {
  std::string text;
  auto known = std::ranges::count_if(history.files, [](const auto& file) { return file.sha256.has_value(); });
  if (!history.files.empty())
    text += fact("history", "{} {} of other tools in {}  {}: untested history, sha256 known of {}",
                 dry_run ? "would take over" : "took over", units::things(history.files.size(), "file"),
                 history.directory, units::bytes(history.bytes()), known);
  for (const auto& name : history.let_go)
    text += fact("given up", "{} in {}: no page {} it", name, history.directory, dry_run ? "will list" : "lists");
  return text;
}

Json history_json(const publish::HistoryPlan& history) {
  auto files = Json::array();
  for (const auto& file : history.files) {
    Json row{{"filename", file.filename}, {"project", file.project}, {"version", file.version},
             {"size", file.size},         {"key", file.key},         {"etag", file.etag},
             {"sha256", nullptr},         {"digest_from", nullptr}};
    if (file.sha256) row["sha256"] = file.sha256->hex(), row["digest_from"] = file.digest_from;
    files.push_back(std::move(row));
  }
  return {{"directory", history.directory},
          {"files", files},
          {"given_up", history.let_go},
          {"already_looked_at", history.noted}};
}

Json histories_json(const std::vector<publish::HistoryPlan>& histories) {
  auto all = Json::array();
  for (const auto& history : histories) all.push_back(history_json(history));
  return all;
}

} // namespace quarry::cli
