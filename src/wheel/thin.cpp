#include "wheel/thin.hpp"

#include "base/text.hpp"
#include "names/entry_names.hpp"
#include "sys/copy.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/open_file.hpp"
#include "wheel/thin_look.hpp"
#include "zip/read_back.hpp"
#include "zip/writer.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::wheel {

namespace {

/// What becomes of the members: for each, its look. RECORD and its signatures are made anew or left out.
struct ThinPlan {
  const Opened& wheel;
  std::vector<MemberLook> looks;
  std::vector<dist::RecordRow> record;
};

bool is_record(const Opened& wheel, const std::string& name) {
  return name == wheel.dist_info + "/RECORD" || name == wheel.dist_info + "/RECORD.jws" ||
         name == wheel.dist_info + "/RECORD.p7s";
}

Result<void> require_other_directory(const std::string& path, const std::string& output_dir) {
  TRY(auto real_output, sys::real_path(output_dir));
  TRY(auto real_directory, sys::real_path(path::dirname(path)));
  TRY(auto real_source, sys::real_path(path));
  auto target = path::join(real_output, path::basename(path));
  auto real_target = sys::real_path(target);
  if (real_output != real_directory && !(real_target && *real_target == real_source)) return {};
  return fail(ErrorKind::invalid_argument, "W025",
              fmt::format("{} would be replaced by its thinned wheel, which has the same name", path),
              "name another directory: --output-dir thin");
}

// What was found

/// Fails if the wheel has code, and none for any device. `missing` gets the devices that no code serves.
Result<void> check_served(const ThinPlan& plan, const std::string& path, const ThinOptions& options,
                          std::vector<std::string>& missing) {
  auto processors = processors_of(plan.looks);
  if (processors.empty()) return {};
  missing = unserved(options.devices, processors);
  if (missing.size() < options.devices.size()) return {};
  constexpr std::size_t k_named = 8;
  return fail(Error::of(ErrorKind::not_found, "G114",
                        fmt::format("{} has no code for {}", path, text::first(options.devices, k_named)))
                  .with_detail("it has code for " +
                               text::first(std::vector<std::string>(processors.begin(), processors.end()), k_named))
                  .with_hint("`quarry gpu list` shows what it holds"));
}

void sum_up(const ThinPlan& plan, ThinReport& report) {
  const auto& members = plan.wheel.zip.members();
  CodeByTarget all;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& look = plan.looks[i];
    report.original_installed_size += members[i].size;
    add_code(all, look.code);
    if (look.dropped) {
      report.dropped.push_back(members[i].name);
      report.dropped_bytes += members[i].size;
    } else if (look.thinned) {
      report.changed.push_back(members[i].name);
      report.installed_size += look.thinned->size();
    } else {
      report.installed_size += members[i].size;
    }
    for (const auto& sentence : look.left)
      report.findings.push_back({"G115", Severity::warning,
                                 fmt::format("{}!{}", report.file_name, names::printable(members[i].name)), sentence,
                                 "build it for the targets that are needed alone"});
  }
  for (auto& [target, code] : all) report.targets.push_back(std::move(code));
}

// Writing

std::string new_record(const ThinPlan& plan, std::span<const zip::Written> written) {
  std::map<std::string_view, const dist::RecordRow*> old;
  for (const auto& row : plan.record) old.emplace(row.path, &row);
  std::vector<dist::RecordRow> rows;
  for (const auto& entry : written) {
    bool copied = entry.sha256 == Sha256();
    rows.push_back(copied ? *old.at(entry.name)
                          : dist::RecordRow{entry.name, entry.sha256, "sha256", entry.sha256.base64url(), entry.size});
  }
  rows.push_back({plan.wheel.dist_info + "/RECORD", std::nullopt, "", "", std::nullopt});
  return dist::render_record(rows);
}

Result<zip::Report> write_thinned(const ThinPlan& plan, const ThinOptions& options, const sys::File& into) {
  zip::Rewriting rewriting{plan.wheel.zip, {}, {}};
  std::uint64_t total = 0;
  const auto& members = plan.wheel.zip.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [member, look] = std::pair<const zip::Member&, const MemberLook&>(members[i], plan.looks[i]);
    if (member.is_directory || look.dropped || is_record(plan.wheel, member.name)) continue;
    total += look.thinned ? member.size : member.stored_size;
    if (look.thinned)
      rewriting.parts.push_back({nullptr, {member.name, *look.thinned, member.executable(), look.old_stream}});
    else
      rewriting.parts.push_back({&member, {}});
  }
  rewriting.tail = [&](std::span<const zip::Written> written) -> Result<std::vector<zip::Entry>> {
    return std::vector<zip::Entry>{
        {plan.wheel.dist_info + "/RECORD", content::Rope::literal(new_record(plan, written)), false}};
  };
  zip::Options how{options.profile, options.workers, {}};
  if (options.on_progress)
    how.on_progress = [&](std::uint64_t done) { options.on_progress("packing", std::min(done, total), total); };
  return zip::rewrite(rewriting, how, into);
}

// Reading back

