#include "wheel/renew.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/opened.hpp"
#include "wheel/writing.hpp"
#include "zip/writer.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::wheel {

namespace {

constexpr std::uint64_t k_module_bytes_max = 4u << 20; // `_dist_info.py` of the SDK has 10 KB

/// One file of the new wheel.
struct RenewedMember {
  const zip::Member* old = nullptr; ///< null: RECORD
  std::string name;
  std::optional<std::string> text = {}; ///< in place of the old content
};

struct Renewal {
  std::string file_name, dist_info;
  std::vector<RenewedMember> members; ///< RECORD is the last
};

std::string renewed_file_name(const dist::WheelName& name, const std::string& version) {
  return fmt::format("{}-{}{}-{}-{}-{}.whl", name.raw_name, version, name.raw_build.empty() ? "" : "-" + name.raw_build,
                     name.tags.python, name.tags.abi, name.tags.platform);
}

/// "x-7.2.0rc1.dist-info" with another version.
std::string renewed_dist_info(const std::string& dist_info, const std::string& version) {
  auto stem = dist_info.substr(0, dist_info.size() - k_dist_info_suffix.size());
  return fmt::format("{}-{}{}", stem.substr(0, stem.rfind('-')), version, k_dist_info_suffix);
}

Result<std::optional<std::string>> new_text(const Opened& wheel, const zip::Member& member,
                                            const dist::VersionChange& change) {
  bool metadata = member.name == wheel.dist_info + "/METADATA";
  if (!metadata && (!dist::names_version(path::basename(member.name)) || member.size > k_module_bytes_max))
    return std::optional<std::string>();
  TRY(auto before, wheel.zip.read_all(member, dist::k_metadata_bytes_max));
  auto after = metadata ? dist::changed_metadata(before, change) : dist::changed_literals(before, change);
  return after == before ? std::nullopt : std::optional(std::move(after));
}

/// RECORD for these members; the rows of those that stay are the old ones.
Result<std::string> record_after(const Opened& wheel, const Renewal& renewal, const std::string& path) {
  std::vector<const zip::Member*> kept;
  for (const auto& member : renewal.members)
    if (!member.text) kept.push_back(member.old);
  TRY(auto rows, kept_rows(wheel, kept, path));
  std::vector<dist::RecordRow> all;
  auto next = rows.begin();
  for (const auto& member : renewal.members) {
    if (member.text) {
      auto digest = sha256(*member.text);
      all.push_back({member.name, digest, "sha256", digest.base64url(), member.text->size()});
    } else {
      all.push_back(std::move(*next++));
      all.back().path = member.name;
    }
  }
  all.push_back({renewal.dist_info + "/RECORD", std::nullopt, "", "", std::nullopt});
  return dist::render_record(all);
}

Result<Renewal> plan_renewal(const Opened& wheel, const dist::VersionChange& change, const std::string& path) {
  auto version = change.of(wheel.name.raw_version);
  if (!version)
    return fail(ErrorKind::invalid_argument, "W030",
                fmt::format("the version of {} does not name {}", path, change.candidate().str()),
                "its file name would stay, and a published name never gets other bytes");
  Renewal renewal{renewed_file_name(wheel.name, *version), renewed_dist_info(wheel.dist_info, *version), {}};
  auto old_data = data_directory(wheel.dist_info), new_data = data_directory(renewal.dist_info);
  for (const auto& member : wheel.zip.members()) {
    if (member.is_directory) continue;
    auto top = top_directory(member.name);
    auto rest = member.name.substr(top.size());
    bool info = top == wheel.dist_info;
    if (info && (rest == "/RECORD" || rest == "/RECORD.jws" || rest == "/RECORD.p7s")) continue;
    RenewedMember made{&member, info ? renewal.dist_info + rest : top == old_data ? new_data + rest : member.name};
    TRY(made.text, new_text(wheel, member, change), "while reading " + path);
    renewal.members.push_back(std::move(made));
  }
  TRY(auto record, record_after(wheel, renewal, path));
  renewal.members.push_back({nullptr, renewal.dist_info + "/RECORD", std::move(record)});
  return renewal;
}

/// The rules for wheels, on the texts of dist-info.
Result<void> check_renewal(const Opened& wheel, const Renewal& renewal) {
  Draft draft{renewal.file_name, renewal.dist_info, {}};
  for (const auto& member : renewal.members) {
    if (!member.old) continue;
    content::Rope data;
    if (member.text) data = content::Rope::literal(*member.text);
    for (const auto* file : {"WHEEL", "entry_points.txt"})
      if (!member.text && member.name == fmt::format("{}/{}", renewal.dist_info, file)) {
        TRY(auto text, wheel.zip.read_all(*member.old, dist::k_metadata_bytes_max));
        data = content::Rope::literal(std::move(text));
      }
    draft.members.push_back({member.name, std::move(data), member.old->executable()});
  }
  return check_draft(draft);
}

Unexpected not_renewed(const DerivedWheel& wheel, const std::string& why) {
  return fail(ErrorKind::corrupt, "W031",
              fmt::format("{} is not what `release finalize` makes of {}: {}", wheel.made.file_name,
                          wheel.original.file_name, why),
              "make the release again from the candidate, and publish that");
}

Result<bool> same_content(const Opened& derived, const zip::Member& there, const Opened& original,
                          const RenewedMember& wanted) {
  if (wanted.old && there.executable() != wanted.old->executable()) return false;
  if (wanted.text) {
    if (there.size != wanted.text->size()) return false;
    TRY(auto text, derived.zip.read_all(there, wanted.text->size()));
    return text == *wanted.text;
  }
  const auto& old = *wanted.old;
  if (there.size != old.size || there.crc != old.crc || there.method != old.method ||
      there.stored_size != old.stored_size)
    return false;
  return same_bytes(derived.zip.archive().slice(there.data_offset, there.stored_size),
                    original.zip.archive().slice(old.data_offset, old.stored_size));
}

} // namespace

