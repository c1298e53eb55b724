#include "publish/plan.hpp"

#include "base/json.hpp"
#include "index/read_page.hpp"
#include "pages/clash.hpp"
#include "pages/merged.hpp"
#include "publish/move.hpp"
#include "publish/refuse.hpp"
#include "registry/retired.hpp"
#include "store/put_once.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using registry::SealedSet;
using store::ObjectReader;

std::uint64_t Plan::bytes_to_write() const {
  std::uint64_t bytes = 0;
  for (const auto& file : files)
    if (!file.present) bytes += file.file.size;
  return bytes;
}

std::size_t Plan::files_to_write() const {
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const auto& file) { return !file.present; }));
}

namespace {

Unexpected other_bytes(const std::string& key, const Sha256& published, const Sha256& ours) {
  auto error = Error::of(ErrorKind::already_exists, "P004", fmt::format("{} is published with other bytes", key))
                   .with_hint("nothing was changed; a published name never gets other bytes: build with another "
                              "--version or --version-suffix");
  error.details = {"published  sha256 " + published.hex(), "new        sha256 " + ours.hex()};
  return fail(std::move(error));
}

/// Retention is about to remove files here that look as if nobody needed them; `keys` are those of the directory.
Result<void> refuse_leaving(ObjectReader& store, const std::string& directory, const std::set<std::string>& keys) {
  auto first = keys.lower_bound(directory + "/retired/");
  if (first == keys.end() || !first->starts_with(directory + "/retired/")) return {};
  TRY(auto leaving, registry::leaving_from(store, directory));
  if (leaving.empty()) return {};
  const auto& one = leaving.front();
  return fail(ErrorKind::held, "P116",
              fmt::format("retention is about to remove set:{} from {}", one.set.short_hex(), directory),
              fmt::format("`quarry retain undo set:{}` keeps it; or publish as another run", one.set.short_hex()));
}

/// The sets sealed in exactly this directory.
Result<std::vector<SealedSet>> sets_of(ObjectReader& store, const std::string& directory) {
  TRY(auto below, registry::sealed_sets_below(store, directory));
  std::erase_if(below, [&](const SealedSet& sealed) { return sealed.set.directory != directory; });
  return below;
}

/// One run makes one version. Later ones beside it are nearly always an earlier run's id, and the sets of a run are
/// tested and promoted together.
Result<void> refuse_other_versions(const std::vector<SealedSet>& sets, const std::vector<PlannedFile>& files,
                                   const std::string& directory) {
  for (const auto& sealed : sets)
    for (const auto& known : sealed.set.files)
      for (const auto& ours : files)
        if (known.project == ours.file.project && known.version != ours.file.version)
          return fail(
              ErrorKind::already_exists, "P016",
              fmt::format("{} has {} {} already, and this would add {}", directory, known.project, known.version,
                          ours.file.version),
              "nothing was changed; give the id of the run that made these packages, or add --several-versions");
  return {};
}

/// Upload time and yank of a file that is published already.
Result<void> keep_history(const std::vector<SealedSet>& sets, FileRecord& file) {
  for (const auto& sealed : sets)
    for (const auto& known : sealed.set.files) {
      if (known.filename != file.filename) continue;
      if (known.sha256 != file.sha256) return other_bytes(known.key, known.sha256, file.sha256);
      file.upload_time = known.upload_time;
      file.yanked = known.yanked;
      return {};
    }
  return {};
}

/// The record says that these very bytes were published; something changed them since.
Unexpected altered(const std::string& key, const Sha256& found, const Sha256& sealed) {
  auto error =
      Error::of(ErrorKind::corrupt, "P021", fmt::format("{} was altered after it was sealed", key))
          .with_hint("nothing was changed; restore the file from a copy: `quarry set verify` lists all that is wrong");
  error.details = {"sealed  sha256 " + sealed.hex(), "found   sha256 " + found.hex()};
  return fail(std::move(error));
}

bool is_sealed(const std::vector<SealedSet>& sets, const FileRecord& file) {
  return std::any_of(sets.begin(), sets.end(), [&](const SealedSet& sealed) {
    return std::any_of(sealed.set.files.begin(), sealed.set.files.end(),
                       [&](const FileRecord& f) { return f.key == file.key; });
  });
}

/// Other bytes of a name that no seal has. Nobody was shown them, so they may go once the job that wrote them is over.
Result<void> replace_unsealed(ObjectReader& store, const Sha256& published, std::int64_t before_us, PlannedFile& file,
                              Findings& notes) {
  const auto& key = file.file.key;
  TRY(auto info, store.head(key));
  auto conflict = other_bytes(key, published, file.file.sha256);
  if (!info || info->modified_us == 0 || before_us == 0) return conflict;
  if (info->modified_us >= before_us) {
    conflict.value().hint = "nothing was changed. No seal names it: if an interrupted publish of this run left it, and "
                            "that is over, add `--replace-unsealed-after 0s`";
    return conflict;
  }
  file.replaces = info->etag.empty() ? published.hex() : info->etag; // the file store's is the digest
  notes.push_back({"P081", Severity::warning, key,
                   fmt::format("replaces other bytes of {}, which no seal names", sys::rfc3339(info->modified_us)),
                   "an interrupted publish left them; nobody was shown them"});
  return {};
}

/// What the store holds under the names that we want. The bytes are hashed: a size says nothing.
Result<void> look_at_names(ObjectReader& store, const std::vector<SealedSet>& sets, std::int64_t before_us,
                           Plan& plan) {
  std::set<std::string> taken;
  TRY(auto objects, store.list(plan.directory + "/"));
  for (auto& object : objects) taken.insert(std::move(object.key));
  TRY_DO(refuse_leaving(store, plan.directory, taken));
  for (auto& file : plan.files) {
    file.sealed = is_sealed(sets, file.file);
    if (file.present || !taken.contains(file.file.key)) continue; // present: adoption has just read it
    TRY(auto published, store.digest(file.file.key));
    if (!published) continue;
    file.present = *published == file.file.sha256;
    if (file.present) continue;
    if (file.sealed) return altered(file.file.key, *published, file.file.sha256);
    TRY_DO(replace_unsealed(store, *published, before_us, file, plan.notes));
  }
  return {};
}

Result<void> look_at_channel(ObjectReader& store, const std::string& name, const registry::SetRecord& set) {
  TRY(auto channel, registry::read_channel(store, name));
  if (!channel) return registry::refuse_lost(store, name);
  std::vector<SealedSet> added{{registry::digest_of(set), set, {}}};
  TRY_DO(refuse_guarded(store, channel->record, added));
  TRY(auto view, registry::load_view_for(store, channel->record.view, added), "while reading channel " + name);
  TRY_DO(registry::check_extension(view, added), "in channel " + name);
  return {};
}

bool same_files(const registry::SetRecord& a, const registry::SetRecord& b) {
  auto same = [](const FileRecord& x, const FileRecord& y) {
    return x.filename == y.filename && x.sha256 == y.sha256 && x.key == y.key;
  };
  return std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(), same);
}

