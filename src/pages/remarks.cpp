#include "pages/remarks.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/empty_extras.hpp"
#include "registry/revocations.hpp"
#include "registry/waived.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::pages {

namespace {

std::string sentence_about(const registry::EmptyExtra& one) {
  return fmt::format("{} cannot be installed from here: {} is held back.", registry::name_of(one),
                     one.lacks.empty() ? "what it names" : one.lacks);
}

std::string sentence_about(const registry::Waived& one) {
  return fmt::format("Not tested: {} (waiver {})", registry::sentence_of(one), one.waiver.short_hex());
}

std::string as_revoked(std::string sentence) {
  constexpr std::string_view k_end = ")", k_since = ", revoked since";
  auto at = sentence.ends_with(k_end) ? sentence.size() - k_end.size() : sentence.size();
  return sentence.insert(at, k_since);
}

void add_once(std::string sentence, std::vector<std::string>& to) {
  if (std::ranges::find(to, sentence) == to.end()) to.push_back(std::move(sentence));
}

} // namespace

std::vector<std::string> remarks_about(const registry::ViewRecord& view, const std::string& project,
                                       const Revoked& revoked) {
  std::vector<std::string> remarks;
  for (const auto& one : registry::empty_extras_of(view))
    if (project.empty() || one.project == project) remarks.push_back(sentence_about(one));
  for (const auto& one : registry::waived_of(view)) // the same one may be of several sets
    if (project.empty() || std::ranges::binary_search(one.projects, project))
      add_once(revoked.contains(one.waiver) ? as_revoked(sentence_about(one)) : sentence_about(one), remarks);
  return remarks;
}

std::vector<registry::Remark> remarks_about(const registry::ViewRecord& view, const registry::SealedSet& sealed) {
  std::vector<registry::Remark> remarks;
  for (const auto& one : registry::empty_extras_of(view)) {
    auto advertises = [&](const auto& file) { return file.project == one.project && file.version == one.version; };
    if (std::ranges::any_of(sealed.set.files, advertises))
      remarks.push_back({sentence_about(one), one.project, one.lacks, one.version});
  }
  for (const auto& one : registry::waived_of(view))
    if (one.set == sealed.digest || one.set == sealed.set.subset_of) {
      remarks.push_back({sentence_about(one), text::join(one.projects, " ")});
      remarks.back().waiver = one.waiver;
    }
  return remarks;
}

Result<Revoked> revoked_of(store::ObjectReader& store, const registry::ViewRecord& view) {
  auto waived = registry::waived_of(view);
  if (waived.empty()) return Revoked();
  TRY(auto all, registry::list_revoked(store));
  Revoked revoked;
  for (const auto& one : waived)
    if (std::ranges::binary_search(all, one.waiver)) revoked.insert(one.waiver);
  return revoked;
}

std::vector<std::string> openly_said(std::string_view policy) {
  std::vector<std::string> sentences;
  auto json = json::parse({policy, "a policy"});
  auto words = json && json->is_object() ? json->value("openly", Json::array()) : Json::array();
  auto says = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (says("unsigned"))
    sentences.emplace_back("Unsigned: the policy of this channel lets results count that nobody has signed.");
  if (says("nothing_expected"))
    sentences.emplace_back("The policy of this channel does not say which packages a release must bring.");
  return sentences;
}

Remarks remarks_of_shown(const registry::Shown& shown, const std::vector<registry::SealedSet>& sealed) {
  Remarks remarks;
  std::set<std::pair<std::string, std::string>> there; // project and version
  for (const auto& one : sealed)
    for (const auto& file : one.set.files) there.emplace(file.project, file.version);
  for (const auto& one : shown.sets) {
    auto set = std::ranges::find(sealed, one.set, &registry::SealedSet::digest);
    if (set == sealed.end()) continue;
    std::set<std::string> own;
    for (const auto& file : set->set.files) own.insert(file.project);
    for (const auto& remark : one.remarks) {
      if (there.contains({remark.lacks, remark.version})) continue; // the extra's packages have come since
      bool revoked = !remark.waiver.empty() && std::ranges::find(shown.revoked, remark.waiver) != shown.revoked.end();
      auto sentence = revoked ? as_revoked(remark.text) : remark.text;
      add_once(sentence, remarks.all);
      auto named = text::split(remark.projects, ' ');
      for (const auto& project : remark.projects.empty() ? own : std::set<std::string>(named.begin(), named.end()))
        add_once(sentence, remarks.by_project[project]);
    }
  }
  return remarks;
}

} // namespace quarry::pages
