#include "publish/history.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "publish/adopt_notes.hpp"
#include "publish/blocked_history.hpp"
#include "publish/history_look.hpp"
#include "publish/placement.hpp"
#include "publish/publish.hpp"
#include "publish/shown.hpp"
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <mutex>

namespace quarry::publish {

using registry::HistoryFile;
using store::ObjectInfo;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_noted_at_once = 256; ///< files between two notes: a killed run repeats at most so many

/// Why packages cannot be taken over, by name.
using Reasons = std::map<std::string, std::string>;

struct Candidate {
  std::string name;
  const ObjectInfo* object = nullptr;
  const Said* said = nullptr;
};

/// Whether the object still has the bytes that were looked at, as far as a listing tells: the same bytes may have been
/// written again.
bool has_same_bytes(const HistoryFile& file, const ObjectInfo& object) {
  bool etags = !file.etag.empty() && !object.etag.empty();
  return etags ? file.etag == object.etag && file.size == object.size : is_same_object(file, object);
}

/// One warning for all files, which names them: a directory that somebody emptied has thousands.
void note_files(const std::vector<std::string>& keys, std::string_view what, std::string_view fix, Findings& notes) {
  constexpr std::size_t k_named = 20;
  if (keys.empty()) return;
  std::string others;
  if (keys.size() > 1)
    others = "; likewise " + text::first(std::vector<std::string>(keys.begin() + 1, keys.end()), k_named);
  notes.push_back({"P117", Severity::warning, keys.front(), std::string(what) + others, std::string(fix)});
}

/// Warns of what was taken over earlier and is not the same object any more. What a set holds is not history any more.
void note_changed(const registry::History& history, const Planned& planned, const FileNames& held, Findings& notes) {
  std::map<std::string_view, const ObjectInfo*> there;
  for (const auto& object : planned.objects) there[object.key] = &object;
  std::vector<std::string> gone, replaced;
  for (const auto& file : history.files) {
    if (held.contains(file.filename)) continue;
    auto at = there.find(file.key);
    if (at != there.end() && has_same_bytes(file, *at->second)) continue;
    (at == there.end() ? gone : replaced).push_back(file.key);
  }
  note_files(gone, "was taken over as untested history, and is gone", "put it back: our pages still list it", notes);
  note_files(replaced, "was taken over as untested history, and was replaced since",
             "put the old file back: installers refuse the new one where our pages have the sha256 of the old one",
             notes);
}

/// Files that need no decision: those that pages show already, and those that an earlier move gave up.
struct Known {
  FileNames shown;
  std::vector<std::string> given_up;
};

Result<Known> known_in(ObjectReader& target, const Planned& planned, Findings& notes) {
  FileNames known;
  for (const auto& file : planned.files) known.insert(file.filename);
  TRY(auto sets, registry::sealed_sets_below(target, planned.directory));
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) known.insert(file.filename);
  TRY(auto history, registry::history_of(target, planned.directory));
  note_changed(history, planned, known, notes);
  for (const auto& file : history.files) known.insert(file.filename);
  return Known{std::move(known), std::move(history.given_up)};
}

/// Those that lie in the directory. A link that leads elsewhere cannot be taken over.
std::vector<Candidate> candidates_of(const Planned& planned, const UnshownByName& unshown, Reasons& reasons) {
  std::map<std::string, const ObjectInfo*> here;
  for (const auto& object : planned.objects) {
    auto name = package_at(std::string_view(object.key).substr(planned.directory.size() + 1));
    if (name.empty()) continue;
    auto [known, fresh] = here.try_emplace(name, &object);
    if (!fresh && (known->second->size != object.size || known->second->etag != object.etag) && unshown.contains(name))
      reasons[name] = "it lies there twice, with different bytes";
  }
  std::vector<Candidate> candidates;
  for (const auto& [name, one] : unshown) {
    auto at = here.find(name);
    if (reasons.contains(name)) continue;
    if (at == here.end())
      reasons[name] = ""; // the page that links to it is reason enough
    else
      candidates.push_back({name, at->second, &one.said});
  }
  return candidates;
}

/// A metadata file that is there already: offered if it is METADATA of the wheel.
Result<void> compare_sidecar(ObjectReader& target, Looked& looked, HistoryPlan& plan, std::mutex& mutex) {
  auto key = looked.file.key + ".metadata";
  TRY(auto there, target.get(key, dist::k_metadata_bytes_max));
  std::lock_guard lock(mutex);
  if (!there)
    plan.sidecars[looked.file.filename] = std::move(looked.sidecar);
  else if (*there != looked.sidecar) {
    looked.file.metadata_sha256.reset();
    plan.notes.push_back({"P112", Severity::warning, key,
                          "is not METADATA of the wheel beside it, so no page offers it",
                          "remove it, then `quarry set adopt` the directory again"});
  }
  return {};
}

/// One run over the candidates; what is wrong with a package is a reason, what is wrong with the store an error.
class Looking {
public:
  Looking(ObjectStore& target, const HistoryOptions& options, HistoryPlan& plan, Reasons& reasons)
      : target_(target), options_(options), plan_(plan), reasons_(reasons) {}

