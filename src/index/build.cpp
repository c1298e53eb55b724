#include "index/build.hpp"

#include "content/rope.hpp"
#include "dist/name.hpp"
#include "index/describe.hpp"
#include "index/read_page.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>

namespace quarry::index {

namespace {

bool looks_like_distribution(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".whl") || name.ends_with(".tar.gz") || name.ends_with(".zip"));
}

/// Names of the distributions in `directory`, sorted. A link to a file counts as the file: wheelhouses are often link
/// farms.
Result<std::vector<std::string>> distribution_names(const std::string& directory) {
  TRY(auto entries, sys::list_directory(directory));
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    bool linked = entry.type == sys::EntryType::symlink && !sys::is_directory(path::join(directory, entry.path));
    if ((entry.type == sys::EntryType::file || linked) && looks_like_distribution(entry.path))
      names.push_back(entry.path);
  }
  return names;
}

/// What makes two files the same for an installer, whatever the spelling of their names.
std::string identity_of(const std::string& file_name, const dist::DistributionName& name) {
  std::string identity = name.project.str() + " " + name.version.key();
  if (name.kind == dist::DistributionKind::sdist) return identity + (file_name.ends_with(".zip") ? " zip" : " tar");
  auto wheel = dist::WheelName::parse(file_name).value();
  auto tags = wheel.tags.expanded();
  std::sort(tags.begin(), tags.end());
  for (const auto& tag : tags) identity += " " + tag;
  return identity + " " + wheel.raw_build;
}

Result<void> check_distinct(const std::vector<std::string>& names) {
  std::map<std::string, std::string> seen;
  for (const auto& file : names) {
    TRY(auto name, dist::DistributionName::parse(file));
    auto [it, fresh] = seen.emplace(identity_of(file, name), file);
    if (!fresh)
      return fail(ErrorKind::already_exists, "I003",
                  fmt::format("{} and {} are the same distribution under two names", it->second, file),
                  "keep the one with the normalised name");
  }
  return {};
}

/// Upload times and yanks that an index of ours at `output` has, by file name; kept where the bytes are the same.
std::map<std::string, PageFile> earlier_files(const std::string& output,
                                              const std::vector<registry::FileRecord>& files) {
  std::map<std::string, PageFile> earlier;
  std::string before;
  for (const auto& file : files) {
    if (file.project == before) continue;
    before = file.project;
    auto text =
        sys::read_file(path::join(output, "simple-json/" + file.project + "/index.html"), k_json_page_bytes_max);
    if (!text) continue;
    auto page = read_json_page({*text, file.project});
    if (!page) continue;
    for (auto& known : page->files) earlier[known.filename] = std::move(known);
  }
  return earlier;
}

void keep_history(const std::string& output, std::vector<registry::FileRecord>& files, const std::string& now) {
  auto earlier = earlier_files(output, files);
  for (auto& file : files) {
    auto it = earlier.find(file.filename);
    bool same = it != earlier.end() && it->second.sha256() == file.sha256;
    file.upload_time = same && !it->second.upload_time.empty() ? it->second.upload_time : now;
    if (same && it->second.yanked) file.yanked = it->second.yank_reason.empty() ? "yanked" : it->second.yank_reason;
  }
}

