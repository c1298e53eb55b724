#include "venv/stage.hpp"

#include "content/rope.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

constexpr unsigned k_downloads = 4; // each reads ahead by itself

Result<void> download(store::ObjectStore& store, Offered& offered, const std::string& path) {
  TRY(auto content, store.open(offered.file.key));
  TRY(auto file, sys::File::create_new(path));
  Sha256Hasher hasher;
  std::uint64_t written = 0;
  TRY_DO(content::pump(content, [&](std::span<const std::byte> bytes) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    hasher.update(bytes);
    TRY_DO(file.write_at(written, bytes));
    written += bytes.size();
    return {};
  }));
  if (auto found = hasher.finish(); found != offered.file.sha256)
    return fail(ErrorKind::corrupt, "V007",
                fmt::format("{} in {} is not the file that was sealed", offered.file.key, store.describe()),
                "`quarry set verify` lists all that differ; restore them from a copy");
  offered.path = path;
  return {};
}

} // namespace

Result<void> stage_files(Source& source, store::ObjectStore* store, const std::string& directory, unsigned workers,
                         VerifiedPaths& verified) {
  std::vector<Offered*> absent;
  for (auto* files : {&source.files, &source.dependencies})
    for (auto& offered : *files)
      if (offered.path.empty()) absent.push_back(&offered);
  if (absent.empty()) return {};
  if (!store)
    return fail(ErrorKind::unsupported, "V006", fmt::format("the files of {} are not on this machine", source.store),
                "name the store with --store");
  TRY_DO(sys::make_directories(directory));
  TRY_DO(parallel_for(absent.size(), std::min(workers, k_downloads), [&](std::size_t i) {
    return download(*store, *absent[i], path::join(directory, absent[i]->file.filename));
  }));
  for (const auto* offered : absent) verified.insert(offered->path);
  return {};
}

} // namespace quarry::venv
