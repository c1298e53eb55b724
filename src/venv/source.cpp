#include "venv/source.hpp"

#include "base/codes.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/name.hpp"
#include "registry/distributions.hpp"
#include "registry/retired.hpp"
#include "run/find_runs.hpp"
#include "run/locator.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include "wheel/wheel.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::venv {

namespace {

Unexpected needs_store(const std::string& locator) {
  return fail(ErrorKind::invalid_argument, "V005", fmt::format("{} is in a store, and no store was named", locator),
              "add --store file:PATH, or set QUARRY_STORE");
}

Unexpected not_sealed(const std::string& place, std::string_view why) {
  return fail(ErrorKind::not_found, "R013", fmt::format("not sealed yet: {} {}", place, why),
              "its publishing has not finished: run that job's `quarry publish` again; `quarry set adopt` seals a "
              "complete foreign set");
}

/// Empty: the file is not on this machine.
std::string local_path(const store::ObjectReader& store, const std::string& key) {
  auto url = store.url(key);
  return url.starts_with("file://") ? text::percent_decode(std::string_view(url).substr(7)) : std::string();
}

Result<Source> sealed_source(store::ObjectReader& store, registry::Resolved resolved, const std::string& locator) {
  Source source;
  source.locator = locator;
  source.description = resolved.source;
  source.sealed = true;
  source.store = store.describe();
  source.view = resolved.view;
  source.generation = resolved.generation;
  std::map<std::string, std::vector<registry::SetDigest>> holders;
  for (const auto& set : resolved.sets)
    for (const auto& file : set.set.files) holders[file.filename].push_back(set.digest);
  for (auto& file : resolved.files) {
    if (!file.yanked.empty()) continue;
    auto path = local_path(store, file.key);
    auto sets = holders[file.filename];
    source.files.push_back({std::move(file), std::move(path), std::move(sets)});
  }
  source.sets = std::move(resolved.sets);
  return source;
}

/// As setup_venv.py names them: one index for all families, or in February's form a directory of each family below it.
std::string named_index(std::string_view name, bool by_family) {
  struct Named {
    std::string_view name, flat, by_family;
  };
  static constexpr Named k_indexes[] = {
      {"stable", "stable.repo.amd.com/rocm/whl-next/", "repo.amd.com/rocm/whl"},
      {"prerelease", "rc.repo.amd.com/rocm/whl-next/", "rocm.prereleases.amd.com/whl"},
      {"nightly", "nightly.repo.amd.com/rocm/whl-next/", "rocm.nightlies.amd.com/v2"},
      {"dev", "dev.repo.amd.com/rocm/whl-next/", "rocm.devreleases.amd.com/v2"}};
  for (const auto& index : k_indexes)
    if (index.name == name) return fmt::format("https://{}", by_family ? index.by_family : index.flat);
  return "";
}

std::string below(std::string url, std::string_view directory) {
  while (url.ends_with('/')) url.pop_back();
  return fmt::format("{}/{}/", url, text::percent_encode(directory));
}

Result<void> check_subdir(const SourceRequest& request) {
  const auto& subdir = request.index_subdir;
  if (subdir.empty()) return {};
  if (request.index_name.empty() && request.index_url.value_or("").empty())
    return fail(ErrorKind::invalid_argument, "V005", "--index-subdir needs an index to be below",
                "add --index-name or --index-url");
  auto parts = text::split(subdir, '/');
  bool leaves = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty() || part == ".."; });
  if (!leaves) return {};
  return fail(ErrorKind::invalid_argument, "V005",
              fmt::format("--index-subdir {} is not the name of a directory", subdir),
              "name a family, such as gfx94X-dcgpu");
}

Result<Source> remote_source(const SourceRequest& request) {
  Source source;
  source.index_url = request.index_url;
  if (!request.index_name.empty()) source.index_url = named_index(request.index_name, !request.index_subdir.empty());
  if (!request.index_subdir.empty()) source.index_url = below(*source.index_url, request.index_subdir);
  source.find_links = request.find_links;
  // The receipt and evidence repeat it, and the store of evidence may be public.
  source.locator = redact::without_credentials(
      source.index_url && !source.index_url->empty() ? *source.index_url : text::join(request.find_links, " "));
  source.description = "url:" + source.locator;
  return source;
}

