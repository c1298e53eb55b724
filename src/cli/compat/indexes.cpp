#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/compat/script.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "dist/name.hpp"
#include "index/build.hpp"
#include "index/listing.hpp"
#include "index/store_place.hpp"
#include "run/locator.hpp"
#include "store/object_store.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli::compat {

namespace {

// indexer

constexpr unsigned k_depth_max = 64; // of --recursive: deeper is a mistake, or a file system that lies

struct Listing {
  std::vector<std::string> globs;
  std::string output_file;
  bool recursive = false;
  std::vector<std::string> written;
};

bool is_listed(const Listing& listing, const std::string& name) {
  if (text::lower(name) == text::lower(listing.output_file)) return false;
  return listing.globs.empty() || std::any_of(listing.globs.begin(), listing.globs.end(),
                                              [&](const auto& glob) { return text::glob_match(glob, name); });
}

/// Lists a link as the file or directory that it leads to, and a dangling one as a file.
index::Listed listed(const std::string& directory, const sys::TreeEntry& entry) {
  auto path = path::join(directory, entry.path);
  index::Listed result{entry.path, sys::is_directory(path), entry.size};
  if (entry.type == sys::EntryType::symlink && !result.is_directory) {
    auto file = sys::File::open_read(path);
    if (file) result.size = file->size().value_or(0);
  }
  return result;
}

Result<void> list_one(const std::string& directory, Listing& listing, unsigned depth) {
  TRY(auto entries, sys::list_directory(directory));
  std::vector<index::Listed> shown;
  for (const auto& entry : entries) {
    bool inner = listing.recursive && entry.type == sys::EntryType::directory; // a link could lead in a circle
    if (inner && depth >= k_depth_max)
      return fail(ErrorKind::invalid_argument, "C044", fmt::format("{} is too deep to be listed", directory),
                  "omit --recursive");
    if (inner) TRY_DO(list_one(path::join(directory, entry.path), listing, depth + 1));
    if (is_listed(listing, entry.path)) shown.push_back(listed(directory, entry));
  }
  TRY(auto absolute, sys::absolute(directory));
  TRY_DO(index::refuse_place_of_store(absolute));
  auto page = path::join(directory, listing.output_file);
  TRY_DO(sys::write_file(
      page, index::listing_page(path::basename(path::normal(absolute)), std::move(shown), index::Parent::linked)));
  listing.written.push_back(page);
  return {};
}

Result<int> indexer(Context& context, const Arguments& arguments) {
  Listing listing{arguments.list("--filter"), arguments.get("--output-file"), arguments.has("--recursive"), {}};
  if (listing.output_file.empty() || listing.output_file.find('/') != std::string::npos)
    return usage("--output-file is a name, not a path", "such as index.html");
  TRY_DO(list_one(arguments.operands.empty() ? "." : arguments.operands[0], listing, 0));
  for (const auto& page : listing.written)
    if (arguments.has("--verbose")) context.out.data(page + "\n");
  context.out.note(units::things(listing.written.size(), "page") + " written");
  context.out.document({{"pages", listing.written}});
  return 0;
}

Script indexer_script() {
  return {.name = "indexer",
          .summary = "a page that lists a directory, as TheRock's script makes it",
          .description = "Writes one page of relative, percent-encoded links, directories first. A page that cannot be "
                         "written is an error. pip and uv take a page of packages by --find-links; "
                         "`quarry index build` makes pages with checksums.",
          .operands = {{"TOP_DIR", "the directory (default: the working directory)", false}},
          .flags = {{.name = "--filter",
                     .value = "GLOB",
                     .help = "only names that one of these fits, up to the next flag",
                     .repeats = true,
                     .letter = 'f',
                     .many = true},
                    {.name = "--output-file",
                     .value = "NAME",
                     .help = "the page's name",
                     .fallback = "index.html",
                     .letter = 'o'},
                    {.name = "--recursive", .value = "", .help = "a page in every directory below, too", .letter = 'r'},
                    {.name = "--verbose", .value = "", .help = "print each page's name", .letter = 'v'}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat indexer dist --filter '*.whl' '*.tar.gz'", "a find-links page"}},
          .exit_codes = {{3, "the directory does not exist"},
                         {7, "a store keeps its pages there"},
                         {12, "the page cannot be written"}},
          .schema = "quarry.compat-indexer/1",
          .run = indexer};
}

// manage

constexpr std::string_view k_default_bucket = "therock-dev-python";

std::string store_of(const Context& context, const Arguments& arguments) {
  auto bucket = said(arguments, "--bucket").value_or(context.variable("S3_BUCKET_PY"));
  bool by_name = said(arguments, "--bucket").has_value();
  if (auto store = said(arguments, "--store"); store && !by_name) return *store;
  return "s3://" + (bucket.empty() ? std::string(k_default_bucket) : bucket);
}

/// In a bucket the packages stay where they are: each is looked at by ranges, then the pages follow. Where only the
/// bucket was named, `set adopt` finds the store in it.
Result<int> manage_bucket(Context& context, const Arguments& arguments, const std::string& named,
                          const std::string& prefix) {
  TRY(auto place_named, run::split_store(named));
  auto store = place_named.key.empty() ? place_named.store : path::join(place_named.store, place_named.key);
  Words words{"set", "adopt", path::join(store, prefix)};
  if (!place_named.key.empty()) words.insert(words.end(), {"--store", store});
  if (arguments.has("--do-not-upload")) words.emplace_back("--dry-run");
  auto place = place_to_write(context, {});
  auto inner = at(context, place);
  return run_words(inner, words);
}

/// Pages of ours for projects that are gone.
std::vector<std::string> stale_pages(const std::string& directory, const std::vector<registry::FileRecord>& files) {
  std::set<std::string> projects;
  for (const auto& file : files) projects.insert(file.project);
  std::vector<std::string> stale;
  auto entries = sys::list_directory(directory);
  if (!entries) return stale;
  for (const auto& entry : *entries) {
    if (entry.type != sys::EntryType::directory || projects.contains(entry.path)) continue;
    auto page = entry.path + "/index.html";
    auto text = sys::read_file(path::join(directory, page), 1u << 20); // a larger file is not a page of one project
    if (text && text->find(index::k_generator_mark) != text->npos && text->find("#sha256=") != text->npos)
      stale.push_back(page);
  }
  return stale;
}

Result<std::size_t> save_pages(const std::string& prefix, const std::vector<index::Page>& pages) {
  for (const auto& page : pages) {
    auto name = path::join(prefix, page.key);
    TRY_DO(sys::make_directories(path::dirname(name)));
    TRY_DO(sys::write_file(name, page.bytes));
  }
  return pages.size();
}

Result<std::string> prefix_of(const Arguments& arguments) {
  auto prefix = text::join(path::components(arguments.operands.at(0)), "/");
  bool leaves = path::is_absolute(arguments.operands[0]) || (prefix + "/").find("../") != std::string::npos;
  if (!prefix.empty() && !leaves && prefix != "all") return prefix;
  return usage(fmt::format("{} names no prefix", arguments.operands[0]),
               "name one, such as v2/gfx94X-dcgpu, and run it for each");
}

Result<int> manage(Context& context, const Arguments& arguments) {
  TRY_DO(only_one_of(arguments, {"--store", "--bucket"}));
  TRY(auto prefix, prefix_of(arguments));
  auto named = store_of(context, arguments);
  if (named.starts_with("s3://")) return manage_bucket(context, arguments, named, prefix);
  TRY(auto store, open_store_to_write(context, named));
  auto root =
      path::dirname(text::percent_decode(std::string_view(store->url("x")).substr(std::string_view("file://").size())));
  auto directory = path::join(root, prefix);
  TRY_DO(index::refuse_place_of_store(arguments.has("--do-not-upload") ? prefix : directory));
  auto progress = context.out.progress("verifying", 0);
  TRY(auto plan, index::plan_build({directory, "", context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); }},
                                   context.clock));
  progress->finish();
  plan.pages = index::flat_pages(plan.files);
  plan.stale = stale_pages(directory, plan.files);
  std::size_t writes = 0;
  if (arguments.has("--do-not-upload")) {
    TRY(writes, save_pages(prefix, plan.pages));
  } else {
    TRY(auto result, index::execute_build(plan));
    writes = result.writes();
  }
  context.out.data(fmt::format("{}  {}  {} written below {}\n", units::things(plan.files.size(), "file"),
                               units::things(plan.pages.size(), "page"), writes,
                               arguments.has("--do-not-upload") ? prefix : directory));
  context.out.document(
      {{"prefix", prefix}, {"files", plan.files.size()}, {"pages", plan.pages.size()}, {"writes", writes}});
  return 0;
}

