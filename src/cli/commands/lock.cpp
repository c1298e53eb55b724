#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/base_index.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/suggest.hpp"
#include "closure/choose.hpp"
#include "closure/pylock.hpp"
#include "closure/stored.hpp"
#include "mirror/sync.hpp"
#include "publish/resolve.hpp"
#include "registry/locks.hpp"
#include "retain/rules.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

using registry::FileRecord;

constexpr unsigned k_lock_reads = 16;

/// The packages of a source, and where installers find each file.
struct Shelves {
  std::vector<closure::Package> packages;
  std::map<std::string, closure::LockedFile> files; ///< by name
  std::map<std::string, std::string> requires_python;
};

closure::LockedFile locked_file(const pages::PublicUrl& public_url, const store::ObjectReader& store,
                                const FileRecord& file) {
  return {file.filename, public_url.of(store, file.key), file.sha256.hex(), file.size};
}

Result<Shelves> shelves_of(store::ObjectReader& store, const pages::PublicUrl& public_url,
                           const std::vector<FileRecord>& files) {
  std::vector<std::optional<closure::Package>> read(files.size());
  TRY_DO(parallel_for(files.size(), k_lock_reads, [&](std::size_t i) -> Result<void> {
    TRY(read[i], closure::load_package(store, files[i]));
    return {};
  }));
  Shelves shelves;
  for (std::size_t i = 0; i < files.size(); ++i) {
    shelves.packages.push_back(std::move(*read[i]));
    shelves.files.emplace(files[i].filename, locked_file(public_url, store, files[i]));
    shelves.requires_python.emplace(files[i].filename, shelves.packages.back().requires_python);
  }
  return shelves;
}

std::string extras_text(const std::vector<std::string>& extras) {
  return extras.empty() ? "it has none" : "it has  " + text::join(extras, ", ");
}

/// Installers ignore an extra that does not exist, and install less than was asked for. A lock is made once for many
/// machines, so it refuses.
Unexpected unknown_extra(const closure::UnknownExtra& unknown) {
  auto near = did_you_mean(unknown.extra, unknown.known);
  return fail(Error::of(ErrorKind::invalid_argument, "O305",
                        fmt::format("{} {} has no extra `{}`", unknown.project, unknown.version, unknown.extra))
                  .with_detail(extras_text(unknown.known))
                  .with_hint(!near.empty() ? near
                             : unknown.known.empty()
                                 ? "nothing was written; name the package without extras"
                                 : "nothing was written; name one of these extras, or leave it out"));
}

/// `rocm[]` asks for no extra at all; a variable of a script was empty.
Result<void> refuse_empty_extras(const std::string& word, const dist::Requirement& requirement,
                                 const std::vector<closure::Package>& packages) {
  auto open = word.find('[');
  auto marker = std::min(word.find(';'), word.find('@'));
  if (!requirement.extras.empty() || open == word.npos || open > marker) return {};
  const auto& project = requirement.project.str();
  return fail(Error::of(ErrorKind::invalid_argument, "O305", fmt::format("`{}` names no extra", word))
                  .with_detail(extras_text(closure::extras_of(packages, project)))
                  .with_hint(fmt::format("nothing was written; name an extra between the brackets, or write `{}`: is a "
                                         "variable unset?",
                                         project)));
}

/// What is locked: the words of the command line, or every project of the source.
Result<std::vector<dist::Requirement>> wanted_of(const Arguments& arguments, const Shelves& shelves) {
  auto words = arguments.operands;
  if (words.empty()) {
    std::set<std::string> projects;
    for (const auto& package : shelves.packages) projects.insert(package.project);
    words.assign(projects.begin(), projects.end());
  }
  std::vector<dist::Requirement> wanted;
  for (const auto& word : words) {
    TRY(auto requirement, dist::Requirement::parse(word));
    TRY_DO(refuse_empty_extras(word, requirement, shelves.packages));
    wanted.push_back(std::move(requirement));
  }
  return wanted;
}

