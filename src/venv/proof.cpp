#include "venv/proof.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/version.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include "venv/packed.hpp"
#include "venv/reinstall.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::size_t k_defects_shown = 5;
constexpr std::uint64_t k_small_file_bytes_max = 1u << 20;

/// Defects as they are found; all of them make one error.
class Defects {
public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  bool empty() const { return texts_.empty(); }
  Result<void> done(const Environment& environment) const {
    if (texts_.empty()) return {};
    auto error = Error::of(ErrorKind::corrupt, "V031",
                           fmt::format("the environment {} is not what was installed", environment.directory));
    error.details = text::first_lines(texts_, k_defects_shown);
    return fail(std::move(error));
  }

private:
  std::vector<std::string> texts_;
};

/// One file on the disk that must have these bytes.
struct Check {
  std::string path; ///< relative to site-packages
  Sha256 sha256;
  std::optional<std::uint64_t> size;
  std::vector<Sha256> or_these = {};
};

Result<std::string> check_one(const std::string& site, const Check& check) {
  auto rope = content::Rope::file(path::join(site, check.path));
  if (!rope && rope.error().kind == ErrorKind::not_found) return fmt::format("{} is missing", check.path);
  if (!rope) return fail(std::move(rope).error());
  if (check.size && rope->size() != *check.size)
    return fmt::format("{} has {} bytes, not {}", check.path, rope->size(), *check.size);
  TRY(auto digest, content::sha256_of(*rope));
  bool expected =
      digest == check.sha256 || std::find(check.or_these.begin(), check.or_these.end(), digest) != check.or_these.end();
  return expected ? std::string()
                  : fmt::format("{} was altered: sha256 {}, not {}", check.path, digest.short_hex(),
                                check.sha256.short_hex());
}

Result<void> run_checks(const std::string& site, std::vector<Check> checks, unsigned workers, Defects& defects) {
  // The largest first, so that one of 1.3 GB does not start when all others are done.
  std::stable_sort(checks.begin(), checks.end(),
                   [](const Check& a, const Check& b) { return a.size.value_or(0) > b.size.value_or(0); });
  std::vector<std::string> texts(checks.size());
  TRY_DO(parallel_for(checks.size(), workers, [&](std::size_t i) -> Result<void> {
    TRY(texts[i], check_one(site, checks[i]));
    return {};
  }));
  for (auto& text : texts)
    if (!text.empty()) defects.add(std::move(text));
  return {};
}

bool is_bytecode(std::string_view path) { return path.find("__pycache__/") != path.npos && path.ends_with(".pyc"); }

/// What installers add to a dist-info directory of their own (pip: INSTALLER, REQUESTED, direct_url.json; uv:
/// uv_cache.json, uv_build.json).
bool is_installer_file(const Distribution& distribution, const std::string& path) {
  static constexpr std::string_view k_names[] = {"RECORD",          "INSTALLER",     "REQUESTED",
                                                 "direct_url.json", "uv_cache.json", "uv_build.json"};
  if (!path.starts_with(distribution.dist_info + "/")) return false;
  auto name = std::string_view(path).substr(distribution.dist_info.size() + 1);
  return std::find(std::begin(k_names), std::end(k_names), name) != std::end(k_names);
}

bool is_script_of(const std::set<std::string>& scripts, const std::string& path) {
  constexpr std::string_view k_bin = "../../../bin/";
  return path.starts_with(k_bin) && scripts.contains(path.substr(k_bin.size()));
}

/// A row that the wheel does not have. The file is still compared with the row where that has a digest.
bool may_be_added(const Distribution& distribution, const std::set<std::string>& scripts, const std::string& path) {
  return is_installer_file(distribution, path) || is_bytecode(path) || is_script_of(scripts, path) ||
         is_devel_expansion(distribution, path);
}

bool agrees(const WheelContent& wheel, const Distribution& distribution) {
  return std::all_of(wheel.files.begin(), wheel.files.end(), [&](const auto& entry) {
    auto row = distribution.record.find(entry.first);
    if (row == distribution.record.end()) return is_devel_payload(distribution, entry.first);
    return !entry.second.sha256 || row->second.sha256 == entry.second.sha256;
  });
}