Unexpected reads_otherwise(const std::string& what) {
  return fail(ErrorKind::corrupt, "W014",
              fmt::format("the thinned wheel does not read back as it was written: {}", names::printable(what)),
              "the disk or the memory may be failing: look at the system log, then run the command again");
}

Result<bool> is_copy(const zip::Reader& a, const zip::Member& left, const zip::Reader& b, const zip::Member& right) {
  if (left.size != right.size || left.crc != right.crc || left.method != right.method ||
      left.stored_size != right.stored_size || left.executable() != right.executable())
    return false;
  return same_bytes(a.archive().slice(left.data_offset, left.stored_size),
                    b.archive().slice(right.data_offset, right.stored_size));
}

/// How the new entries were packed, and how many threads read them back.
struct WrittenAs {
  std::span<const zip::Written> entries;
  unsigned workers = 1;
};

/// The archive holds what is kept and what was proven, and nothing else.
Result<void> read_back_thinned(const ThinPlan& plan, const WrittenAs& written, const content::Rope& archive,
                               const std::string& file_name) {
  std::map<std::string_view, const zip::Written*> entries;
  for (const auto& entry : written.entries) entries.emplace(entry.name, &entry);
  Findings findings;
  auto zip = zip::Reader::open(archive, file_name, findings);
  if (!zip || !findings.empty()) return reads_otherwise(findings.empty() ? file_name : findings.front().message);
  std::size_t expected = 1; // RECORD
  const auto& members = plan.wheel.zip.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& look = plan.looks[i];
    if (members[i].is_directory || look.dropped || is_record(plan.wheel, members[i].name)) continue;
    ++expected;
    const auto* found = zip->find(members[i].name);
    if (!found) return reads_otherwise(members[i].name);
    auto reads_as_packed = [&] {
      const auto& entry = *entries.at(members[i].name);
      return zip::inflates_to(*zip, *found,
                              {*look.thinned, entry.pieces, written.workers, entry.taken, look.old_stream.get()});
    };
    TRY(bool same, look.thinned ? reads_as_packed() : is_copy(plan.wheel.zip, members[i], *zip, *found));
    if (!same || found->executable() != members[i].executable()) return reads_otherwise(members[i].name);
  }
  if (zip->members().size() != expected) return reads_otherwise("it has other files");
  for (const auto& member : zip->members()) {
    if (member.name != plan.wheel.dist_info + "/RECORD") continue;
    TRY_DO(zip->read_all(member, dist::k_record_bytes_max));
    return {};
  }
  return reads_otherwise("RECORD is missing");
}

Result<void> copy_wheel(const std::string& path, ThinReport& report, sys::AtomicFile& file) {
  TRY(auto source, sys::File::open_read(path));
  TRY(report.size, sys::copy_content(source, file.file()));
  if (report.size != report.original_size) return reads_otherwise("its copy is shorter");
  return {};
}

/// The rows of the members that stay as they are must exist: kept_rows() says so before anything is written.
Result<void> check_rows(const ThinPlan& plan, const std::string& path) {
  std::vector<const zip::Member*> kept;
  const auto& members = plan.wheel.zip.members();
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!members[i].is_directory && !plan.looks[i].dropped && !is_record(plan.wheel, members[i].name))
      kept.push_back(&members[i]);
  TRY(auto rows, kept_rows(plan.wheel, kept, path));
  return rows.size() == kept.size() ? Result<void>{}
                                    : Result<void>(not_sound(path, {"RECORD does not list all files"}));
}

} // namespace

Result<ThinReport> thin(const std::string& path, const ThinOptions& options, const std::string& output_dir) {
  TRY(auto wheel, open_wheel(path));
  TRY(auto record_text, text_of(wheel, "RECORD", dist::k_record_bytes_max));
  ThinPlan plan{wheel, {}, {}};
  TRY(plan.record, dist::parse_record(record_text), "while reading " + path);
  TRY_DO(sys::make_directories(output_dir));
  TRY_DO(require_other_directory(path, output_dir));
  TRY(plan.looks, look_at_members(wheel, plan.record, options), "while reading " + path);
  ThinReport report;
  report.file_name = std::string(path::basename(path));
  report.path = path::join(output_dir, report.file_name);
  report.original_size = wheel.zip.archive().size();
  TRY_DO(check_served(plan, path, options, report.missing));
  sum_up(plan, report);
  report.copied = report.changed.empty() && report.dropped.empty();
  TRY_DO(check_rows(plan, path));
  TRY(auto file, sys::AtomicFile::create(report.path));
  zip::Report written;
  if (report.copied) {
    TRY_DO(copy_wheel(path, report, file), "while writing " + report.path);
  } else {
    TRY(written, write_thinned(plan, options, file.file()), "while writing " + report.path);
    report.size = written.size;
  }
  auto archive = content::Rope::of(std::make_shared<OpenFile>(file.file(), report.size));
  if (!report.copied) {
    TRY_DO(read_back_thinned(plan, {written.entries, options.workers}, archive, report.file_name),
           "while writing " + report.path);
  }
  TRY(report.sha256, content::sha256_of(archive));
  TRY_DO(file.commit_replace());
  return report;
}

} // namespace quarry::wheel
