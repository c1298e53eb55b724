// publish_rocm_to_release_buckets, publish_pytorch_to_release_bucket, publish_jax_to_release_bucket: what a run or a
// job made goes to the buckets that people install from.
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/compat/release_copies.hpp"
#include "cli/compat/script.hpp"
#include "cli/delivery.hpp"
#include "cli/parse.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "publish/resolve.hpp"
#include "run/locator.hpp"
#include "sys/copy.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

/// The stream of repo.amd.com that a release type feeds: dev, bkc, nightly or rc.
std::string stream_of(const std::string& release_type) {
  if (release_type.ends_with("-bkc")) return "bkc";
  return release_type == "prerelease" ? "rc" : release_type;
}

std::string product_bucket(const std::string& release_type, std::string_view product) {
  return fmt::format("s3://therock-repo-amd-{}-{}", stream_of(release_type), product);
}

/// The bucket of all Python packages of a release type, before each product had one.
std::string python_bucket(const std::string& release_type) {
  return fmt::format("s3://therock-{}-python", text::replace_all(release_type, "-bkc", ""));
}

std::string index_url(const std::string& release_type, const std::string& index, bool structured) {
  if (structured) return fmt::format("https://{}.repo.amd.com/rocm/{}/", stream_of(release_type), index);
  auto plain = text::replace_all(release_type, "-bkc", "");
  return fmt::format("https://rocm.{}.amd.com/whl-multi-arch/", plain == "dev"       ? "devreleases"
                                                                : plain == "nightly" ? "nightlies"
                                                                                     : "prereleases");
}

Result<std::shared_ptr<store::ObjectStore>> open_release(Context& context, const std::string& locator) {
  auto place = place_to_write(context, locator);
  auto inner = at(context, place);
  TRY(auto opened, open_store_to_write(inner, place.store));
  return std::shared_ptr<store::ObjectStore>(std::move(opened));
}

promote::Options move_options(Context& context, const Arguments& arguments) {
  promote::Options options;
  options.who = who(context);
  options.when = sys::Timestamp::from_us(context.clock.now_us());
  options.why = "published by compat";
  options.dry_run = arguments.has("--dry-run");
  return options;
}

/// Sets and the repository that they go to.
struct Publication {
  std::vector<registry::SealedSet> sets;
  Destination to;
};

/// Leaves out sets of other products: `v5/rocm/core` holds packages of the SDK alone.
Result<std::vector<registry::SealedSet>> sets_of_product(Context& context, std::vector<registry::SealedSet> sets,
                                                         const std::string& product) {
  std::vector<registry::SealedSet> ours;
  for (auto& set : sets) {
    TRY(auto planned, publish::plan_distribution({set}, "v5/rocm/{product}/whl"));
    const auto& directory = planned.at(0).set.directory;
    if (directory == "v5/rocm/" + product + "/whl")
      ours.push_back(std::move(set));
    else
      context.out.note(fmt::format("note: set {} is of another product ({}): it stays where it is",
                                   set.digest.short_hex(), path::basename(path::dirname(directory))));
  }
  return ours;
}

/// Leaves out sets that lie elsewhere in the run: the script copies `python/`, and February's frameworks have
/// directories of their own, such as `pytorch/`.
std::vector<registry::SealedSet> sets_below(Context& context, std::vector<registry::SealedSet> sets,
                                            const std::string& directory) {
  std::erase_if(sets, [&](const registry::SealedSet& set) {
    bool below = set.set.directory == directory || set.set.directory.starts_with(directory + "/");
    if (!below)
      context.out.note(fmt::format("note: set {} lies in {}, not in {}: it stays where it is", set.digest.short_hex(),
                                   set.set.directory, directory));
    return !below;
  });
  return sets;
}

/// A dry run looks when it plans, and says what it may not look at.
Result<void> check_publications(Context& context, store::ObjectStore& source,
                                const std::vector<Publication>& publications, bool dry_run) {
  if (dry_run) return {};
  for (const auto& each : publications) TRY_DO(check_delivery(context, {source, each.to, each.sets}, {}));
  return {};
}

Result<Json> deliver_all(Context& context, store::ObjectStore& source, const std::vector<Publication>& publications,
                         const promote::Options& options) {
  auto documents = Json::array();
  for (const auto& each : publications) {
    TRY(auto done, deliver(context, source, each.to, each.sets, options));
    context.out.findings(done.receipt.notes);
    context.out.data(delivery_text(each.to, done, options.dry_run));
    documents.push_back(delivery_json(each.to, done));
  }
  return documents;
}

// publish_rocm_to_release_buckets