class Prover {
public:
  Prover(const Environment& environment, const Source& source, unsigned workers, VerifiedPaths& verified)
      : environment_(environment), source_(source), workers_(workers), verified_(verified) {}

  Result<Proof> prove() {
    TRY(distributions_, list_distributions(environment_));
    Proof proof;
    for (const auto& distribution : distributions_) {
      auto offered = offers_of(distribution.project);
      if (offered.empty()) {
        proof.others.push_back({distribution.project, distribution.version});
        continue;
      }
      TRY(auto file, prove_one(distribution, offered));
      proof.files.push_back(std::move(file));
    }
    if (proof.files.empty())
      return fail(ErrorKind::not_found, "V033",
                  fmt::format("nothing of {} is installed in {}", source_.description, environment_.directory),
                  "install it with `quarry venv install`");
    TRY_DO(run_checks(environment_.site_packages, std::move(checks_), workers_, defects_));
    for (const auto& [path, digest] : proven_)
      if (path.starts_with("_rocm_sdk_libraries_")) library_tops_.insert(path.substr(0, path.find('/')));
    TRY_DO(prove_expansion());
    TRY_DO(find_strangers());
    TRY_DO(defects_.done(environment_));
    return proof;
  }

private:
  std::vector<const Offered*> offers_of(const std::string& project) const {
    std::vector<const Offered*> found;
    for (const auto& offered : source_.files)
      if (offered.file.project == project) found.push_back(&offered);
    return found;
  }

  Unexpected no_match(const Distribution& distribution, const std::vector<const Offered*>& offered,
                      std::string_view why) const {
    auto error = Error::of(ErrorKind::corrupt, "V032",
                           fmt::format("{} {} in {} is not from {}: {}", distribution.project, distribution.version,
                                       environment_.directory, source_.description, why));
    for (const auto* offer : offered)
      if (error.details.size() < k_defects_shown) error.details.push_back("offered  " + offer->file.filename);
    return fail(std::move(error));
  }

  Result<InstalledFile> prove_one(const Distribution& distribution, const std::vector<const Offered*>& offered) {
    TRY(auto version, dist::Version::parse(distribution.version));
    std::vector<const Offered*> wheels, sdists;
    for (const auto* offer : offered) {
      TRY(auto theirs, dist::Version::parse(offer->file.version));
      if (theirs == version) (offer->file.filename.ends_with(".whl") ? wheels : sdists).push_back(offer);
    }
    if (wheels.empty() && sdists.empty()) return no_match(distribution, offered, "it has no such version");
    for (const auto* wheel : wheels) {
      TRY_DO(verify_files(source_, {wheel}, 1, verified_));
      TRY(auto content, read_wheel(wheel->path, environment_.minor()));
      bool last = wheel == wheels.back() && sdists.empty();
      if (!last && !agrees(content, distribution)) continue;
      compare(distribution, content);
      if (distribution.project == "rocm-sdk-devel") devel_wheel_ = wheel->path;
      return installed(distribution, *wheel, FileKind::wheel);
    }
    TRY_DO(verify_files(source_, {sdists.front()}, 1, verified_));
    TRY_DO(compare_with_sdist(distribution, sdists.front()->path));
    return installed(distribution, *sdists.front(), FileKind::sdist);
  }

  InstalledFile installed(const Distribution& distribution, const Offered& offer, FileKind kind) const {
    return {distribution.project,
            distribution.version,
            offer.file.filename,
            offer.file.sha256,
            offer.file.size,
            kind,
            content_digest(distribution),
            ""};
  }

  void compare(const Distribution& distribution, const WheelContent& wheel) {
    for (const auto& [path, expected] : wheel.files) {
      bool listed = distribution.record.contains(path);
      if (!listed && is_devel_payload(distribution, path)) continue; // it goes once it is unpacked
      if (!listed) defects_.add(fmt::format("{} is in the wheel of {} and not in RECORD", path, distribution.project));
      if (expected.sha256) checks_.push_back({path, *expected.sha256, expected.size}), proven_[path] = *expected.sha256;
    }
    for (const auto& [path, row] : distribution.record) {
      if (wheel.files.contains(path)) continue;
      if (!may_be_added(distribution, wheel.scripts, path))
        defects_.add(fmt::format("{} is in RECORD and not in the wheel of {}", path, distribution.project));
      else if (row.sha256 && !is_devel_expansion(distribution, path))
        checks_.push_back({path, *row.sha256, row.size});
    }
  }