Script manage_script() {
  return {
      .name = "manage",
      .summary = "the index pages of a release prefix, as TheRock's script makes them",
      .description =
          "Writes the simple repository where installers look today: `PREFIX/PROJECT/index.html`. In a directory that "
          "takes the place of the bucket every package is verified, and `PREFIX/index.html` is the root. In a "
          "bucket it runs `quarry set adopt s3://BUCKET/PREFIX`: the packages stay where they are and are looked at "
          "by ranges; `PREFIX/` and `PREFIX/simple/` are the root. The same files give the same pages.",
      .operands = {{"PREFIX", "such as v2/gfx94X-dcgpu"}},
      .flags = {{"--do-not-upload", "", "write the pages below the working directory instead; of a bucket: plan"},
                {"--bucket", "NAME", "this bucket (default: S3_BUCKET_PY, then therock-dev-python)"},
                k_store,
                k_era},
      .refused = {{{"--compute-sha256", "", ""},
                   "every page has the checksums of the files' own bytes already",
                   "run it without"},
                  {{"--auto-detect-prefixes", "", ""},
                   "a prefix that nobody named would get pages",
                   "run it for each prefix"},
                  {{"--starting-from", "PREFIX", ""}, "it goes with --auto-detect-prefixes", "run it for each prefix"}},
      .only_feb = {},
      .only_aug = {"--bucket"},
      .examples = {{"quarry compat manage v2/gfx94X-dcgpu --store file:/srv/python", "one family's index"}},
      .exit_codes = {{3, "there is no package"},
                     {6, "a package is broken"},
                     {7, "two files are one distribution, a page would lose a link, or a store keeps its pages there"}},
      .schema = "quarry.compat-manage/1",
      .run = manage};
}