struct RocmRequest {
  std::string release_type, index, run_id;
  bool split = false, structured = false, asan = false, native = false;
};

Result<RocmRequest> rocm_request(const Arguments& arguments) {
  RocmRequest asked{arguments.get("--release-type"), arguments.get("--python-index"), arguments.get("--run-id")};
  auto split = text::lower(arguments.get("--kpack-split")); // scripts pass Python's True, too
  TRY_DO(check_value({.name = "--kpack-split", .value = "BOOL", .help = "", .choices = {"true", "false"}}, split,
                     "--kpack-split"));
  asked.split = split == "true";
  asked.structured = arguments.has("--structured");
  asked.asan = arguments.get("--build-variant") == "asan";
  asked.native = arguments.get("--platform") == "linux" && !arguments.has("--skip-native-packages");
  if (asked.structured && !asked.split)
    return usage("--structured needs --kpack-split true: packages of families have no place there",
                 "omit --structured, or publish a run whose packages are split by GPU target");
  return asked;
}

/// Prefixes of today's repositories of Python packages.
std::vector<std::string> python_prefixes(const RocmRequest& asked) {
  if (asked.structured) return {fmt::format("v5/rocm/core/{}/{{project}}", asked.index)};
  if (asked.split) return {"v4/whl"};
  return {"v3/whl-staging/{family}", "v3/whl/{family}"};
}

Result<std::vector<Publication>> python_of_run(Context& context, store::ObjectStore& source, const Place& from,
                                               const RocmRequest& asked, const std::string& store) {
  std::vector<Publication> publications;
  if (asked.asan) {
    context.out.note("note: packages of an asan build are not published");
    return publications;
  }
  TRY(auto locator, run::parse_locator(from.locator()));
  TRY(auto resolved, publish::resolve(source, locator));
  auto sets = sets_below(context, std::move(resolved.sets), from.prefix + "/python");
  if (sets.empty())
    return fail(ErrorKind::not_found, "R013", fmt::format("{} has no sealed set of packages in python/", from.prefix),
                "nothing was copied; `quarry set list` shows what the run has");
  if (asked.structured) {
    TRY(sets, sets_of_product(context, std::move(sets), "core"));
  }
  auto bucket = asked.structured ? product_bucket(asked.release_type, "core") : python_bucket(asked.release_type);
  auto named = store.empty() ? bucket : store;
  TRY(auto target, open_release(context, named));
  for (auto& prefix : python_prefixes(asked)) publications.push_back({sets, {named, prefix, target}});
  return publications;
}

/// Tarballs and native packages: where they lie in the run, and where they go.
std::vector<CopyRule> copy_rules(const Context& context, const RocmRequest& asked) {
  std::string suffix = asked.asan ? "-asan" : "";
  std::vector<CopyRule> rules{{"tarballs", ".tar.gz", "v5/rocm/core/tarball" + suffix}};
  if (!asked.native) return rules;
  auto day = text::replace_all(sys::Timestamp::from_us(context.clock.now_us()).text().substr(0, 10), "-", "");
  for (const auto* kind : {"deb", "rpm"}) {
    auto to = fmt::format("v5/rocm/core/packages{}/{}", suffix, kind);
    if (asked.release_type != "prerelease") to += fmt::format("/{}-{}", day, asked.run_id);
    rules.push_back({fmt::format("packages/{}", kind), "", to});
  }
  return rules;
}

Result<int> publish_rocm(Context& context, const Arguments& arguments) {
  TRY(auto asked, rocm_request(arguments));
  auto options = move_options(context, arguments);
  TRY(auto from, place_of(context, arguments,
                          {asked.run_id, arguments.get("--platform"), "", said(arguments, "--store").value_or("")}));
  auto inner = at(context, from);
  TRY(auto source, open_store(inner, from.store));
  auto store = said(arguments, "--to-store").value_or("");
  auto named = store.empty() ? product_bucket(asked.release_type, "core") : store;
  TRY(auto target, open_release(context, named));
  // All of it is looked at before anything is copied: a run without packages leaves no tarballs behind.
  TRY(auto copies, plan_copies(*source, from.prefix, copy_rules(context, asked)));
  TRY(auto publications, python_of_run(context, *source, from, asked, store));
  TRY_DO(check_copies(*source, *target, copies, context.jobs));
  TRY_DO(check_publications(context, *source, publications, options.dry_run));
  std::uint64_t writes = 0;
  if (!options.dry_run) {
    TRY(writes, copy_all(*source, *target, copies, context.jobs));
  }
  auto files = Json::array();
  for (const auto& copy : copies) {
    context.out.data(fmt::format("{}  {}  {}\n", options.dry_run ? "would copy" : "copied", units::bytes(copy.size),
                                 target->url(copy.to)));
    files.push_back({{"from", copy.from}, {"to", copy.to}, {"size", copy.size}});
  }
  TRY(auto python, deliver_all(context, *source, publications, options));
  context.out.document(
      {{"dry_run", options.dry_run}, {"store", named}, {"files", files}, {"writes", writes}, {"repositories", python}});
  return 0;
}