Result<Source> from_url(const std::string& url) {
  Source source;
  source.locator = redact::without_credentials(url);
  source.description = "url:" + source.locator;
  auto path = url.substr(0, url.find_first_of("?#"));
  if (path.ends_with(".html"))
    source.find_links.push_back(url);
  else
    source.index_url = url;
  return source;
}

/// The packages among the entries of a directory, hashed.
Result<Source> plain_directory(const std::vector<std::string>& files, const std::string& locator,
                               const std::string& description) {
  Source source;
  source.locator = locator;
  source.description = description;
  for (const auto& path : files) {
    auto name = dist::DistributionName::parse(path::basename(path));
    if (!name) continue;
    TRY(auto rope, content::Rope::file(path));
    TRY(auto digest, content::sha256_of(rope));
    Offered offered;
    offered.path = path;
    offered.file.filename = path::basename(path);
    offered.file.project = name->project.str();
    offered.file.version = name->version.str();
    offered.file.size = rope.size();
    offered.file.sha256 = digest;
    source.files.push_back(std::move(offered));
  }
  if (source.files.empty())
    return fail(ErrorKind::not_found, "V008", fmt::format("{} holds no wheel and no sdist", locator),
                "name the directory that holds the packages, such as OUT/dist of `quarry sdk build`");
  return source;
}

Result<std::vector<std::string>> files_in(const std::string& directory) {
  TRY(auto entries, sys::list_directory(directory));
  std::vector<std::string> paths;
  for (const auto& entry : entries)
    if (entry.type != sys::EntryType::directory) paths.push_back(path::join(directory, entry.path));
  return paths;
}

/// Opens a directory that Quarry published. Its seals name its key prefix in the store, which gives the store's root.
/// Returns nullopt if it is not such a directory.
Result<std::optional<Source>> published_directory(const std::string& directory, const std::string& locator) {
  auto seals = path::join(directory, "seals");
  bool has_pages =
      sys::is_directory(path::join(directory, "dist")) && sys::is_directory(path::join(directory, "simple"));
  if (!sys::is_directory(seals)) {
    if (has_pages) return not_sealed(locator, "was published by Quarry and carries no seal");
    return std::optional<Source>();
  }
  TRY(auto paths, files_in(seals));
  if (paths.empty()) return not_sealed(locator, "carries no seal");
  TRY(auto text, sys::read_file(paths.front(), registry::k_record_bytes_max));
  TRY(auto seal, registry::parse_seal({text, paths.front()}));
  auto suffix = "/" + seal.directory;
  if (!directory.ends_with(suffix))
    return fail(ErrorKind::corrupt, "R014",
                fmt::format("{} is sealed as {}, and that is not where it is", locator, seal.directory),
                "use it from its own store");
  TRY(auto store, store::open_file_store(directory.substr(0, directory.size() - suffix.size())));
  TRY(auto resolved, registry::resolve_directory(*store, seal.directory));
  TRY(auto source, sealed_source(*store, std::move(resolved), locator));
  source.description = "directory:" + directory;
  return std::optional(std::move(source));
}

Result<Source> from_path(const std::string& path, const std::string& locator) {
  TRY(auto absolute, sys::absolute(path));
  absolute = path::normal(absolute);
  if (!sys::exists(absolute))
    return fail(ErrorKind::not_found, "V008", fmt::format("{} does not exist", locator),
                run::bare_word_hint(locator, {run::LocatorKind::run, run::LocatorKind::set, run::LocatorKind::channel},
                                    "check the name; packages are made by `quarry sdk build`"));
  if (!sys::is_directory(absolute)) {
    if (!absolute.ends_with(".html")) return plain_directory({absolute}, locator, "file:" + absolute);
    Source source;
    source.locator = locator;
    source.description = "file:" + absolute;
    source.find_links.push_back(absolute);
    return source;
  }
  TRY(auto published, published_directory(absolute, locator));
  if (published) return std::move(*published);
  if (path::basename(absolute) == "dist") {
    TRY(auto around, published_directory(path::dirname(absolute), locator));
    if (around) return std::move(*around);
  }
  TRY(auto files, files_in(absolute));
  bool direct = std::any_of(files.begin(), files.end(),
                            [](const auto& f) { return dist::DistributionName::parse(path::basename(f)).has_value(); });
  if (!direct && sys::is_directory(path::join(absolute, "dist"))) {
    absolute = path::join(absolute, "dist");
    TRY(files, files_in(absolute));
  }
  return plain_directory(files, locator, "directory:" + absolute);
}

