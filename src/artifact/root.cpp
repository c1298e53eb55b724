#include "artifact/case_rule.hpp"
#include "artifact/checksum.hpp"
#include "artifact/defects.hpp"
#include "artifact/manifest.hpp"
#include "artifact/page.hpp"
#include "artifact/upload_record.hpp"
#include "base/codes.hpp"
#include "base/text.hpp"
#include "store/denied.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <utility>

namespace quarry::artifact {

namespace {
constexpr std::uint64_t k_page_bytes_max = 16u << 20; // 100,000 links of 160 bytes: a run has some hundred archives

/// The names directly below a prefix, with sizes where the store says them at once.
using Names = std::map<std::string, std::optional<std::uint64_t>>;

Names names_listed(const std::vector<store::ObjectInfo>& objects, const std::string& prefix) {
  Names names;
  for (const auto& object : objects) {
    auto name = object.key.substr(prefix.size());
    if (name.find('/') == name.npos) names.emplace(std::move(name), object.size);
  }
  return names;
}

/// "readme.txt" of ".../readme.txt": a file, where a directory was expected. Directories such as "v7.1" are not meant.
std::string file_named_by(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  auto name = url.substr(url.rfind('/') + 1);
  auto dot = name.rfind('.');
  if (dot == name.npos || dot == 0 || url.find("://") + 3 + name.size() == url.size()) return {}; // a host
  auto ending = name.substr(dot + 1);
  bool letters = std::ranges::all_of(ending, [](char c) { return c >= 'a' && c <= 'z'; });
  return ending.size() >= 2 && letters ? std::string(name) : std::string();
}

/// `refused`: what the server said where it did not say that a page is absent.
Unexpected no_page(const store::ObjectReader& store, const RunRoot& root, const std::vector<std::string>& pages,
                   const std::string& refused) {
  std::string bucket = "or read the bucket itself: `s3://BUCKET/PREFIX`, with QUARRY_S3_ANONYMOUS=1 when it is public";
  if (root.part == RunPart::artifacts) bucket += "; for tarballs of whole SDKs say `--tarballs`";
  auto error = Error::of(ErrorKind::not_found, "A034",
                         fmt::format("{} {} page that lists its artifacts", store.url(root.prefix),
                                     refused.empty() ? "has no" : "shows no"))
                   .with_hint(root.groups.empty() ? "name the family with `--artifact-group`, " + bucket
                                                  : fmt::format("check the URL and the name of the group ({}), ",
                                                                text::join(root.groups, ", ")) +
                                                        bucket);
  if (auto file = file_named_by(store.url(root.prefix)); !file.empty())
    error.hint = fmt::format("{} is not the name of an archive (`blas_lib_gfx942.tar.zst`) or of a tarball "
                             "(`therock-dist-linux-gfx94X-dcgpu-7.1.0.tar.gz`), so it was taken for a directory: give "
                             "the URL of one of these, or of the directory that holds them",
                             file);
  for (const auto& page : pages) error.details.push_back("looked for  " + page);
  if (!refused.empty()) error.details.push_back("answer      " + refused);
  return fail(std::move(error));
}

/// A web server says what it has on pages. A bucket that may not be listed says 403 for what it lacks.
struct OnPages {
  Names names;
  std::vector<std::string> groups; ///< that have a record
};
Result<OnPages> read_pages(store::ObjectReader& store, const RunRoot& root, const std::string& prefix) {
  std::vector<std::string> pages{"index.html"};
  for (const auto& group : root.groups) pages.push_back("index-" + group + ".html");
  bool tarballs = root.part != RunPart::artifacts;
  if (tarballs) pages.emplace_back(); // what the server says of the directory itself
  OnPages found;
  bool any = false;
  std::string refused;
  for (const auto& page : pages) {
    auto key = prefix + page;
    auto html = key.empty() ? store.root_page(k_page_bytes_max) : store.get(key, k_page_bytes_max);
    if (!html && !store::is_denied(html.error())) return fail(std::move(html).error());
    if (!html) refused = html.error().message;
    if (!html || !*html) continue;
    any = true;
    for (auto& name : names_on_page(**html, store.url(prefix))) found.names.emplace(std::move(name), std::nullopt);
    if (tarballs)
      for (auto& name : tarballs_in_quotes(**html)) found.names.emplace(std::move(name), std::nullopt);
    for (auto& group : groups_on_page(**html, store.url(prefix))) found.groups.push_back(std::move(group));
  }
  if (!any) return no_page(store, root, pages, refused);
  return found;
}

Result<void> read_record(store::ObjectReader& store, const std::string& key, std::vector<UploadRecord>& records) {
  TRY(auto text, store.get(key, k_upload_record_bytes_max));
  if (!text) return {};
  TRY(auto record, parse_upload_record(*text, key));
  records.push_back(std::move(record));
  return {};
}

bool is_wanted(const RunRoot& root, const std::string& group) {
  return root.groups.empty() || group.empty() ||
         std::find(root.groups.begin(), root.groups.end(), group) != root.groups.end();
}

/// The records of the groups that are wanted, which are all when none is named.
Result<std::vector<UploadRecord>> records_listed(store::ObjectReader& store, const RunRoot& root,
                                                 const std::vector<store::ObjectInfo>& objects) {
  auto begin = root.prefix + "manifests/";
  std::vector<UploadRecord> records;
  for (const auto& object : objects) {
    if (!object.key.starts_with(begin)) continue;
    auto name = object.key.substr(begin.size());
    auto slash = name.find('/');
    auto group = slash == name.npos ? std::string() : name.substr(0, slash);
    if (name.substr(slash == name.npos ? 0 : slash + 1) != k_upload_record || !is_wanted(root, group)) continue;
    TRY_DO(read_record(store, object.key, records));
  }
  return records;
}

/// A web server is asked by name. What it hides is not there: runs of other uploaders have no record.
Result<std::vector<UploadRecord>> records_by_name(store::ObjectReader& store, const RunRoot& root,
                                                  const std::vector<std::string>& linked) {
  std::vector<UploadRecord> records;
  std::set<std::string> groups(root.groups.begin(), root.groups.end());
  groups.emplace();
  for (const auto& group : linked)
    if (is_wanted(root, group)) groups.insert(group);
  for (const auto& group : groups) {
    auto key = root.prefix + "manifests/" + group + (group.empty() ? "" : "/") + std::string(k_upload_record);
    auto read = read_record(store, key, records);
    if (!read && !store::is_denied(read.error())) return fail(std::move(read).error());
  }
  return records;
}

std::string incomplete_text(const UploadRecord& record) {
  auto of = record.group.empty() ? std::string() : " of " + record.group;
  return record.build_failed ? fmt::format("the build{} failed", of) : fmt::format("the upload{} has not ended", of);
}

std::optional<Result<ArchiveName>> name_in_run(const std::string& file, RunPart part) {
  if (part == RunPart::artifacts) return parse_archive_name(file);
  auto tarball = parse_tarball_name(file);
  return tarball ? std::optional(Result<ArchiveName>(std::move(*tarball))) : std::nullopt;
}

Result<void> look(store::ObjectStore& store, const std::string& key, bool announced, SourceItem& item) {
  if (item.size == 0) { // a page does not say it
    TRY(auto info, store.head(key));
    if (!info) return fail(absent_error(item.file));
    item.size = info->size;
  }
  auto text = store.get(key + std::string(k_checksum_suffix), k_checksum_bytes_max);
  bool hidden = !text && store::is_denied(text.error()) && !announced;
  if (!text && !hidden) return fail(std::move(text).error());
  if (hidden || !*text) return {};
  TRY(item.checksum, parse_checksum({**text, item.file}));
  return {};
}

class RootScan {
public:
  RootScan(std::shared_ptr<store::ObjectStore> store, std::string prefix, const RunRoot& root, Names names)
      : store_(std::move(store)), prefix_(std::move(prefix)), part_(root.part), names_(std::move(names)),
        windows_(names_windows(root.prefix.empty() ? root.description : root.prefix)) {}
  void run(Source& source, const std::vector<UploadRecord>& records) {
    for (const auto& [file, size] : names_) add(source, file, size.value_or(0));
    for (const auto& record : records)
      for (const auto& [file, digest] : record.archives) add_absent(source, file);
    for (const auto& [file, size] : names_)
      if (file.ends_with(k_checksum_suffix)) add_absent(source, file.substr(0, file.size() - k_checksum_suffix.size()));
    refuse_twins(source, {});
  }

private:
  void add(Source& source, const std::string& file, std::uint64_t size) {
    auto parsed = name_in_run(file, part_);
    auto key = prefix_ + file;
    if (!parsed) {
      auto unread = part_ == RunPart::artifacts ? unread_form(file) : std::nullopt;
      if (unread) source.findings.push_back(no_artifact(*unread, key, size));
      return;
    }
    if (!*parsed) return source.findings.push_back(no_artifact(parsed->error(), key, size));
    SourceItem item;
    item.name = (*parsed)->name;
    item.file = file;
    item.compression = (*parsed)->compression;
    item.size = size;
    item.windows = windows_ || (item.name.whole_sdk() && file.find("-dist-windows-") != file.npos);
    item.open = [store = store_, key] { return store->open(key); };
    item.look = [store = store_, key, announced = names_.contains(file + std::string(k_checksum_suffix))](
                    SourceItem& found) { return artifact::look(*store, key, announced, found); };
    present_.insert(item.name);
    source.items.push_back(std::move(item));
  }
  void add_absent(Source& source, const std::string& file) {
    auto parsed = name_in_run(file, part_);
    if (!parsed || !*parsed || names_.contains(file) || !present_.insert((*parsed)->name).second) return;
    SourceItem item;
    item.name = (*parsed)->name;
    item.file = file;
    item.absent = true;
    item.defect = absent_error(file);
    source.items.push_back(std::move(item));
  }
  std::shared_ptr<store::ObjectStore> store_;
  std::string prefix_;
  RunPart part_;
  Names names_;
  bool windows_;
  std::set<Name> present_;
};
} // namespace

Error absent_error(const std::string& file) {
  return {ErrorKind::not_found,
          "A033",
          fmt::format("{} is announced and missing", file),
          {},
          {},
          "its upload has not ended, or failed: wait for it, or take what has arrived with `--allow-partial`"};
}

Result<Source> source_of_root(std::shared_ptr<store::ObjectStore> store, const RunRoot& root) {
  auto prefix = root.prefix + (root.part == RunPart::tarballs ? "tarballs/" : "");
  Source source;
  source.description = root.description;
  source.remote = root.remote;
  auto objects = store->list(prefix);
  bool unlisted = !objects && objects.error().is(codes::store_read_only);
  if (!objects && !unlisted) return fail(std::move(objects).error());
  Names names;
  std::vector<std::string> linked;
  std::vector<UploadRecord> records;
  if (unlisted) {
    TRY(auto found, read_pages(*store, root, prefix));
    names = std::move(found.names);
    linked = std::move(found.groups);
  } else {
    names = names_listed(*objects, prefix);
  }
  if (root.part == RunPart::artifacts) {
    TRY(records, unlisted ? records_by_name(*store, root, linked) : records_listed(*store, root, *objects));
  }
  for (const auto& record : records)
    if (!record.complete) source.incomplete.push_back(incomplete_text(record));
  RootScan(std::move(store), prefix, root, std::move(names)).run(source, records);
  return source;
}

Result<Source> source_of_file(std::shared_ptr<store::ObjectStore> store, RunRoot root, const std::string& file) {
  auto parsed = parse_archive_name(file);
  bool tarball = parse_tarball_name(file).has_value();
  if (!tarball && !(parsed && *parsed))
    return fail(ErrorKind::invalid_argument, "A046", fmt::format("{} is neither an artifact nor a tarball", file),
                "artifacts are called {name}_{component}_{target}.tar.zst, tarballs "
                "{product}-dist-{platform}-{group}-{version}.tar.gz");
  root.part = tarball ? RunPart::releases : RunPart::artifacts;
  auto key = root.prefix + file;
  TRY(auto there, store->head(key));
  if (!there)
    return fail(ErrorKind::not_found, "A048", fmt::format("there is no {}", store->url(key)),
                "check the address; `quarry artifact list DIRECTORY --tarballs` shows what lies beside it");
  Source source;
  source.description = root.description;
  source.remote = root.remote;
  RootScan(std::move(store), root.prefix, root, {{file, there->size}}).run(source, {});
  return source;
}

Result<Source> source_of_run(std::shared_ptr<store::ObjectStore> store, const run::Layout& run, RunPart part) {
  auto name = run.prefix().substr(0, run.prefix().size() - 1);
  auto description =
      fmt::format("{}run:{} in {}", part == RunPart::tarballs ? "tarballs of " : "", name, store->describe());
  return source_of_root(std::move(store), {run.prefix(), std::move(description), part});
}

Result<void> look_up(std::vector<SourceItem>& items, unsigned at_once) {
  return parallel_for(items.size(), std::max(at_once, 1u), [&](std::size_t i) -> Result<void> {
    auto look = std::exchange(items[i].look, nullptr);
    auto looked = look && !items[i].defect ? look(items[i]) : Result<void>();
    if (looked) return {};
    if (looked.error().kind == ErrorKind::cancelled) return looked;
    items[i].absent = looked.error().is(codes::archive_announced);
    items[i].defect = std::move(looked).error();
    return {};
  });
}

} // namespace quarry::artifact
