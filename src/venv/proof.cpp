#include "venv/proof.hpp"

#include "base/text.hpp"
#include "dist/unpacking.hpp"
#include "dist/version.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "venv/expansion.hpp"
#include "venv/file_checks.hpp"
#include "venv/packed.hpp"
#include "venv/reinstall.hpp"
#include "venv/strangers.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::size_t k_offers_shown = 5;
constexpr std::uint64_t k_small_file_bytes_max = 1u << 20;

struct ProofInputs {
  const Environment& environment;
  const Source& source;
  unsigned workers = 1;
};

/// A file of the source from which a distribution may be.
struct Candidates {
  std::vector<const Offered*> wheels, sdists;
};

/// The file that a distribution is, and how it compares.
struct Matched {
  InstalledFile file;
  Comparison comparison;
  std::string devel_wheel; ///< path of the development files' wheel, if it is that
};

std::vector<const Offered*> offers_of(const Source& source, const std::string& project) {
  std::vector<const Offered*> found;
  for (const auto& offered : source.files)
    if (offered.file.project == project) found.push_back(&offered);
  return found;
}

Unexpected no_match(const ProofInputs& inputs, const Distribution& distribution,
                    const std::vector<const Offered*>& offered, std::string_view why) {
  auto error = Error::of(ErrorKind::corrupt, "V032",
                         fmt::format("{} {} in {} is not from {}: {}", distribution.project, distribution.version,
                                     inputs.environment.directory, inputs.source.description, why));
  for (const auto* offer : offered)
    if (error.details.size() < k_offers_shown) error.details.push_back("offered  " + offer->file.filename);
  error.hint =
      "the environment holds packages of more than one source: make it anew with `quarry venv install --clean`, and "
      "all packages from one source";
  return fail(std::move(error));
}

/// Those of the distribution's version.
Result<Candidates> candidates(const std::vector<const Offered*>& offered, const Distribution& distribution) {
  TRY(auto version, dist::Version::parse(distribution.version));
  Candidates found;
  for (const auto* offer : offered) {
    TRY(auto theirs, dist::Version::parse(offer->file.version));
    if (theirs == version) (offer->file.filename.ends_with(".whl") ? found.wheels : found.sdists).push_back(offer);
  }
  return found;
}

InstalledFile installed(const Distribution& distribution, const Offered& offer, FileKind kind) {
  return {distribution.project,
          distribution.version,
          offer.file.filename,
          offer.file.sha256,
          offer.file.size,
          kind,
          content_digest(distribution),
          ""};
}

Result<SdistContent> content_of_sdist(const std::string& site_packages, const Distribution& distribution,
                                      const std::string& sdist) {
  SdistContent content;
  content.filename = path::basename(sdist);
  TRY(content.members, read_sdist(sdist));
  if (auto path = path::join(site_packages, distribution.dist_info + "/entry_points.txt"); sys::exists(path)) {
    TRY(auto text, sys::read_file(path, dist::k_entry_points_bytes_max));
    TRY(content.scripts, script_names(text));
  }
  for (const auto& [path, row] : distribution.record) {
    if (!is_place_of_build_note(path)) continue;
    auto text = sys::read_file(path::join(site_packages, path), k_small_file_bytes_max);
    if (text && is_build_note(*text)) content.build_notes.insert(path);
  }
  return content;
}

/// The wheel of the version that agrees with RECORD; the last one if there is no sdist, so that the defects can be
/// named; else the sdist. Each is verified before it is read.
Result<Matched> match(const ProofInputs& inputs, const Distribution& distribution,
                      const std::vector<const Offered*>& offered, VerifiedPaths& verified) {
  TRY(auto found, candidates(offered, distribution));
  const auto& [wheels, sdists] = found;
  if (wheels.empty() && sdists.empty()) return no_match(inputs, distribution, offered, "it has no such version");
  for (const auto* wheel : wheels) {
    TRY_DO(verify_files(inputs.source, {wheel}, 1, verified));
    TRY(auto content, read_wheel(wheel->path, inputs.environment.minor()));
    bool last = wheel == wheels.back() && sdists.empty();
    if (!last && !agrees(content, distribution)) continue;
    return Matched{installed(distribution, *wheel, FileKind::wheel), compare_with_wheel(distribution, content),
                   distribution.unpacking && !distribution.unpacking->payload.empty() ? wheel->path : ""};
  }
  const auto* sdist = sdists.front();
  TRY_DO(verify_files(inputs.source, {sdist}, 1, verified));
  TRY(auto content, content_of_sdist(inputs.environment.site_packages, distribution, sdist->path));
  return Matched{installed(distribution, *sdist, FileKind::sdist), compare_with_sdist(distribution, content), ""};
}