  /// The wheel was built here, so its RECORD proves nothing by itself; but its files must be members of the sdist.
  Result<void> compare_with_sdist(const Distribution& distribution, const std::string& sdist) {
    TRY(auto members, read_sdist(sdist));
    TRY(auto scripts, own_scripts(distribution));
    for (const auto& [path, row] : distribution.record) {
      if (is_bytecode(path)) continue;
      if (row.sha256) checks_.push_back({path, *row.sha256, row.size});
      bool metadata = path.starts_with(distribution.dist_info + "/") && path.find("..") == path.npos;
      if (metadata || is_script_of(scripts, path) || is_build_note(path)) continue;
      if (!row.sha256 || !members.contains(*row.sha256))
        defects_.add(fmt::format("{} is not a file of {}", path, path::basename(sdist)));
    }
    return {};
  }

  Result<std::set<std::string>> own_scripts(const Distribution& distribution) const {
    auto path = path::join(environment_.site_packages, distribution.dist_info + "/entry_points.txt");
    if (!sys::exists(path)) return std::set<std::string>();
    TRY(auto text, sys::read_file(path, dist::k_entry_points_bytes_max));
    return script_names(text);
  }

  /// The one file that the build of `rocm` adds: which family it was built for. Nothing but that assignment may be in
  /// it.
  bool is_build_note(const std::string& path) const {
    if (path != "rocm_sdk/_install_info.py") return false;
    auto text = sys::read_file(path::join(environment_.site_packages, path), k_small_file_bytes_max);
    if (!text) return false;
    auto lines = text::lines(*text);
    if (lines.size() != 3 || !lines[0].starts_with("\"\"\"") || lines[0].find("\"\"\"", 3) != lines[0].size() - 3 ||
        !lines[1].empty())
      return false;
    constexpr std::string_view k_assignment = "TARGET_FAMILY = '";
    auto value = std::string_view(lines[2]);
    if (!value.starts_with(k_assignment) || !value.ends_with('\'') || value.size() <= k_assignment.size()) return false;
    value = value.substr(k_assignment.size(), value.size() - k_assignment.size() - 1);
    return value.find_first_of("'\\\"") == value.npos;
  }

  /// Unpacked development files: each is a member of the payload in the sealed wheel, or the file of a sibling package.
  Result<void> prove_expansion() {
    for (const auto& distribution : distributions_) {
      bool expanded = std::any_of(distribution.record.begin(), distribution.record.end(),
                                  [&](const auto& row) { return is_devel_expansion(distribution, row.first); });
      if (!expanded || devel_wheel_.empty()) continue;
      TRY(auto payload, read_devel_payload(devel_wheel_));
      std::vector<Check> checks;
      for (const auto& [path, row] : distribution.record)
        if (is_devel_expansion(distribution, path)) expect_expanded(payload, path, checks);
      TRY_DO(run_checks(environment_.site_packages, std::move(checks), workers_, defects_));
    }
    return {};
  }

  void expect_expanded(const DevelPayload& payload, const std::string& path, std::vector<Check>& checks) {
    if (auto file = payload.files.find(path); file != payload.files.end())
      return checks.push_back({path, file->second.sha256, file->second.size});
    auto absolute = path::join(environment_.site_packages, path);
    auto link = payload.links.find(path);
    if (auto text = sys::read_link(absolute)) {
      bool as_packed = link != payload.links.end() && *text == link->second;
      if (!as_packed && !siblings_of(payload, path).contains(path::normal(path::join(path::dirname(path), *text))))
        defects_.add(
            fmt::format("{} leads to {}, {}", path, *text,
                        link == payload.links.end() ? "and is not in the devel payload" : "not to " + link->second));
      return;
    }
    // A hard link: the same bytes as the file of a sibling, which is proven. The payload names one family's libraries;
    // unpacking leads to those of the family in use (python/README.md), so it may be another's, or one more.
    Check check{path, {}, {}};
    for (const auto& [target, digest] : siblings_of(payload, path)) check.or_these.push_back(digest);
    if (check.or_these.empty())
      return defects_.add(link == payload.links.end()
                              ? fmt::format("{} is not in the devel payload", path)
                              : fmt::format("{} is a file, and should be a link to {}", path, link->second));
    check.sha256 = check.or_these.front();
    checks.push_back(std::move(check));
  }

