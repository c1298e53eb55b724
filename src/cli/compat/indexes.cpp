#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/compat/script.hpp"
#include "cli/find.hpp"
#include "cli/records.hpp"
#include "index/build.hpp"
#include "index/listing.hpp"
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
  context.out.document({{"schema", "quarry.compat-indexer/1"}, {"pages", listing.written}});
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
          .exit_codes = {{3, "the directory does not exist"}, {12, "the page cannot be written"}},
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

/// In a bucket the packages stay where they are: each is looked at by ranges, then the pages follow.
Result<int> manage_bucket(Context& context, const Arguments& arguments, const std::string& directory) {
  Words words{"set", "adopt", directory};
  if (arguments.has("--do-not-upload")) words.emplace_back("--dry-run");
  auto environment = context.environment;
  assume_public_bucket(environment);
  environment.erase("QUARRY_S3_ANONYMOUS"); // nobody writes pages unsigned
  Context inner{environment,  context.clock,   context.resources, context.out,
                context.jobs, context.program, context.settings};
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
  TRY(auto prefix, prefix_of(arguments));
  auto named = store_of(context, arguments);
  if (named.starts_with("s3://")) return manage_bucket(context, arguments, named + "/" + prefix);
  TRY(auto store, open_store_to_write(context, named));
  auto root =
      path::dirname(text::percent_decode(std::string_view(store->url("x")).substr(std::string_view("file://").size())));
  auto directory = path::join(root, prefix);
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
  context.out.document({{"schema", "quarry.compat-manage/1"},
                        {"prefix", prefix},
                        {"files", plan.files.size()},
                        {"pages", plan.pages.size()},
                        {"writes", writes}});
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
                     {7, "two files are one distribution, or a page would lose a link"}},
      .schema = "quarry.compat-manage/1",
      .run = manage};
}

} // namespace

std::vector<Command> index_scripts() { return {command_of(indexer_script()), command_of(manage_script())}; }

} // namespace quarry::cli::compat
