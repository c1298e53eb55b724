#include "wheel/rewriting.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/writing.hpp"
#include <fmt/core.h>

namespace quarry::wheel {

namespace {
dist::RecordRow row_of(const std::string& path, std::string_view text) {
  auto digest = sha256(text);
  return {path, digest, "sha256", digest.base64url(), text.size()};
}
} // namespace

Result<RewrittenFiles> files_after(const Opened& wheel, const std::vector<NewFile>& files, const std::string& path) {
  auto below = [&](std::string_view file) { return fmt::format("{}/{}", wheel.dist_info, file); };
  std::set<std::string> replaced{below("RECORD"), below("RECORD.jws"), below("RECORD.p7s")};
  for (const auto& file : files) replaced.insert(file.first);
  RewrittenFiles after;
  for (const auto& member : wheel.zip.members())
    if (!member.is_directory && !replaced.contains(member.name)) after.kept.push_back(&member);
  TRY(auto rows, kept_rows(wheel, after.kept, path));
  for (const auto& [name, text] : files) {
    rows.push_back(row_of(name, text));
    after.added.push_back({name, content::Rope::literal(text), false});
  }
  rows.push_back({below("RECORD"), std::nullopt, "", "", std::nullopt});
  after.added.push_back({below("RECORD"), content::Rope::literal(dist::render_record(rows)), false});
  return after;
}

Result<void> check_files_after(const Opened& wheel, const RewrittenFiles& files, const std::string& file_name) {
  Draft draft{file_name, wheel.dist_info, {}};
  for (const auto* member : files.kept) {
    content::Rope data;
    auto is = [&](std::string_view file) { return member->name == fmt::format("{}/{}", wheel.dist_info, file); };
    if (is("METADATA") || is("entry_points.txt") || is("WHEEL")) {
      TRY(auto text, wheel.zip.read_all(*member, dist::k_metadata_bytes_max));
      data = content::Rope::literal(std::move(text));
    }
    draft.members.push_back({member->name, std::move(data), member->executable()});
  }
  for (std::size_t i = 0; i + 1 < files.added.size(); ++i) // all but RECORD
    draft.members.push_back({files.added[i].name, files.added[i].data, false});
  return check_draft(draft);
}

Result<Rewritten> write_files_after(const Opened& wheel, RewrittenFiles files, const Rewritten& target,
                                    const std::function<void(std::uint64_t)>& on_progress) {
  TRY_DO(sys::make_directories(std::string(path::dirname(target.path))));
  auto rewritten = target;
  TRY(auto file, sys::AtomicFile::create(rewritten.path));
  zip::Options options;
  options.on_progress = on_progress;
  zip::Rewriting rewriting{wheel.zip, {}, {}};
  for (const auto* member : files.kept) rewriting.parts.push_back({member, {}});
  for (auto& entry : files.added) rewriting.parts.push_back({nullptr, std::move(entry)});
  TRY(auto report, zip::rewrite(rewriting, options, file.file()), "while writing " + rewritten.path);
  TRY_DO(file.commit_replace());
  rewritten.size = report.size;
  return rewritten;
}

} // namespace quarry::wheel
