#include "sys/beneath.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include "wheel/partial_directory.hpp"
#include "wheel/wheel.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::wheel {

namespace {

// The bytes are digested again while they are written: the file may have changed since it was verified.
class Extraction {
public:
  Extraction(const zip::Reader& zip, const VerifyReport& report, const sys::Beneath& into) : zip_(zip), into_(into) {
    for (const auto& row : report.record)
      if (row.sha256) digests_.emplace(row.path, *row.sha256);
  }

  Result<void> member(const zip::Member& m) const {
    TRY_DO(sys::check_interrupted());
    if (m.is_directory) return into_.make_directories(m.name.substr(0, m.name.size() - 1));
    TRY(auto file, into_.create_file(m.name, m.executable() ? 0755 : 0644));
    Sha256Hasher hasher;
    std::uint64_t at = 0;
    TRY_DO(zip_.read(m, [&](std::span<const std::byte> chunk) -> Result<void> {
      hasher.update(chunk);
      TRY_DO(file.write_at(at, chunk));
      at += chunk.size();
      return {};
    }));
    auto known = digests_.find(m.name);
    if (known != digests_.end() && known->second != hasher.finish())
      return fail(ErrorKind::corrupt, "W014", fmt::format("{} changed while the wheel was unpacked", m.name),
                  "something else writes to the wheel: run the command again when it is done");
    return {};
  }

private:
  const zip::Reader& zip_;
  const sys::Beneath& into_;
  std::map<std::string, Sha256> digests_;
};

} // namespace

Result<std::string> unpack(const std::string& path, const std::string& output_dir, unsigned workers) {
  TRY(auto report, require_sound(path, workers));
  auto target = path::join(output_dir, fmt::format("{}-{}", report.name->raw_name, report.name->raw_version));
  TRY(auto directory, PartialDirectory::create(target));
  TRY(auto rope, content::Rope::file(path));
  Findings findings;
  auto zip = zip::Reader::open(rope, path, findings);
  if (!zip || has_errors(findings))
    return fail(ErrorKind::corrupt, "W014", fmt::format("{} changed while it was unpacked", path),
                "something else writes to the wheel: run the command again when it is done");
  TRY(auto beneath, sys::Beneath::open(directory.path()));
  Extraction extraction(*zip, report, beneath);
  const auto& members = zip->members();
  TRY_DO(
      parallel_for(members.size(), std::max(1u, workers), [&](std::size_t i) { return extraction.member(members[i]); }),
      "while unpacking " + path);
  TRY_DO(directory.commit());
  return target;
}

} // namespace quarry::wheel