Result<Renewed> renew(const NamedWheel& wheel, const dist::VersionChange& change, const std::string& output_dir,
                      const std::function<void(std::uint64_t)>& on_progress) {
  TRY(auto opened, open_wheel(wheel.bytes, wheel.file_name));
  TRY(auto renewal, plan_renewal(opened, change, wheel.file_name));
  TRY_DO(check_renewal(opened, renewal));
  Renewed made{renewal.file_name, path::join(output_dir, renewal.file_name), 0, {}};
  zip::Options options;
  options.on_progress = on_progress;
  zip::Rewriting rewriting{opened.zip, {}, {}};
  for (auto& member : renewal.members) {
    if (member.text) {
      made.changed.push_back(member.name);
      bool executable = member.old && member.old->executable();
      rewriting.parts.push_back({nullptr, {member.name, content::Rope::literal(std::move(*member.text)), executable}});
    } else {
      rewriting.parts.push_back({member.old, {member.name, {}, false}});
    }
  }
  TRY_DO(sys::make_directories(output_dir));
  TRY(auto file, sys::AtomicFile::create(made.path));
  TRY(auto report, zip::rewrite(rewriting, options, file.file()), "while writing " + made.path);
  TRY_DO(file.commit_replace());
  made.size = report.size;
  return made;
}

Result<void> prove_renewed(const DerivedWheel& wheel, const dist::VersionChange& change) {
  const auto& [derived, original] = wheel;
  TRY(auto before, open_wheel(original.bytes, original.file_name));
  TRY(auto renewal, plan_renewal(before, change, original.file_name));
  if (derived.file_name != renewal.file_name)
    return not_renewed(wheel, fmt::format("it would be called {}", renewal.file_name));
  TRY(auto now, open_wheel(derived.bytes, derived.file_name));
  const auto& members = now.zip.members();
  for (std::size_t i = 0; i < std::max(members.size(), renewal.members.size()); ++i) {
    if (i >= renewal.members.size()) return not_renewed(wheel, members[i].name + " is too many");
    const auto& wanted = renewal.members[i];
    if (i >= members.size() || members[i].name != wanted.name)
      return not_renewed(wheel, wanted.name + " is not at its place");
    TRY(bool same, same_content(now, members[i], before, wanted), "while comparing " + wanted.name);
    if (!same) return not_renewed(wheel, wanted.name + " differs");
  }
  return {};
}

} // namespace quarry::wheel