registry::PlanDigest digest_of(const Plan& plan) {
  auto files = Json::array();
  for (const auto& file : plan.files)
    files.push_back({{"filename", file.file.filename},
                     {"sha256", file.file.sha256.hex()},
                     {"size", file.file.size},
                     {"key", file.file.key}});
  const auto& origin = plan.set.origin;
  Json json{{"schema", "quarry.publish-plan/1"}, {"directory", plan.directory},
            {"channel", plan.channel},           {"files", files},
            {"commit", origin.commit},           {"repository", origin.repository}};
  return registry::PlanDigest(sha256(json::text(json)));
}

Result<Plan> finish(ObjectReader& store, Plan plan, const sys::Timestamp& now, std::int64_t replace_before_us,
                    bool several_versions) {
  std::sort(plan.files.begin(), plan.files.end(),
            [](const auto& a, const auto& b) { return a.file.filename < b.file.filename; });
  TRY(auto sets, sets_of(store, plan.directory));
  if (!several_versions) TRY_DO(refuse_other_versions(sets, plan.files, plan.directory));
  for (auto& file : plan.files) {
    if (file.file.upload_time.empty()) file.file.upload_time = now.text(); // what is adopted was uploaded before
    TRY_DO(keep_history(sets, file.file));
    plan.set.files.push_back(file.file);
  }
  plan.set.directory = plan.directory;
  for (const auto& sealed : sets) {
    if (!same_files(sealed.set, plan.set)) continue;
    plan.set = sealed.set;
    plan.sealed = true;
  }
  TRY_DO(refuse_names_of_the_base_index(store, plan.set));
  TRY_DO(look_at_names(store, sets, replace_before_us, plan));
  if (!plan.channel.empty()) TRY_DO(look_at_channel(store, plan.channel, plan.set));
  plan.set_digest = registry::digest_of(plan.set);
  plan.digest = digest_of(plan);
  return plan;
}

