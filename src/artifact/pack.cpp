#include "artifact/pack.hpp"

#include "artifact/case_rule.hpp"
#include "artifact/checksum.hpp"
#include "artifact/exploded.hpp"
#include "artifact/manifest.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "tar/tar.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::artifact {

using codec::Compression;
using sys::EntryType;

namespace {
struct Job {
  const SourceItem* item = nullptr;
  ExplodedTree tree;
};

Result<void> add_entry(tar::Writer& tar, const SourceItem& item, const sys::TreeEntry& entry) {
  if (entry.type == EntryType::symlink) return tar.symlink(entry.path, entry.link);
  return tar.file(entry.path, content::Rope::file(path::join(item.directory, entry.path), entry.size),
                  entry.executable());
}

/// Directories need no member of their own, but for those that hold nothing.
Result<void> write_members(tar::Writer& tar, const Job& job) {
  const auto& entries = job.tree.entries;
  auto manifest = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.path == k_manifest_name; });
  if (manifest != entries.end())
    TRY_DO(add_entry(tar, *job.item, *manifest));
  else // a descriptor's choice, whose manifest stands on no disk
    TRY_DO(tar.file(std::string(k_manifest_name), content::Rope::literal(manifest_text(job.item->bases)), false));
  std::set<std::string_view> parents;
  for (const auto& entry : entries)
    if (auto slash = entry.path.rfind('/'); slash != entry.path.npos)
      parents.insert(std::string_view(entry.path).substr(0, slash));
  for (const auto& entry : entries) {
    if (entry.path == k_manifest_name) continue;
    if (entry.type != EntryType::directory)
      TRY_DO(add_entry(tar, *job.item, entry));
    else if (!parents.contains(entry.path) && base_of(job.item->bases, entry.path))
      TRY_DO(tar.directory(entry.path));
  }
  return tar.finish();
}

Result<Packed> write_archive(const Job& job, const std::string& path, sys::File& into, const PackOptions& options,
                             const codec::CodecOptions& codec) {
  Sha256Hasher hasher;
  std::uint64_t size = 0;
  auto compressor =
      codec::Compressor::create(options.compression, codec, [&](std::span<const std::byte> bytes) -> Result<void> {
        hasher.update(bytes);
        TRY_DO(into.write_at(size, bytes), "while writing " + path);
        size += bytes.size();
        return {};
      });
  tar::Writer tar(
      [&](std::span<const std::byte> bytes) -> Result<void> {
        TRY_DO(sys::check_interrupted());
        if (options.on_bytes) options.on_bytes(bytes.size());
        return compressor->write(bytes);
      },
      case_rule_of(*job.item));
  TRY_DO(write_members(tar, job));
  TRY_DO(compressor->finish());
  TRY_DO(tar.check_readable({.archive_bytes = size, .ratio = options.max_ratio}));
  return Packed{
      job.item->name,     std::string(path::basename(path)), size, job.tree.files, job.tree.bytes, hasher.finish(),
      job.tree.case_pairs};
}

/// The old checksum goes first: in between there is an archive without one, which nobody trusts, never one with a wrong
/// one.
Result<Packed> pack_one(const Job& job, const std::string& path, const PackOptions& options,
                        const codec::CodecOptions& codec) {
  auto sidecar = path + std::string(k_checksum_suffix);
  TRY(auto file, sys::AtomicFile::create(path));
  TRY(auto packed, write_archive(job, path, file.file(), options, codec), "while packing " + job.item->directory);
  TRY_DO(sys::remove_file(sidecar));
  TRY_DO(file.commit_replace());
  TRY_DO(sys::write_file(sidecar, checksum_line(packed.digest, packed.file)));
  return packed;
}

Result<std::vector<Job>> plan(const Source& source, const std::string& output_directory, Compression compression) {
  auto other = compression == Compression::zstd ? Compression::xz : Compression::zstd;
  std::vector<Job> jobs;
  for (const auto& item : source.items) {
    if (item.exploded) {
      TRY(auto tree, check_exploded(item));
      jobs.push_back({&item, std::move(tree)});
      auto twin = path::join(output_directory, item.name.text() + std::string(suffix_of(other)));
      if (sys::exists(twin))
        return fail(ErrorKind::already_exists, "A006", fmt::format("{} is the same artifact in another format", twin),
                    "remove it or choose another output directory");
    }
  }
  if (jobs.empty())
    return fail(ErrorKind::not_found, "A021", fmt::format("{} holds no exploded artifacts", source.description),
                "artifacts are directories called {name}_{component}_{target} with an artifact_manifest.txt");
  return jobs;
}
} // namespace

Result<std::vector<Packed>> pack(const Source& source, const std::string& output_directory,
                                 const PackOptions& options) {
  TRY(auto jobs, plan(source, output_directory, options.compression));
  TRY_DO(sys::make_directories(output_directory));
  // Largest first, so that no thread ends up alone with it; results keep the order of names.
  std::vector<std::size_t> order(jobs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return jobs[a].tree.bytes > jobs[b].tree.bytes; });
  codec::CodecOptions codec{options.jobs, codec::permits_for(options.jobs)};
  std::vector<Packed> packed(jobs.size());
  TRY_DO(parallel_for(jobs.size(), options.jobs, [&](std::size_t i) -> Result<void> {
    const auto& job = jobs[order[i]];
    auto path = path::join(output_directory, job.item->name.text() + std::string(suffix_of(options.compression)));
    TRY(packed[order[i]], pack_one(job, path, options, codec));
    return {};
  }));
  return packed;
}

} // namespace quarry::artifact