Unexpected cannot_lock(const Findings& gaps, const mirror::Target& target) {
  auto error = Error::of(ErrorKind::failed, "O301",
                         fmt::format("these packages cannot be installed together on Python {}", target.name()));
  for (const auto& gap : gaps) error.details.push_back(fmt::format("{} {}: {}", gap.code, gap.place, gap.message));
  if (!gaps.empty()) error.hint = gaps.front().fix;
  return fail(std::move(error));
}

/// Files of the base index: far away by their URLs, else in the store that holds it.
class UpstreamFiles {
public:
  UpstreamFiles(const pages::PublicUrl& public_url, store::ObjectReader& store)
      : public_url_(public_url), store_(store) {}
  Result<closure::LockedFile> locked(const index::PageFile& file) {
    auto digest = file.sha256();
    if (!digest)
      return fail(ErrorKind::failed, "O302", fmt::format("the base index does not say the sha256 of {}", file.filename),
                  "name an index that says it with --base-index, such as PyPI, or mirror it: `quarry mirror sync`");
    bool is_far = file.url.starts_with("https://") || file.url.starts_with("http://");
    if (is_far) return closure::LockedFile{file.filename, file.url, digest->hex(), file.size.value_or(0)};
    if (mirrored_.empty()) {
      TRY(mirrored_, mirror::mirrored_files(store_));
    }
    auto mirrored = mirrored_.find(file.filename);
    if (mirrored == mirrored_.end())
      return fail(ErrorKind::not_found, "O304", fmt::format("the base index no longer has {}", file.filename),
                  "run the same command again: the mirror changed meanwhile");
    return locked_file(public_url_, store_, mirrored->second);
  }

private:
  const pages::PublicUrl& public_url_;
  store::ObjectReader& store_;
  std::map<std::string, FileRecord> mirrored_;
};

/// Projects of all targets: those that differ between targets say where they belong.
class Merge {
public:
  Merge(const Shelves& shelves, UpstreamFiles& upstream) : shelves_(shelves), upstream_(upstream) {}

  Result<void> add(const closure::Chosen& chosen, const mirror::Target& target) {
    for (const auto& [name, version] : chosen.projects) {
      auto& project = projects_[{name, version.version}];
      project.name = name;
      project.version = version.version;
      markers_[{name, version.version}].push_back(closure::marker_of(target));
      for (const auto& file : version.files)
        add_file(project, shelves_.files.at(file), shelves_.requires_python.at(file));
      for (const auto& file : version.upstream) {
        TRY(auto locked, upstream_.locked(file));
        add_file(project, locked, file.requires_python);
      }
    }
    return {};
  }

  std::vector<closure::LockedProject> take(std::size_t targets) {
    std::vector<closure::LockedProject> all;
    for (auto& [key, project] : projects_) {
      const auto& markers = markers_.at(key);
      if (markers.size() < targets) project.marker = "(" + text::join(markers, ") or (") + ")";
      all.push_back(std::move(project));
    }
    return all;
  }

private:
  static void add_file(closure::LockedProject& project, const closure::LockedFile& file, const std::string& python) {
    project.requires_python = python;
    if (!file.name.ends_with(".whl")) {
      project.sdist = file;
      return;
    }
    bool known = std::ranges::any_of(project.wheels, [&](const auto& wheel) { return wheel.name == file.name; });
    if (!known) project.wheels.push_back(file);
  }

  using Key = std::pair<std::string, std::string>; ///< name and version
  const Shelves& shelves_;
  UpstreamFiles& upstream_;
  std::map<Key, closure::LockedProject> projects_;
  std::map<Key, std::vector<std::string>> markers_;
};