  Result<void> run(const std::vector<Candidate>& candidates) {
    for (std::size_t begin = 0; begin < candidates.size(); begin += k_noted_at_once) {
      auto count = std::min(k_noted_at_once, candidates.size() - begin);
      auto before = plan_.files.size();
      TRY_DO(parallel_for(count, options_.transfers, [&](std::size_t i) { return look(candidates[begin + i]); }));
      if (options_.keep_notes) TRY_DO(note(before));
    }
    return {};
  }

private:
  Result<void> look(const Candidate& candidate) {
    auto looked = look_at_found(target_, {*candidate.object, *candidate.said, options_.temporary});
    if (!looked && !is_of_the_package(looked.error())) return fail(std::move(looked).error());
    if (looked && looked->file.metadata_sha256) TRY_DO(compare_sidecar(target_, *looked, plan_, mutex_));
    std::lock_guard lock(mutex_);
    if (looked)
      plan_.files.push_back(std::move(looked->file));
    else
      reasons_[candidate.name] = fmt::format("{} {}", looked.error().code, looked.error().message);
    if (options_.on_progress) options_.on_progress(plan_.files.size() + reasons_.size());
    return {};
  }
  /// The metadata files go first: whoever reads the note relies on them.
  Result<void> note(std::size_t before) {
    std::vector<HistoryFile> fresh(plan_.files.begin() + static_cast<std::ptrdiff_t>(before), plan_.files.end());
    for (const auto& file : fresh)
      if (auto text = plan_.sidecars.find(file.filename); text != plan_.sidecars.end()) {
        TRY_DO(store_metadata_file(target_, file.key, text->second));
        plan_.sidecars.erase(text);
      }
    return write_adopt_note(target_, plan_.directory, std::move(fresh));
  }

  ObjectStore& target_;
  const HistoryOptions& options_;
  HistoryPlan& plan_;
  Reasons& reasons_;
  std::mutex mutex_;
};

Unexpected would_be_lost(const ObjectReader& target, const std::string& directory, std::vector<std::string> lines) {
  constexpr std::size_t k_shown = 10;
  auto count = lines.size();
  auto error =
      Error::of(ErrorKind::already_exists, "P090",
                fmt::format("{} in {} lists {} of another tool, and our pages would no longer show {}", directory,
                            target.describe(), count == 1 ? "a package" : "packages", count == 1 ? "it" : "them"))
          .with_hint("nothing was changed: give up single packages by name with `--replace NAME`; or take a "
                     "directory of its own, such as `--prefix quarry/{family}`");
  error.details = text::first_lines(std::move(lines), k_shown);
  return fail(std::move(error));
}

/// What is still lost after all that can be taken over was: an error, unless it is given up by name, now or earlier.
Result<void> judge_losses(const ObjectReader& target, const UnshownByName& unshown, const Reasons& reasons,
                          const GivenUp& given_up, HistoryPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& [name, why] : reasons) {
    if (given_up.is_now(name, plan.used)) {
      plan.let_go.push_back(name);
      continue;
    }
    if (given_up.was_earlier(name)) continue;
    for (const auto& place : unshown.at(name).places)
      lines.push_back(fmt::format("{}  in {}{}", name, place, why.empty() ? "" : ": " + why));
  }
  if (!lines.empty()) return would_be_lost(target, plan.directory, std::move(lines));
  for (const auto& name : given_up.earlier) given_up.is_now(name, plan.used); // the same command once more
  return {};
}

/// A run that was killed may have hidden a package already: its file still lies there.
void use_hidden(const Planned& planned, const FileNames& shown, const GivenUp& given_up, HistoryPlan& plan) {
  for (const auto& object : planned.objects) {
    auto name = package_at(std::string_view(object.key).substr(planned.directory.size() + 1));
    if (!name.empty() && !shown.contains(name)) given_up.is_now(name, plan.used);
  }
}

/// Pages of another tool stay as they are in a directory that has ours, so nothing is lost there.
Findings left_out(const ObjectReader& target, const UnshownByName& unshown, const Planned& planned) {
  constexpr std::size_t k_named = 5;
  if (unshown.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, one] : unshown) names.push_back(name);
  return {
      {"P124", Severity::warning, planned.directory,
       fmt::format("{} of another tool {} there, and no page of ours lists {}, because a protected channel feeds the "
                   "directory: {}",
                   units::things(names.size(), "package"), names.size() == 1 ? "lies" : "lie",
                   names.size() == 1 ? "it" : "them", text::first(names, k_named)),
       fmt::format("if people are to install them untested: `quarry set adopt {} --store {}`", planned.directory,
                   target.describe())}};
}

/// The files whose notes fit leave `candidates`.
Result<void> take_noted(ObjectReader& target, std::vector<Candidate>& candidates, HistoryPlan& plan) {
  TRY(auto notes, read_adopt_notes(target, plan.directory));
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const auto* noted = notes.find(*candidate.object);
    if (noted) plan.files.push_back(*noted);
    return noted != nullptr;
  });
  plan.noted = plan.files.size();
  return {};
}