// update_dependencies

constexpr std::string_view k_lists = "data/dependencies/";

/// The requirements of one list: a line each, without comments.
std::vector<std::string> requirements_of(const Context& context, const std::string& name) {
  std::vector<std::string> lines;
  for (auto line : text::split(context.resources.read(name).value_or(""), '\n'))
    if (auto said = std::string(text::trim(line.substr(0, line.find('#')))); !said.empty()) lines.push_back(said);
  return lines;
}

Result<std::string> requirement_lines(const Context& context, const Arguments& arguments) {
  bool all = arguments.has("--package") ? arguments.get("--package") == "all" : arguments.has("--structured");
  auto package = arguments.find("--package").value_or("torch");
  std::set<std::string> wanted;
  for (const auto& name : arguments.list("--dependency-package")) {
    TRY(auto project, dist::ProjectName::parse(name));
    wanted.insert(project.str());
  }
  auto missing = wanted;
  std::string lines;
  for (const auto& list : context.resources.list(std::string(k_lists))) {
    if (!all && list != fmt::format("{}{}.txt", k_lists, package)) continue;
    for (const auto& line : requirements_of(context, list)) {
      auto project = line.substr(0, line.find(' ')); // the lists have names in normal form
      if (arguments.has("--dependency-package") && !wanted.contains(project)) continue;
      missing.erase(project); // a project may have a line for each range of Pythons
      lines += line + "\n";
    }
  }
  if (missing.empty()) return lines;
  return usage(fmt::format("--dependency-package {} is not in the list of {}", *missing.begin(), all ? "all" : package),
               "`quarry mirror sync` takes any requirements");
}

