#include "wheel/writing.hpp"

#include "sys/beneath.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include "wheel/partial_directory.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <mutex>

namespace quarry::wheel {

namespace {

// Which encoder made the bytes: who rebuilds the wheel needs the same.
std::string generator(codec::Profile profile) {
  switch (profile) {
  case codec::Profile::release: return "quarry (libdeflate-5-6, isal-2 6 Ki, 1 MiB)";
  case codec::Profile::ci: return "quarry (isal-2 6 Ki, libdeflate-2, 1 MiB)";
  case codec::Profile::stored: return "quarry (stored)";
  }
  return "quarry";
}

std::string wheel_text(const WheelSpec& spec, codec::Profile profile) {
  dist::WheelInfo info;
  info.generator = generator(profile);
  info.root_is_purelib = spec.root_is_purelib;
  info.tags = spec.tags.expanded();
  info.build = spec.build;
  return info.render();
}

// pack() makes these itself; RECORD.jws and RECORD.p7s are withdrawn (PEP 815).
constexpr std::array<std::string_view, 6> k_made{"METADATA",         "WHEEL",      "RECORD",
                                                 "entry_points.txt", "RECORD.jws", "RECORD.p7s"};

} // namespace

Result<std::string> file_name_of(const WheelSpec& spec) {
  TRY(auto project, dist::ProjectName::parse(spec.metadata.name));
  TRY(auto version, dist::Version::parse(spec.metadata.version));
  return dist::wheel_file_name(project, version, spec.build, spec.tags);
}

Result<Built> pack(const WheelSpec& spec, const std::string& output_dir, const PackOptions& options) {
  TRY(auto packed, begin_pack(spec, output_dir, options));
  return std::move(packed).finish();
}

namespace {

Result<Draft> draft_of(const WheelSpec& spec, codec::Profile profile) {
  TRY(auto project, dist::ProjectName::parse(spec.metadata.name));
  TRY(auto version, dist::Version::parse(spec.metadata.version));
  Draft draft;
  TRY(draft.file_name, file_name_of(spec));
  draft.dist_info = fmt::format("{}-{}.dist-info", project.file_form(), version.str());
  for (const auto& m : spec.members) {
    if (m.path.starts_with(draft.dist_info + "/"))
      return fail(ErrorKind::invalid_argument, "W011",
                  fmt::format("{} belongs to dist-info, which is given apart", m.path),
                  "pass it in WheelSpec::dist_info");
    draft.members.push_back(m);
  }
  auto add = [&](std::string_view name, const content::Rope& data) {
    draft.members.push_back({fmt::format("{}/{}", draft.dist_info, name), data, false});
  };
  for (const auto& m : spec.dist_info) {
    if (std::find(k_made.begin(), k_made.end(), m.path) != k_made.end())
      return fail(ErrorKind::invalid_argument, "W011", fmt::format("{} is made by packing and cannot be given", m.path),
                  "leave it out");
    add(m.path, m.data);
  }
  add("METADATA", content::Rope::literal(spec.metadata.render()));
  add("WHEEL", content::Rope::literal(wheel_text(spec, profile)));
  if (!spec.entry_points.empty())
    add("entry_points.txt", content::Rope::literal(dist::render_entry_points(spec.entry_points)));
  return draft;
}

} // namespace

Result<Packed> begin_pack(const WheelSpec& spec, const std::string& output_dir, const PackOptions& options) {
  TRY(auto draft, draft_of(spec, options.profile));
  return write_draft(std::move(draft), output_dir, options);
}

Result<void> write_tree(const WheelSpec& spec, const std::string& directory, const PackOptions& options) {
  TRY(auto draft, draft_of(spec, options.profile));
  TRY_DO(check_draft(draft));
  TRY(auto partial, PartialDirectory::create(directory));
  TRY(auto beneath, sys::Beneath::open(partial.path()));
  std::uint64_t done = 0;
  std::mutex mutex;
  TRY_DO(parallel_for(draft.members.size(), std::max(1u, options.workers), [&](std::size_t i) -> Result<void> {
    const auto& member = draft.members[i];
    TRY(auto file, beneath.create_file(member.path, member.executable ? 0755 : 0644));
    std::uint64_t at = 0;
    return content::pump(member.data, [&](std::span<const std::byte> bytes) -> Result<void> {
      TRY_DO(sys::check_interrupted());
      TRY_DO(file.write_at(at, bytes));
      at += bytes.size();
      std::lock_guard lock(mutex);
      if (options.on_progress) options.on_progress(done += bytes.size());
      return {};
    });
  }));
  return partial.commit();
}

} // namespace quarry::wheel
