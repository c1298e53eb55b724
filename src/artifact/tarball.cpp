#include "artifact/tarball.hpp"

#include "artifact/checksum.hpp"
#include "artifact/manifest.hpp"
#include "codec/gzip_writer.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "tar/tar.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::artifact {

namespace {

struct Entry {
  TreeFile file;
  const Name* artifact = nullptr;
};
using Merged = std::map<std::string, Entry>; // by path

Result<std::vector<TreeFile>> read_tree(const Catalogue& catalogue, const TreeReader& reader, const Name& name) {
  auto named = [&](const auto& each) { return each.name == name; };
  auto exploded = std::find_if(catalogue.artifacts.begin(), catalogue.artifacts.end(), named);
  if (exploded != catalogue.artifacts.end()) return reader.read(*exploded);
  return reader.read(*std::find_if(catalogue.archives.begin(), catalogue.archives.end(), named));
}

Result<void> add(Merged& merged, TreeFile file, const Name& name) {
  auto path = file.path;
  bool directory = file.type == sys::EntryType::directory;
  auto [it, fresh] = merged.try_emplace(path, Entry{std::move(file), &name});
  const auto& there = it->second;
  if (fresh || (directory && there.file.type == sys::EntryType::directory)) return {};
  return fail(ErrorKind::corrupt, "A015",
              fmt::format("{} is brought by {} and by {}", path, there.artifact->text(), name.text()),
              "move one of the two artifacts out of the directory");
}

Result<Merged> merge(const Catalogue& catalogue, const std::vector<Name>& names, const TarballOptions& options) {
  TreeReader reader(options.trees);
  std::vector<std::vector<TreeFile>> trees(names.size());
  TRY_DO(parallel_for(names.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY(trees[i], read_tree(catalogue, reader, names[i]), "while reading " + names[i].text());
    return {};
  }));
  Merged merged;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (auto& file : trees[i]) TRY_DO(add(merged, std::move(file), names[i]));
  return merged;
}

Result<void> write_members(tar::Writer& tar, const Merged& merged, Tarball& tarball) {
  for (const auto& [path, entry] : merged) {
    const auto& file = entry.file;
    if (file.type == sys::EntryType::directory) {
      TRY_DO(tar.directory(path));
      continue;
    }
    ++tarball.files;
    if (file.type == sys::EntryType::symlink) {
      TRY_DO(tar.symlink(path, file.link));
      continue;
    }
    tarball.bytes += file.size;
    TRY_DO(tar.file(path, file.data, file.executable), "while packing " + file.place);
  }
  return tar.finish();
}

} // namespace

Result<Tarball> write_tarball(const Catalogue& catalogue, const std::vector<Name>& names, const std::string& path,
                              const TarballOptions& options) {
  TRY(auto merged, merge(catalogue, names, options));
  Tarball tarball;
  tarball.path = path;
  Sha256Hasher hasher;
  TRY(auto file, sys::AtomicFile::create(path));
  auto compressor = codec::gzip_writer({options.workers, {}}, [&](std::span<const std::byte> bytes) -> Result<void> {
    hasher.update(bytes);
    TRY_DO(file.file().write_at(tarball.size, bytes), "while writing " + path);
    tarball.size += bytes.size();
    return {};
  });
  tar::Writer tar([&](std::span<const std::byte> bytes) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    if (options.on_bytes) options.on_bytes(bytes.size());
    return compressor->write(bytes);
  });
  TRY_DO(write_members(tar, merged, tarball));
  TRY_DO(compressor->finish());
  tarball.digest = hasher.finish();
  auto sidecar = path + std::string(k_checksum_suffix);
  TRY_DO(sys::remove_file(sidecar));
  TRY_DO(file.commit_replace());
  TRY_DO(sys::write_file(sidecar, checksum_line(tarball.digest, std::string(path::basename(path)))));
  return tarball;
}

} // namespace quarry::artifact