Result<int> update_dependencies(Context& context, const Arguments& arguments) {
  TRY_DO(only_one_of(arguments, {"--store", "--bucket"}));
  bool flat = arguments.has("--prefix") || arguments.has("--auto-detect-prefixes") || arguments.has("--base-prefix");
  if (arguments.has("--structured") && flat)
    return usage("--structured and prefixes exclude each other", "use only one of them");
  TRY(auto lines, requirement_lines(context, arguments));
  TRY(auto scratch, Scratch::make(context));
  auto file = path::join(scratch.path(), "requirements.txt");
  TRY_DO(sys::write_file(file, lines));
  auto place = place_to_write(context, store_of(context, arguments));
  Words words{"mirror",     "sync",         file, "--store", place.store, "--python", arguments.get("--python"),
              "--platform", "linux,windows"};
  pass(words, arguments, "--index-url");
  if (arguments.has("--dry-run")) words.emplace_back("--dry-run");
  auto inner = at(context, place);
  return run_words(inner, words);
}

Script dependencies_script() {
  std::string where = "taken and not needed: `python-deps/` of the bucket serves every prefix by its `merged/`";
  return {
      .name = "update_dependencies",
      .summary = "what the packages need from PyPI, as TheRock's script copies it",
      .description =
          "Runs `quarry mirror sync` with the list of a project, `data/dependencies/`: what it requires, too, "
          "for each Python, on Linux and Windows. The packages go to the base index of the bucket, "
          "`python-deps/`, from which the merged index of every repository shows them.",
      .operands = {},
      .flags =
          {{"--package",
            "NAME",
            "whose dependencies (default: torch; all with --structured)",
            {"jax", "rocm", "torch", "all"}},
           {"--structured", "", "the lists of all projects, unless --package names one"},
           {"--index", "NAME", "taken and not needed: `python-deps/` serves every index", {"whl", "whl-next"}, "whl"},
           {"--bucket", "NAME", "this bucket (default: S3_BUCKET_PY, then therock-dev-python)"},
           {"--prefix", "PREFIX", where},
           {"--auto-detect-prefixes", "", where},
           {"--base-prefix", "PREFIX", where},
           {.name = "--dependency-package", .value = "NAME", .help = "only this one of the list", .repeats = true},
           {"--dry-run", "", "resolve and say what is new, write nothing"},
           {"--only-pypi", "", "taken and not needed: packages come from PyPI, or from --index-url"},
           {"--python", "LIST", "Quarry only: Pythons", {}, "3.10,3.11,3.12,3.13,3.14"},
           {"--index-url", "URL", "Quarry only: another index than PyPI", {}, {}, "PIP_INDEX_URL"},
           k_store,
           k_era},
      .refused = {},
      .only_feb = {},
      .only_aug = {"--structured", "--index", "--bucket", "--prefix", "--auto-detect-prefixes", "--base-prefix",
                   "--dependency-package"},
      .examples = {{"quarry compat update_dependencies --package torch --bucket therock-nightly-python",
                    "what PyTorch needs, for every repository of the bucket"}},
      .exit_codes = {{1, "nothing fits all that ask for a project"},
                     {3, "PyPI has no such project"},
                     {6, "a file is not what PyPI says"},
                     {7, "a mirrored name has other bytes now"}},
      .schema = "quarry.mirror-sync/1",
      .run = update_dependencies};
}

} // namespace

std::vector<Command> index_scripts() {
  return {command_of(indexer_script()), command_of(manage_script()), command_of(dependencies_script())};
}

} // namespace quarry::cli::compat