Result<void> still_as_planned(ObjectReader& target, const HistoryPlan& plan) {
  TRY(auto objects, target.list(plan.directory + "/"));
  std::map<std::string, const ObjectInfo*> now;
  for (const auto& object : objects) now[object.key] = &object;
  for (const auto& file : plan.files) {
    auto at = now.find(file.key);
    if (at == now.end() || !is_same_object(file, *at->second)) return changed_since(file.key);
  }
  return {};
}

} // namespace

bool GivenUp::was_earlier(const std::string& name) const { return std::ranges::find(earlier, name) != earlier.end(); }

bool GivenUp::is_now(const std::string& name, std::set<std::string>& used) const {
  auto parsed = dist::DistributionName::parse(name);
  for (const auto& wanted : now) {
    auto project = dist::ProjectName::parse(wanted);
    bool fits = wanted == name || (parsed && project && *project == parsed->project);
    if (!fits) continue;
    used.insert(wanted);
    return true;
  }
  return false;
}

Result<void> refuse_unused(const std::vector<std::string>& let_go, const std::set<std::string>& used,
                           const std::string& where) {
  for (const auto& wanted : let_go)
    if (!used.contains(wanted))
      return fail(ErrorKind::invalid_argument, "P110",
                  fmt::format("--replace {}: no link to it would be lost in {}", wanted, where),
                  "leave it out; without it the command says what would be lost");
  return {};
}

std::uint64_t HistoryPlan::bytes() const {
  std::uint64_t total = 0;
  for (const auto& file : files) total += file.size;
  return total;
}

bool HistoryPlan::empty() const { return files.empty() && let_go.empty() && notes.empty(); }

Result<bool> holds_packages(ObjectReader& target, const std::string& directory) {
  auto has_package = [&](const std::vector<ObjectInfo>& objects) {
    return std::ranges::any_of(objects, [&](const ObjectInfo& object) {
      auto rest = std::string_view(object.key).substr(directory.size() + 1);
      return rest.find('/') == rest.npos ? is_distribution(rest) : !package_at(rest).empty();
    });
  };
  TRY(auto here, target.children(directory + "/"));
  if (has_package(here.objects)) return true;
  for (const auto& below : here.directories) {
    TRY(auto there, target.children(below));
    if (has_package(there.objects)) return true;
  }
  return false;
}

Result<HistoryPlan> plan_history(ObjectStore& target, const Planned& planned, const HistoryOptions& options) {
  HistoryPlan plan;
  plan.directory = planned.directory;
  if (planned.objects.empty()) return plan;
  TRY(auto known, known_in(target, planned, plan.notes));
  GivenUp given_up{options.let_go, known.given_up};
  auto shown = known.shown;
  TRY(auto unshown, unshown_packages(target, {planned.directory, planned.objects, std::move(known.shown), options.all},
                                     options.transfers));
  Reasons reasons;
  if (planned.guarded) {
    auto notes = left_out(target, unshown, planned);
    plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
    TRY_DO(judge_losses(target, unshown, reasons, given_up, plan));
    use_hidden(planned, shown, given_up, plan);
    return plan;
  }
  auto candidates = candidates_of(planned, unshown, reasons);
  TRY_DO(take_noted(target, candidates, plan));
  Looking looking(target, options, plan, reasons);
  TRY_DO(looking.run(candidates), "while looking at what is in " + planned.directory);
  TRY_DO(leave_out_blocked(target, planned.objects, plan));
  TRY_DO(judge_losses(target, unshown, reasons, given_up, plan));
  for (const auto& file : plan.files) shown.insert(file.filename);
  use_hidden(planned, shown, given_up, plan);
  std::ranges::sort(plan.files, {}, &HistoryFile::filename);
  return plan;
}

Result<registry::HistoryDigest> take_over(ObjectStore& target, const HistoryPlan& plan, const HistoryMove& move) {
  if (plan.files.empty()) return registry::HistoryDigest();
  TRY_DO(still_as_planned(target, plan));
  std::map<std::string, std::string> keys;
  for (const auto& file : plan.files) keys[file.filename] = file.key;
  std::vector<std::pair<std::string, const std::string*>> sidecars;
  for (const auto& [name, text] : plan.sidecars) sidecars.emplace_back(keys[name], &text);
  TRY_DO(parallel_for(sidecars.size(), move.transfers, [&](std::size_t i) {
    return store_metadata_file(target, sidecars[i].first, *sidecars[i].second);
  }));
  registry::HistoryRecord record{plan.directory, plan.files, move.now, move.who, move.why, move.tool, plan.let_go};
  TRY(auto digest, registry::put_history(target, record));
  TRY_DO(remove_adopt_notes(target, plan.directory));
  return digest;
}

Result<Findings> show_directory(ObjectStore& target, const std::string& directory) {
  TRY_DO(registry::claim_distribution(target, directory));
  TRY(auto displayed, display(target, directory));
  return std::move(displayed.notes);
}

} // namespace quarry::publish