Result<sys::Timestamp> time_to_keep(const Arguments& arguments, std::int64_t now_us) {
  auto said = arguments.get("--keep");
  if (auto period = retain::parse_period(said); period && *period > 0) return sys::Timestamp::from_us(now_us + *period);
  auto time = sys::Timestamp::parse(said);
  if (!time) time = sys::Timestamp::parse(said + "T00:00:00Z");
  if (time && time->us() > now_us) return *time;
  return fail(ErrorKind::invalid_argument, "O303", fmt::format("--keep `{}` is not a time to come", said),
              "give a day such as 2027-06-30, or an age such as 90d");
}

/// Only the sets of which a file is locked.
std::vector<registry::SetDigest> sets_in(const registry::Resolved& source, const closure::Lock& lock) {
  std::set<std::string> names;
  for (const auto& project : lock.projects) {
    for (const auto& wheel : project.wheels) names.insert(wheel.name);
    if (project.sdist) names.insert(project.sdist->name);
  }
  std::set<registry::SetDigest> sets;
  for (const auto& sealed : source.sets)
    for (const auto& file : sealed.set.files)
      if (names.contains(file.filename)) sets.insert(sealed.digest);
  return {sets.begin(), sets.end()};
}

struct Made {
  closure::Lock lock;
  std::vector<registry::SetDigest> sets;
};

/// Families have packages `rocm` of one name and different content: no lock has both.
Result<std::vector<registry::FileRecord>> files_of_all(const std::vector<registry::SealedSet>& sets) {
  auto all = registry::union_of(sets);
  std::map<std::string, std::string> by_family; // a set of each
  for (const auto& sealed : sets)
    if (!sealed.set.origin.group.empty()) by_family.emplace(sealed.set.origin.group, sealed.digest.short_hex());
  if (all || by_family.size() < 2) return all;
  std::vector<std::string> words;
  for (const auto& [family, digest] : by_family) words.push_back(fmt::format("`--from set:{}` ({})", digest, family));
  all.error().hint = "nothing was written; a lock is for one family, so make one for each: " + text::first(words, 3);
  return all;
}

Result<Made> make_lock(Context& context, const Arguments& arguments, store::ObjectReader& store) {
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto locator, run::parse_locator(arguments.get("--from")));
  TRY(auto source, publish::resolve(store, locator));
  if (source.files.empty()) {
    TRY(source.files, files_of_all(source.sets));
  }
  TRY(auto shelves, shelves_of(store, public_url, source.files));
  TRY(auto wanted, wanted_of(arguments, shelves));
  TRY(auto targets, closure::targets_of(shelves.packages, arguments.get("--python"), arguments.find("--platform")));
  TRY(auto base, open_base_index(context, arguments.get("--base-index"), arguments.get("--store")));
  auto base_place = arguments.has("--base-index") ? arguments.get("--base-index") : arguments.get("--store");
  bool is_far = base_place.starts_with("https://") || base_place.starts_with("http://");
  TRY(auto base_store, open_store(context, is_far ? arguments.get("--store") : base_place));
  UpstreamFiles upstream(public_url, *base_store);
  Merge merge(shelves, upstream);
  Made made;
  for (const auto& target : targets.targets) {
    closure::ClosureQuestion question{
        {target}, base ? &base->candidates() : nullptr, base ? base->name() : "", arguments.list("--allow-missing")};
    question.set_name = source.source;
    TRY(auto chosen, closure::choose_versions(shelves.packages, wanted, question));
    if (!chosen.gaps.empty()) return cannot_lock(chosen.gaps, target);
    if (!chosen.unknown_extras.empty()) return unknown_extra(chosen.unknown_extras.front());
    TRY_DO(merge.add(chosen, target));
    made.lock.environments.push_back(closure::marker_of(target));
  }
  made.lock.projects = merge.take(targets.targets.size());
  made.lock.source = source.source;
  made.sets = sets_in(source, made.lock);
  for (const auto& set : made.sets) made.lock.sets.push_back(set.hex());
  return made;
}