Unexpected name_of_the_base_index(ObjectReader& store, const std::string& project, const std::string& page,
                                  const pages::Offer& ours) {
  auto error = Error::of(ErrorKind::already_exists, "P017",
                         fmt::format("{} is a project of {} and of the base index, {}: one name must have one owner",
                                     project, ours.place, page))
                   .with_hint("nothing was changed; give the package another name, or mirror into another store");
  auto json = store.get(fmt::format("{}/simple-json/{}/index.html", pages::k_base_index, project),
                        index::k_json_page_bytes_max);
  if (json && *json)
    if (auto read = index::read_json_page({**json, page}))
      error.details = pages::installers_would_take(ours, {std::string(pages::k_base_index), read->versions});
  return fail(std::move(error));
}

} // namespace

// An installer that is given both indexes takes the newer version, whoever published it (dependency confusion). The
// mirror refuses our names; here is the other direction.
Result<void> refuse_names_of_the_base_index(ObjectReader& store, const registry::SetRecord& set) {
  std::map<std::string, pages::Offer> offers;
  for (const auto& file : set.files) {
    auto& offer = offers[file.project];
    offer.place = set.directory;
    offer.versions.push_back(file.version);
  }
  for (const auto& [project, offer] : offers) {
    auto page = fmt::format("{}/simple/{}/index.html", pages::k_base_index, project);
    TRY(auto there, store.head(page));
    if (there) return name_of_the_base_index(store, project, page, offer);
  }
  return {};
}

Result<void> check_target(const Target& target) {
  if (!target.channel.empty()) TRY_DO(registry::check_channel_name(target.channel));
  TRY_DO(refuse_area_without_platform(target.area, target.layout.platform()));
  TRY_DO(target.layout.packages(target.area, target.group, target.form));
  return {};
}

Result<Plan> make_plan(ObjectReader& store, const Target& target, Collected collected, const sys::Timestamp& now) {
  TRY_DO(check_target(target));
  std::vector<std::string> names;
  for (const auto& candidate : collected.candidates) names.push_back(candidate.file.filename);
  TRY_DO(refuse_packages_without_platform(names, target.layout.platform()));
  TRY(auto directory, target.layout.packages(target.area, target.group, target.form));
  Plan plan;
  plan.directory = directory.root.substr(0, directory.root.size() - 1);
  plan.channel = target.channel;
  plan.notes = std::move(collected.notes);
  plan.set.origin = {target.layout.run_id(), target.layout.platform(),
                     target.group,           target.commit,
                     target.recipe,          target.tool,
                     target.repository,      {}};
  for (auto& candidate : collected.candidates) {
    candidate.file.key = directory.dist + candidate.file.filename;
    TRY_DO(store::check_key(candidate.file.key + ".metadata"));
    plan.files.push_back(
        {std::move(candidate.path), std::move(candidate.file), std::move(candidate.sidecar), false, candidate.hashed});
  }
  return finish(store, std::move(plan), now, target.replace_unsealed_before_us, target.several_versions);
}

Result<Plan> plan_adoption(ObjectReader& store, const std::string& directory, registry::Origin origin,
                           std::vector<PlannedFile> files, const sys::Timestamp& now) {
  Plan plan;
  plan.directory = directory;
  plan.set.origin = std::move(origin);
  plan.files = std::move(files);
  return finish(store, std::move(plan), now, 0, true);
}

} // namespace quarry::publish