Result<std::vector<Described>> describe_all(const std::string& directory, const std::vector<std::string>& names,
                                            const BuildOptions& options) {
  std::vector<Described> all(names.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  // Many files: one thread each. Few: several threads inside each, or the largest would be waited for alone.
  auto outer = static_cast<unsigned>(std::min<std::size_t>(options.workers, names.size()));
  unsigned inner = std::max(1u, options.workers / std::max(1u, outer));
  TRY_DO(parallel_for(names.size(), outer, [&](std::size_t i) -> Result<void> {
    TRY(all[i], describe(path::join(directory, names[i]), inner));
    std::lock_guard lock(mutex);
    done += all[i].file.size;
    if (options.on_progress) options.on_progress(done);
    return {};
  }));
  return all;
}

/// Pages of projects that are no longer here: only where the HTML page carries our mark, and with it its JSON twin.
std::vector<std::string> stale_pages(const std::string& output, const std::vector<registry::FileRecord>& files) {
  std::vector<std::string> stale;
  std::set<std::string> listed;
  for (const auto& file : files) listed.insert(file.project);
  auto entries = sys::list_directory(path::join(output, "simple"));
  if (!entries) return stale;
  for (const auto& entry : *entries) {
    if (listed.contains(entry.path) || entry.type != sys::EntryType::directory) continue;
    auto html = "simple/" + entry.path + "/index.html";
    auto text = sys::read_file(path::join(output, html), k_page_bytes_max);
    if (!text || text->find(k_generator_mark) == std::string::npos) continue;
    auto json = "simple-json/" + entry.path + "/index.html";
    if (sys::exists(path::join(output, json))) stale.push_back(json);
    stale.push_back(html); // last: it carries the mark that a second run looks for
  }
  return stale;
}

struct Source {
  std::string directory; // absolute
  std::vector<std::string> names;
};

Result<Source> find_source(const std::string& given) {
  TRY(auto directory, sys::absolute(given));
  if (!sys::is_directory(directory))
    return fail(ErrorKind::not_found, "I001",
                fmt::format("{} {}", given, sys::exists(given) ? "is a file, not a directory" : "does not exist"));
  TRY(auto names, distribution_names(directory));
  if (names.empty() && sys::is_directory(path::join(directory, "dist"))) {
    directory = path::join(directory, "dist");
    TRY(names, distribution_names(directory));
  }
  if (names.empty())
    return fail(ErrorKind::not_found, "I001", fmt::format("{} holds no wheel and no source distribution", given),
                "give the directory that the files are in");
  return Source{std::move(directory), std::move(names)};
}

/// Where the files are below `output`: in place when `output` holds their directory, else in dist/.
std::string place_below(const std::string& output, const std::string& directory) {
  if (directory == output) return "";
  if (directory.starts_with(output + "/")) return directory.substr(output.size() + 1);
  return "dist";
}

Result<std::string> output_of(const BuildOptions& options) {
  TRY(auto output, sys::absolute(options.output.empty() ? options.directory : options.output));
  return output;
}

Result<bool> write_if_changed(const std::string& path, std::string_view bytes) {
  auto existing = sys::read_file(path, bytes.size());
  if (existing && *existing == bytes) return false;
  TRY_DO(sys::make_directories(path::dirname(path)));
  TRY_DO(sys::write_file(path, bytes));
  return true;
}

Result<bool> is_same_file(const std::string& path, const registry::FileRecord& file) {
  auto rope = content::Rope::file(path);
  if (!rope) return false;
  if (rope->size() != file.size) return false;
  TRY(auto digest, content::sha256_of(*rope));
  return digest == file.sha256;
}

Result<void> copy_file(const std::string& from, const std::string& to, const registry::FileRecord& file) {
  TRY(auto rope, content::Rope::file(from));
  TRY(auto copy, sys::AtomicFile::create(to));
  Sha256Hasher hasher;
  TRY_DO(content::pump(rope, [&](std::span<const std::byte> bytes) -> Result<void> {
    hasher.update(bytes);
    return copy.file().write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }));
  if (hasher.finish() != file.sha256)
    return fail(ErrorKind::corrupt, "I005", fmt::format("{} changed while it was copied", from),
                "run the command again");
  return copy.commit_replace();
}

/// A hard link costs nothing; a copy where the file system has none, or where a link would point at a link.
Result<bool> place_file(const BuildPlan::Placed& placed, const registry::FileRecord& file) {
  if (placed.from == placed.to) return false;
  TRY(bool same, is_same_file(placed.to, file));
  if (same) return false;
  TRY_DO(sys::make_directories(path::dirname(placed.to)));
  TRY(auto source, sys::real_path(placed.from));
  auto partial = path::join(path::dirname(placed.to), "." + file.filename + ".partial");
  TRY_DO(sys::remove_file(partial));
  auto linked = sys::hard_link(source, partial);
  if (linked) {
    TRY_DO(sys::rename(partial, placed.to));
    return true;
  }
  if (linked.error().kind != ErrorKind::unsupported) return fail(std::move(linked).error());
  TRY_DO(copy_file(placed.from, placed.to, file));
  return true;
}

} // namespace

Result<BuildPlan> plan_build(const BuildOptions& options, const sys::Clock& clock) {
  TRY(auto source, find_source(options.directory));
  TRY_DO(check_distinct(source.names));
  TRY(auto described, describe_all(source.directory, source.names, options));
  BuildPlan plan;
  TRY(plan.output, output_of(options));
  auto below = place_below(plan.output, source.directory);
  for (auto& one : described) {
    one.file.key = path::join(below, one.file.filename);
    plan.placed.push_back({path::join(source.directory, one.file.filename), path::join(plan.output, one.file.key),
                           std::move(one.sidecar)});
    plan.files.push_back(std::move(one.file));
  }
  keep_history(plan.output, plan.files, sys::rfc3339(clock.now_us()));
  plan.pages = all_pages(plan.files, {.title = "Packages", .directory = ""});
  plan.stale = stale_pages(plan.output, plan.files);
  return plan;
}

Result<BuildResult> execute_build(const BuildPlan& plan) {
  BuildResult result;
  TRY_DO(sys::make_directories(plan.output));
  for (std::size_t i = 0; i < plan.placed.size(); ++i) {
    TRY(bool placed, place_file(plan.placed[i], plan.files[i]));
    result.files_placed += placed;
    if (plan.placed[i].sidecar.empty()) continue;
    TRY(bool written, write_if_changed(plan.placed[i].to + ".metadata", plan.placed[i].sidecar));
    result.sidecars_written += written;
  }
  for (const auto& page : plan.pages) {
    TRY(bool written, write_if_changed(path::join(plan.output, page.key), page.bytes));
    result.pages_written += written;
  }
  for (const auto& key : plan.stale) {
    TRY_DO(sys::remove_file(path::join(plan.output, key)));
    (void)sys::remove_empty_directory(
        path::join(plan.output, path::dirname(key))); // somebody else's files may be there
    ++result.pages_removed;
  }
  return result;
}

} // namespace quarry::index