const Flag k_to_store{.name = "--to-store",
                      .value = "LOCATOR",
                      .help = "Quarry only: instead of today's bucket of releases, such as file:/srv/releases"};
const std::vector<std::string> k_published_types{"dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease"};
const Flag k_python_index{
    "--python-index", "NAME", "the index of a structured repository", {"whl", "whl-next"}, "whl-next"};

Flag release_type_flag() {
  return {.name = "--release-type",
          .value = "T",
          .help = "decides the buckets",
          .choices = k_published_types,
          .required = true};
}

Script rocm_script() {
  return {
      .name = "publish_rocm_to_release_buckets",
      .summary = "tarballs and packages of a run into the buckets of releases, as TheRock's script copies them",
      .description =
          "Copies `tarballs/`, the sealed sets of packages, and `packages/deb` and `packages/rpm` of a run to the "
          "places of today's releases: `v5/rocm/core/`, or for packages without --structured `v4/whl` and "
          "`v3/whl/FAMILY`. Everything is checked before the first copy. Packages get the pages, seals and moves "
          "of `quarry promote --to-store`, so that `quarry rollback` can take them back. No gate is asked, as in "
          "August: `quarry promote` is the command that judges.",
      .operands = {},
      .flags =
          {{.name = "--run-id", .value = "ID", .help = "the run", .required = true},
           {"--platform", "P", "the run's platform", {"linux", "windows"}, "linux"},
           release_type_flag(),
           {"--kpack-split", "BOOL", "packages are split by GPU target: true or false", {}, "false"},
           {"--structured", "", "a directory for each project, below v5/rocm/core"},
           k_python_index,
           {"--skip-native-packages", "", "no deb and rpm packages"},
           {"--build-variant", "V", "asan: no Python packages, and places of its own", {"release", "asan"}, "release"},
           {"--dry-run", "", "check and plan, copy nothing"},
           k_store,
           k_to_store,
           k_workflow_run},
      .refused = {},
      .only_feb = {},
      .only_aug = {},
      .examples = {{"quarry compat publish_rocm_to_release_buckets --run-id 42 --release-type nightly "
                    "--kpack-split true --structured --dry-run",
                    "what would go where"}},
      .exit_codes = {{3, "the run has no tarball, no sealed set, or no native package"},
                     {7, "a name is published with other bytes"}},
      .schema = "quarry.compat-release/1",
      .run = publish_rocm};
}

// publish_pytorch_to_release_bucket, publish_jax_to_release_bucket

bool is_published(const std::string& name) {
  return name.ends_with(".whl") || name.ends_with(".tar.gz") || name.ends_with(".zip");
}

/// Beside the wheels, where hard links are possible; elsewhere only if nobody may write there.
Result<Scratch> scratch_beside(const Context& context, const std::string& directory) {
  if (sys::is_directory(directory))
    if (auto beside = Scratch::make_in(context, directory)) return std::move(*beside);
  return Scratch::make(context);
}

std::string content_of_directory(const std::vector<sys::TreeEntry>& entries) {
  constexpr std::size_t k_shown = 5;
  std::vector<std::string> names;
  for (const auto& entry : entries)
    names.push_back(entry.type == sys::EntryType::directory ? entry.path + "/" : entry.path);
  return names.empty() ? "nothing" : text::first(names, k_shown);
}