Result<int> run_lock(Context& context, const Arguments& arguments) {
  bool keep = arguments.has("--keep");
  sys::Timestamp until;
  if (keep) {
    TRY(until, time_to_keep(arguments, context.clock.now_us()));
  }
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto made, make_lock(context, arguments, *store));
  auto text = closure::to_pylock(made.lock);
  auto output = arguments.get("--output");
  if (output != "-") TRY_DO(sys::write_file(output, text), "while writing the lock; nothing was kept in the store");
  registry::LockDigest kept;
  if (keep) { // after the file: a lock in the store that nobody has would keep its sets
    TRY(kept, registry::put_lock(
                  *store, {made.sets, until, made.lock.source, text, who(context), arguments.get("--reason"), {}}));
  }
  if (output == "-") context.out.data(text);
  context.out.note(fmt::format("locked      {} from {}, for {}", units::things(made.lock.projects.size(), "package"),
                               made.lock.source, units::things(made.lock.environments.size(), "environment")));
  if (keep) context.out.note(fmt::format("kept        locks/{} until {}", kept.short_hex(), until));
  auto packages = Json::array();
  for (const auto& project : made.lock.projects)
    packages.push_back({{"name", project.name}, {"version", project.version}});
  context.out.document({{"source", made.lock.source},
                        {"output", output},
                        {"sets", made.lock.sets},
                        {"environments", made.lock.environments},
                        {"packages", packages},
                        {"lock", keep ? Json(kept) : Json(nullptr)},
                        {"until", keep ? Json(until) : Json(nullptr)}});
  return 0;
}

} // namespace

std::vector<Command> lock_commands() {
  return {
      {.path = {"lock"},
       .summary = "write a pylock.toml of published packages, and keep its files",
       .description =
           "Chooses, for each Python and platform, the versions that installers would take for the packages, from the "
           "sealed sets and for other projects from the base index, and writes them with URLs and digests as "
           "pylock.toml (PEP 751). uv (`uv pip sync pylock.toml`) and pip since 26.1 (`pip install -r pylock.toml`) "
           "install exactly these files. Without `PACKAGE`, every project of the source is locked. Only METADATA is "
           "read; no installer runs.\n\n"
           "`--keep UNTIL` puts the lock into the store: until then `quarry retain` leaves the sets alone that it "
           "names.",
       .operands =
           {{.name = "PACKAGE", .help = "a requirement such as rocm[libraries]", .required = false, .repeats = true}},
       .flags = {{.name = "--from",
                  .value = "LOCATOR",
                  .help = "the sets: run:ID, set:DIGEST, channel:NAME or release:DIGEST",
                  .required = true},
                 {.name = "--output",
                  .value = "FILE",
                  .help = "where the lock goes; `-`: standard output",
                  .fallback = "pylock.toml"},
                 {.name = "--python",
                  .value = "LIST",
                  .help = "the Pythons, such as 3.11,3.12 (default: as the tags of the wheels say)"},
                 {.name = "--platform",
                  .value = "LIST",
                  .help = "linux, windows or both (default: as the tags of the wheels say)"},
                 base_index_flag(),
                 {.name = "--allow-missing",
                  .value = "GLOB",
                  .help = "a project that people get from elsewhere: it is not locked",
                  .repeats = true},
                 {.name = "--keep",
                  .value = "UNTIL",
                  .help = "keep the files until this day, or for an age such as 90d"},
                 {.name = "--reason", .value = "TEXT", .help = "why they are kept", .fallback = ""},
                 public_url_flag(),
                 store_flag()},
       .examples = {{"quarry lock \"rocm[libraries]\" --from channel:stable --python 3.12 --store s3://builds",
                     "what a machine with Python 3.12 gets today"},
                    {"quarry lock --from set:0e66efc9cb8b --keep 2027-06-30 --store s3://builds",
                     "and have it until the end of June"}},
       .exit_codes = {{1, "the packages cannot be installed together, or a digest is not known"},
                      {2, "a package has no such extra, or --keep is not a time to come"},
                      {3, "the source does not exist, or is not sealed"}},
       .schema = "quarry.lock-made/1",
       .run = run_lock}};
}

} // namespace quarry::cli