/// Packages of another tool in a run: "python/x.whl" or "python/{group}/x.whl".
struct ForeignRun {
  std::vector<store::ObjectInfo> packages;
  std::set<std::string> groups; ///< that hold packages; "" for those directly below python/
};

/// Fails if one of the packages is where only Quarry puts them: its publishing has not finished, or retention has
/// retired its set, which `error` says.
Result<ForeignRun> packages_of_run(store::ObjectReader& store, const run::Layout& layout, const run::Locator& locator,
                                   const Error& error) {
  ForeignRun found;
  TRY(auto objects, store.list(layout.prefix() + "python/"));
  bool retired = std::ranges::any_of(
      objects, [](const store::ObjectInfo& object) { return registry::set_of_retired_key(object.key).has_value(); });
  for (auto& object : objects) {
    auto below = text::split(object.key.substr(layout.prefix().size()), '/'); // python/[group/]file
    bool quarry = below.size() > 3 && (below[2] == "dist" || below[2] == "simple");
    quarry |= below.size() > 2 && below[1] == "dist";
    if (quarry) return retired ? fail(Error(error)) : not_sealed(locator.text, "has packages and no seal");
    if (below.size() > 3 || !dist::DistributionName::parse(below.back())) continue;
    auto group = below.size() == 3 ? below[1] : std::string();
    if (!locator.group.empty() && group != locator.group) continue;
    found.groups.insert(group);
    found.packages.push_back(std::move(object));
  }
  return found;
}

/// The packages of a run in a store that is elsewhere. Each is hashed when it is brought here (stage.hpp).
Result<Source> remote_run(const ForeignRun& found, const run::Layout& layout, const run::Locator& locator) {
  Source source;
  source.locator = locator.text;
  source.description = "run:" + layout.prefix();
  std::set<std::string> names;
  for (const auto& object : found.packages) {
    Offered offered;
    offered.file.filename = path::basename(object.key);
    TRY(auto name, dist::DistributionName::parse(offered.file.filename));
    offered.file.project = name.project.str();
    offered.file.version = name.version.str();
    offered.file.size = object.size;
    offered.file.key = object.key;
    if (!names.insert(offered.file.filename).second)
      return fail(ErrorKind::invalid_argument, "V036",
                  fmt::format("{} holds {} in several groups: {}", locator.text, offered.file.filename,
                              text::join(std::vector(found.groups.begin(), found.groups.end()), ", ")),
                  fmt::format("name one of them, such as `--from {}@{}`", locator.text, *found.groups.rbegin()));
    source.files.push_back(std::move(offered));
  }
  return source;
}

/// A run without any seal: ours, not finished yet, or laid out by the incumbent's scripts, which know no seals.
Result<Source> unsealed_run(store::ObjectReader& store, const run::Layout& layout, const run::Locator& locator,
                            Error error) {
  TRY(auto found, packages_of_run(store, layout, locator, error));
  if (found.packages.empty()) return fail(std::move(error));
  if (local_path(store, found.packages.front().key).empty()) return remote_run(found, layout, locator);
  std::vector<std::string> paths;
  for (const auto& object : found.packages) paths.push_back(local_path(store, object.key));
  return plain_directory(paths, locator.text, "run:" + layout.prefix());
}

Result<Source> from_run(store::ObjectReader& store, const run::Locator& locator) {
  TRY(auto layout, run::find_run(store, locator));
  auto prefix = layout.prefix();
  if (prefix.ends_with('/')) prefix.pop_back();
  auto resolved = registry::resolve_group(store, {prefix, locator.group});
  if (resolved) return sealed_source(store, std::move(*resolved), locator.text);
  if (!resolved.error().is(codes::not_sealed)) return fail(std::move(resolved).error());
  return unsealed_run(store, layout, locator, std::move(resolved).error());
}

} // namespace