  /// Proven files at the same place: where the payload's link leads, or in the libraries of a family. That it is the
  /// family in use, and one for all, is for the packaged tests (devel.mirror).
  std::map<std::string, Sha256> siblings_of(const DevelPayload& payload, const std::string& path) const {
    std::map<std::string, Sha256> found;
    auto below = path.substr(path.find('/'));
    if (auto link = payload.links.find(path); link != payload.links.end())
      if (auto it = proven_.find(path::normal(path::join(path::dirname(path), link->second))); it != proven_.end())
        found.insert(*it);
    for (const auto& top : library_tops_)
      if (auto it = proven_.find(top + below); it != proven_.end()) found.insert(*it);
    return found;
  }

  /// Files that no RECORD lists, where Python or the loader would find them.
  Result<void> find_strangers() {
    std::set<std::string> listed, tops;
    for (const auto& distribution : distributions_)
      for (const auto& [path, row] : distribution.record) listed.insert(path);
    for (const auto& distribution : distributions_)
      if (!offers_of(distribution.project).empty())
        for (const auto& [path, row] : distribution.record)
          if (auto slash = path.find('/'); slash != path.npos && !path.starts_with(".."))
            tops.insert(path.substr(0, slash));
    for (const auto& top : tops) TRY_DO(find_strangers_below(top, listed));
    return find_startup_files(listed);
  }

  Result<void> find_strangers_below(const std::string& top, const std::set<std::string>& listed) {
    auto directory = path::join(environment_.site_packages, top);
    if (!sys::is_directory(directory)) return {};
    TRY(auto entries, sys::list_tree(directory));
    for (const auto& entry : entries) {
      auto path = top + "/" + entry.path;
      if (entry.type == sys::EntryType::directory || listed.contains(path) || is_bytecode(path)) continue;
      defects_.add(fmt::format("{} belongs to no installed distribution", path));
    }
    return {};
  }

  /// What Python runs or obeys by itself at start. uv puts `_virtualenv.pth` there.
  Result<void> find_startup_files(const std::set<std::string>& listed) {
    TRY(auto entries, sys::list_directory(environment_.site_packages));
    for (const auto& entry : entries) {
      const auto& name = entry.path;
      bool runs = name.ends_with(".pth") || name.starts_with("sitecustomize") || name.starts_with("usercustomize");
      if (runs && !listed.contains(name) && name != "_virtualenv.pth")
        defects_.add(fmt::format("{} belongs to no installed distribution, and Python runs it", name));
    }
    return {};
  }

  const Environment& environment_;
  const Source& source_;
  unsigned workers_;
  VerifiedPaths& verified_;
  std::vector<Distribution> distributions_;
  std::vector<Check> checks_;
  std::map<std::string, Sha256> proven_; // by path in site-packages
  std::set<std::string> library_tops_;   // of the families' packages in proven_
  std::string devel_wheel_;
  Defects defects_;
};

} // namespace

Result<Proof> prove(const Environment& environment, const Source& source, unsigned workers, VerifiedPaths& verified,
                    const std::vector<std::string>& packages) {
  auto proof = Prover(environment, source, workers, verified).prove();
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

Result<void> prove_unchanged(const std::vector<Distribution>& distributions, const Environment& environment,
                             const Receipt& receipt, unsigned workers) {
  Defects defects;
  std::vector<Check> checks;
  for (const auto& file : receipt.files) {
    auto found = std::find_if(distributions.begin(), distributions.end(),
                              [&](const Distribution& d) { return d.project == file.project; });
    if (found == distributions.end()) {
      defects.add(fmt::format("{} is not installed any more", file.project));
      continue;
    }
    if (content_digest(*found) != file.content)
      defects.add(fmt::format("the RECORD of {} is not the one that was installed", file.project));
    for (const auto& [path, row] : found->record)
      if (row.sha256) checks.push_back({path, *row.sha256, row.size});
  }
  TRY_DO(run_checks(environment.site_packages, std::move(checks), workers, defects));
  auto unchanged = defects.done(environment);
  return unchanged ? unchanged : fail(with_reinstall(std::move(unchanged).error(), environment, receipt));
}

} // namespace quarry::venv
