#include "venv/stage.hpp"

#include "content/rope.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::venv {

namespace {

constexpr unsigned k_downloads = 4; // each reads ahead by itself

/// A file of an unsealed source is hashed when it is brought here.
bool is_hashed(const Offered& offered) { return offered.file.sha256 != Sha256(); }

Result<void> download(store::ObjectReader& store, Offered& offered, const std::string& path) {
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
  auto found = hasher.finish();
  if (!is_hashed(offered)) offered.file.sha256 = found; // of a run without a seal: frozen as it is now
  if (found != offered.file.sha256)
    return fail(ErrorKind::corrupt, "V007",
                fmt::format("{} in {} is not the file that was sealed", offered.file.key, store.describe()),
                "`quarry set verify` lists all that differ; restore them from a copy");
  offered.path = path;
  return {};
}

} // namespace

Result<void> stage_files(Source& source, store::ObjectReader* store, const std::string& directory, unsigned workers,
                         VerifiedPaths& verified) {
  std::vector<Offered*> absent;
  for (auto* files : {&source.files, &source.dependencies})
    for (auto& offered : *files)
      if (offered.path.empty()) absent.push_back(&offered);
  if (absent.empty()) return {};
  if (!store)
    return fail(ErrorKind::unsupported, "V006", fmt::format("the files of {} are not on this machine", source.store),
                "name the store with --store");
  std::set<const Offered*> unproven; // their containers are verified before anything is installed
  for (const auto* offered : absent)
    if (!is_hashed(*offered)) unproven.insert(offered);
  TRY_DO(sys::make_directories(directory));
  TRY_DO(parallel_for(absent.size(), std::min(workers, k_downloads), [&](std::size_t i) {
    return download(*store, *absent[i], path::join(directory, absent[i]->file.filename));
  }));
  for (const auto* offered : absent)
    if (!unproven.contains(offered)) verified.insert(offered->path);
  return {};
}

} // namespace quarry::venv