Result<Source> find_source(const SourceRequest& request) {
  bool remote_flags =
      request.index_url || !request.find_links.empty() || !request.index_name.empty() || !request.index_subdir.empty();
  if (request.locator.empty()) {
    if (!remote_flags)
      return fail(ErrorKind::invalid_argument, "V005", "nothing says where the packages come from",
                  "add --from LOCATOR, such as --from run:42 or --from channel:stable");
    if (request.index_url && !request.index_name.empty())
      return fail(ErrorKind::invalid_argument, "V005", "--index-url and --index-name exclude each other");
    TRY_DO(check_subdir(request));
    return remote_source(request);
  }
  if (remote_flags)
    return fail(ErrorKind::invalid_argument, "V005",
                "--from and --index-url, --index-name or --find-links exclude each other",
                "with --from nothing but the set's files can be installed; that is its purpose");
  TRY(auto locator, run::parse_locator(request.locator));
  using Kind = run::LocatorKind;
  TRY_DO(run::require_kind(locator, {Kind::path, Kind::run, Kind::set, Kind::channel, Kind::http}, "install from"));
  if (locator.kind == Kind::http) return from_url(locator.url);
  if (locator.kind == Kind::path) return from_path(locator.path, request.locator);
  if (!request.store) return needs_store(request.locator);
  if (locator.kind == Kind::run) return from_run(*request.store, locator);
  if (locator.kind == Kind::set) {
    TRY(auto resolved, registry::resolve_set(*request.store, locator.digest));
    return sealed_source(*request.store, std::move(resolved), request.locator);
  }
  TRY(auto resolved, registry::resolve_channel(*request.store, locator.channel));
  return sealed_source(*request.store, std::move(resolved), request.locator);
}

namespace {

Error altered(const Offered& offered, const Source& source, const std::string& expected, const std::string& found) {
  auto error =
      Error::of(ErrorKind::corrupt, "V007", fmt::format("{} is not the file that was sealed", offered.file.filename));
  error.details = {"expected  " + expected, "found     " + found, "at        " + offered.path};
  error.hint = fmt::format("do not use it; restore it from a copy, or publish {} again under another version",
                           source.description);
  return error;
}

Result<void> verify_one(const Source& source, const Offered& offered) {
  if (!source.sealed) {
    if (offered.file.filename.ends_with(".whl")) TRY_DO(wheel::require_sound(offered.path));
    return {};
  }
  auto rope = content::Rope::file(offered.path);
  if (!rope && rope.error().kind == ErrorKind::not_found)
    return fail(altered(offered, source, "sha256 " + offered.file.sha256.hex(), "no file"));
  if (!rope) return fail(std::move(rope).error());
  if (rope->size() != offered.file.size)
    return fail(
        altered(offered, source, fmt::format("{} bytes", offered.file.size), fmt::format("{} bytes", rope->size())));
  TRY(auto digest, content::sha256_of(*rope));
  if (digest != offered.file.sha256)
    return fail(altered(offered, source, "sha256 " + offered.file.sha256.hex(), "sha256 " + digest.hex()));
  return {};
}

} // namespace

Result<void> verify_files(const Source& source, const std::vector<const Offered*>& files, unsigned workers,
                          VerifiedPaths& verified) {
  std::vector<const Offered*> left;
  for (const auto* file : files)
    if (!verified.contains(file->path)) left.push_back(file);
  TRY_DO(parallel_for(left.size(), workers, [&](std::size_t i) { return verify_one(source, *left[i]); }));
  for (const auto* file : left) verified.insert(file->path);
  return {};
}

Result<std::vector<const Offered*>> likely_choices(const Source& source) {
  std::map<std::string, dist::Version> newest;
  std::vector<dist::Version> versions;
  for (const auto& offered : source.files) {
    TRY(auto version, dist::Version::parse(offered.file.version));
    auto [at, first] = newest.try_emplace(offered.file.project, version);
    if (!first && at->second < version) at->second = version;
    versions.push_back(std::move(version));
  }
  std::vector<const Offered*> files;
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    const auto& file = source.files[i].file;
    if (!file.filename.ends_with(".whl") || versions[i] == newest.at(file.project)) files.push_back(&source.files[i]);
  }
  return files;
}

} // namespace quarry::venv