/// The wheels as a run in a store of its own, by hard links where the file system has them: nothing is written beside
/// them, and gigabytes are not copied only to be sent.
Result<Place> staged_run(const Context& context, const std::string& directory, const std::string& scratch) {
  TRY(auto entries, sys::list_directory(directory));
  std::vector<std::string> names;
  for (const auto& entry : entries)
    if (entry.type != sys::EntryType::directory && is_published(entry.path)) names.push_back(entry.path);
  if (std::none_of(names.begin(), names.end(), [](const auto& name) { return name.ends_with(".whl"); }))
    return fail(Error::of(ErrorKind::not_found, "C048", fmt::format("{} has no wheel", directory))
                    .with_detail("it has  " + content_of_directory(entries))
                    .with_hint("nothing was copied; name the directory that the build wrote its wheels to"));
  bool windows = std::any_of(names.begin(), names.end(), [](const auto& n) { return n.ends_with("win_amd64.whl"); });
  Place place;
  auto run = context.variable("GITHUB_RUN_ID");
  place.prefix = fmt::format("{}-{}", run.empty() ? "local" : run, windows ? "windows" : "linux");
  place.store = "file:" + scratch;
  auto below = path::join(scratch, place.prefix + "/python");
  TRY_DO(sys::make_directories(below));
  for (const auto& name : names) {
    auto from = path::join(directory, name), to = path::join(below, name);
    TRY(from, sys::real_path(from)); // a hard link of a symbolic link would lead elsewhere
    if (sys::hard_link(from, to)) continue;
    TRY(auto source, sys::File::open_read(from)); // another file system, or none with links
    TRY(auto copy, sys::File::create_new(to));
    TRY_DO(sys::copy_content(source, copy));
  }
  return place;
}

Result<int> publish_framework(Context& context, const Arguments& arguments, const std::string& product) {
  auto options = move_options(context, arguments);
  auto release_type = arguments.get("--release-type"), index = arguments.get("--python-index");
  bool structured = arguments.has("--structured");
  TRY(auto scratch, scratch_beside(context, arguments.get("--source-dir")));
  TRY(auto place, staged_run(context, arguments.get("--source-dir"), scratch.path()));
  TRY(auto adopted, ask_words(context, {"set", "adopt", place.locator(), "--store", place.store}));
  TRY(auto source, open_store(context, place.store));
  TRY(auto locator, run::parse_locator(place.locator()));
  TRY(auto resolved, publish::resolve(*source, locator));
  auto count = resolved.sets.size();
  TRY(auto sets, sets_of_product(context, std::move(resolved.sets), product));
  if (sets.size() != count)
    return fail(ErrorKind::invalid_argument, "C049",
                fmt::format("{} holds packages of another product than {}", arguments.get("--source-dir"), product),
                "each product has a bucket and a script of its own");
  auto store = said(arguments, "--to-store").value_or("");
  auto bucket = structured ? product_bucket(release_type, product) : python_bucket(release_type);
  auto named = store.empty() ? bucket : store;
  TRY(auto target, open_release(context, named));
  std::string prefix = structured ? fmt::format("v5/rocm/{}/{}/{{project}}", product, index) : "v4/whl";
  std::vector<Publication> publications{{std::move(sets), {named, prefix, target}}};
  TRY_DO(check_publications(context, *source, publications, options.dry_run));
  TRY(auto repositories, deliver_all(context, *source, publications, options));
  auto url = store.empty() ? index_url(release_type, index, structured)
                           : repositories.at(0).at("repositories").at(0).get<std::string>();
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", {{"package_index_url", url}}));
  context.out.document(
      {{"dry_run", options.dry_run}, {"store", named}, {"package_index_url", url}, {"repositories", repositories}});
  return 0;
}

Script framework_script(const std::string& name, const std::string& product) {
  return {.name = name,
          .summary = fmt::format("wheels of {} into the bucket of releases, as TheRock's script uploads them", product),
          .description =
              fmt::format("Verifies and seals the wheels of a directory and publishes them below `v5/rocm/{}/`, or "
                          "without --structured in `v4/whl`. They get the pages, seals and moves of `quarry promote "
                          "--to-store`. GITHUB_OUTPUT gets `package_index_url`.",
                          product),
          .operands = {},
          .flags = {{"--source-dir", "DIR", "the wheels", {}, {}, {}, true},
                    release_type_flag(),
                    {"--structured", "", fmt::format("a directory for each project, below v5/rocm/{}", product)},
                    k_python_index,
                    {"--dry-run", "", "verify and plan, write the output only"},
                    k_to_store},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{fmt::format("quarry compat {} --source-dir dist --release-type nightly --structured", name),
                        fmt::format("to s3://therock-repo-amd-nightly-{}", product)}},
          .exit_codes = {{2, "packages of another product"},
                         {3, "no wheel was found"},
                         {6, "a package is broken"},
                         {7, "a name is published with other bytes"}},
          .schema = "quarry.compat-release/1",
          .run = [product](Context& context, const Arguments& arguments) {
            return publish_framework(context, arguments, product);
          }};
}

} // namespace

std::vector<Command> release_scripts() {
  return {command_of(rocm_script()), command_of(framework_script("publish_pytorch_to_release_bucket", "pytorch")),
          command_of(framework_script("publish_jax_to_release_bucket", "jax"))};
}

} // namespace quarry::cli::compat