/// The distributions, sorted into those of the source and others.
struct Inventory {
  Proof proof;
  Comparison comparison;                                  ///< of all files of the source together
  std::set<std::string> projects;                         ///< installed ones that the source has
  std::map<std::string, std::string> devel_wheels;        ///< by project: each recipe has one of its own
  std::map<std::string, std::vector<FileCheck>> archives; ///< by project: Comparison::payload
};

void append(Inventory& inventory, Matched matched) {
  auto& all = inventory.comparison;
  std::ranges::move(matched.comparison.checks, std::back_inserter(all.checks));
  std::ranges::move(matched.comparison.defects, std::back_inserter(all.defects));
  for (auto& [path, digest] : matched.comparison.proven) all.proven[path] = digest;
  inventory.projects.insert(matched.file.project);
  inventory.archives[matched.file.project] = std::move(matched.comparison.payload);
  if (!matched.devel_wheel.empty()) inventory.devel_wheels[matched.file.project] = std::move(matched.devel_wheel);
  inventory.proof.files.push_back(std::move(matched.file));
}

Result<Inventory> take_inventory(const ProofInputs& inputs, const std::vector<Distribution>& distributions,
                                 VerifiedPaths& verified) {
  Inventory inventory;
  for (const auto& distribution : distributions) {
    auto offered = offers_of(inputs.source, distribution.project);
    if (offered.empty()) {
      inventory.proof.others.push_back({distribution.project, distribution.version});
      continue;
    }
    TRY(auto matched, match(inputs, distribution, offered, verified));
    append(inventory, std::move(matched));
  }
  if (inventory.proof.files.empty())
    return fail(
        ErrorKind::not_found, "V033",
        fmt::format("nothing of {} is installed in {}", inputs.source.description, inputs.environment.directory),
        "install it with `quarry venv install`");
  return inventory;
}

std::vector<FileCheck> archives_of(const Inventory& inventory, const std::string& project) {
  auto found = inventory.archives.find(project);
  return found == inventory.archives.end() ? std::vector<FileCheck>() : found->second;
}

void append(Comparison& all, Comparison more) {
  std::ranges::move(more.checks, std::back_inserter(all.checks));
  std::ranges::move(more.defects, std::back_inserter(all.defects));
}

Result<Defects> expansion_defects(const ProofInputs& inputs, const std::vector<Distribution>& distributions,
                                  const Inventory& inventory) {
  Defects defects;
  const auto& site_packages = inputs.environment.site_packages;
  for (const auto& distribution : distributions) {
    auto archives = archives_of(inventory, distribution.project);
    if (!is_expanded(distribution) && archives.empty()) continue;
    DevelPayload payload; // device code is in no payload: it must be a file of its own package
    if (!distribution.unpacking->payload.empty()) {
      auto wheel = inventory.devel_wheels.find(distribution.project);
      if (wheel == inventory.devel_wheels.end()) continue; // it is not of the source
      TRY(payload, read_devel_payload(wheel->second));
    }
    Unpacked unpacked{payload, inventory.comparison.proven, site_packages};
    auto comparison = compare_with_payload(distribution, unpacked);
    for (const auto& archive : archives) append(comparison, compare_archive(archive, distribution, unpacked));
    std::ranges::move(comparison.defects, std::back_inserter(defects));
    TRY(auto altered, run_checks(site_packages, std::move(comparison.checks), inputs.workers));
    std::ranges::move(altered, std::back_inserter(defects));
  }
  return defects;
}

Result<Proof> prove_files(const ProofInputs& inputs, VerifiedPaths& verified) {
  TRY(auto distributions, list_distributions(inputs.environment));
  TRY(auto inventory, take_inventory(inputs, distributions, verified));
  const auto& site_packages = inputs.environment.site_packages;
  auto defects = std::move(inventory.comparison.defects);
  TRY(auto altered, run_checks(site_packages, std::move(inventory.comparison.checks), inputs.workers));
  TRY(auto unpacked, expansion_defects(inputs, distributions, inventory));
  TRY(auto strangers, find_strangers(site_packages, listed_by(distributions, inventory.projects)));
  for (auto* more : {&altered, &unpacked, &strangers}) std::ranges::move(*more, std::back_inserter(defects));
  TRY_DO(fail_on(defects, inputs.environment));
  return std::move(inventory.proof);
}

/// All paths whose RECORD has a digest.
std::set<std::string> listed_with_digests(const std::vector<Distribution>& distributions) {
  std::set<std::string> listed;
  for (const auto& distribution : distributions)
    for (const auto& [path, row] : distribution.record)
      if (row.sha256) listed.insert(path);
  return listed;
}

/// Whether `path` is a link that ends at a listed file, or at a directory that holds one. Links are what our packages
/// list without a digest.
bool leads_to_listed(const std::string& site_packages, const std::string& path, const std::set<std::string>& listed) {
  auto place = path::join(site_packages, path);
  if (!sys::read_link(place)) return false;
  auto end = sys::real_path(place);
  auto root = sys::real_path(site_packages);
  if (!end || !root || !end->starts_with(*root + "/")) return false;
  auto inside = end->substr(root->size() + 1);
  auto below = listed.lower_bound(inside + "/");
  return listed.contains(inside) || (below != listed.end() && below->starts_with(inside + "/"));
}

} // namespace

Result<Proof> prove(const Environment& environment, const Source& source, unsigned workers, VerifiedPaths& verified,
                    const std::vector<std::string>& packages) {
  auto proof = prove_files({environment, source, workers}, verified);
  return proof ? std::move(proof) : fail(with_reinstall(std::move(proof).error(), environment, source, packages));
}

std::vector<registry::SetDigest> holding_sets(const Source& source, const std::vector<InstalledFile>& files) {
  std::vector<registry::SetDigest> some;
  registry::SetDigest whole;
  for (const auto& set : source.sets) {
    auto held = std::count_if(files.begin(), files.end(), [&](const InstalledFile& file) {
      return std::any_of(set.set.files.begin(), set.set.files.end(),
                         [&](const auto& f) { return f.filename == file.filename && f.sha256 == file.sha256; });
    });
    if (held) some.push_back(set.digest);
    if (held && static_cast<std::size_t>(held) == files.size()) whole = set.digest;
  }
  return whole.empty() ? some : std::vector<registry::SetDigest>{whole};
}

bool unpacks_without_digests(const std::vector<Distribution>& distributions, const Receipt& receipt) {
  return std::ranges::any_of(distributions, [&](const Distribution& distribution) {
    bool listed =
        std::ranges::find(receipt.files, distribution.project, &InstalledFile::project) != receipt.files.end();
    auto said = fmt::format("{}/{}", distribution.dist_info, dist::k_unpacking_file);
    return listed && distribution.unpacking && !distribution.record.contains(said);
  });
}

namespace {
/// Nothing is wrong as far as anybody can see here, so no new installation would help.
Error not_comparable(const std::vector<std::string>& unpacked, const Environment& environment, const Receipt& receipt) {
  constexpr std::size_t k_shown = 5;
  auto error = Error::of(ErrorKind::corrupt, "V031",
                         fmt::format("what was unpacked in {} can only be compared with the wheels of {}",
                                     environment.directory, receipt.source));
  std::vector<std::string> lines;
  for (const auto& path : unpacked)
    lines.push_back(fmt::format("{} was unpacked, and RECORD has no digest of it", path));
  error.details = text::first_lines(std::move(lines), k_shown);
  bool is_run = receipt.locator.starts_with("run:");
  error.hint =
      fmt::format("name the wheels: `quarry test --venv {} --from {}`", text::shell_word(environment.directory),
                  is_run ? text::shell_word(receipt.locator) + " --store STORE" : "DIRECTORY");
  return error;
}
} // namespace

Result<void> prove_unchanged(const std::vector<Distribution>& distributions, const Environment& environment,
                             const Receipt& receipt, unsigned workers) {
  Defects defects;
  std::vector<std::string> unpacked;
  std::vector<FileCheck> checks;
  auto listed = listed_with_digests(distributions);
  for (const auto& file : receipt.files) {
    auto found = std::find_if(distributions.begin(), distributions.end(),
                              [&](const Distribution& d) { return d.project == file.project; });
    if (found == distributions.end()) {
      defects.push_back(fmt::format("{} is not installed any more", file.project));
      continue;
    }
    if (content_digest(*found) != file.content)
      defects.push_back(fmt::format("the RECORD of {} is not the one that was installed", file.project));
    bool expanded = is_expanded(*found);
    for (const auto& [path, row] : found->record) {
      if (expanded && is_devel_payload(*found, path) && is_gone(path::join(environment.site_packages, path)))
        continue; // TheRock's own scripts unpack it and leave its row
      if (row.sha256)
        checks.push_back({path, *row.sha256, row.size});
      else if (is_devel_expansion(*found, path) && !leads_to_listed(environment.site_packages, path, listed))
        unpacked.push_back(path);
    }
  }
  TRY(auto altered, run_checks(environment.site_packages, std::move(checks), workers));
  std::ranges::move(altered, std::back_inserter(defects));
  auto unchanged = fail_on(defects, environment);
  if (!unchanged) return fail(with_reinstall(std::move(unchanged).error(), environment, receipt));
  return unpacked.empty() ? Result<void>() : fail(not_comparable(unpacked, environment, receipt));
}

Result<void> prove_unchanged(const Environment& environment, const Receipt& receipt, unsigned workers) {
  TRY(auto distributions, list_distributions(environment));
  std::erase_if(distributions, [&](const Distribution& distribution) {
    return std::ranges::find(receipt.files, distribution.project, &InstalledFile::project) == receipt.files.end();
  });
  return prove_unchanged(distributions, environment, receipt, workers);
}

} // namespace quarry::venv
