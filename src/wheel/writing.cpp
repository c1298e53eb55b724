#include "wheel/writing.hpp"

#include "names/entry_names.hpp"
#include "sys/path.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/installed.hpp"
#include "wheel/open_file.hpp"
#include "wheel/proof.hpp"
#include "wheel/shown.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace quarry::wheel {

namespace {

std::set<std::string, std::less<>> paths_of(const Draft& draft) {
  std::set<std::string, std::less<>> paths;
  for (const auto& m : draft.members) paths.insert(m.path);
  paths.insert(draft.dist_info + "/RECORD");
  return paths;
}

Result<std::optional<std::string>> text_of(const Draft& draft, std::string_view name, std::uint64_t max_bytes) {
  auto path = draft.dist_info + "/" + std::string(name);
  for (const auto& m : draft.members)
    if (m.path == path) {
      TRY(auto text, m.data.read_all(max_bytes), "while reading " + path);
      return std::optional(std::move(text));
    }
  return std::optional<std::string>();
}

// As the zip writer does, but before a file or directory is made.
Result<void> check_member_names(const Draft& draft) {
  names::NameSet names;
  for (const auto& m : draft.members) {
    auto defect = names::check_name(m.path);
    if (!defect) defect = names.add(m.path);
    if (defect)
      return fail(ErrorKind::invalid_argument, defect->code,
                  fmt::format("cannot pack {}: {}", names::printable(m.path), defect->message),
                  "rename it or leave it out");
  }
  return {};
}

// Everything, then dist-info, then RECORD: so that metadata can be changed by writing a new tail.
void sort_members(Draft& draft) {
  auto prefix = draft.dist_info + "/";
  std::sort(draft.members.begin(), draft.members.end(), [&](const Member& a, const Member& b) {
    return std::tuple(a.path.starts_with(prefix), std::string_view(a.path)) <
           std::tuple(b.path.starts_with(prefix), std::string_view(b.path));
  });
}

std::string record_of(std::span<const zip::Written> written, const std::string& record_path) {
  std::vector<dist::RecordRow> rows;
  for (const auto& w : written) rows.push_back({w.name, w.sha256, "sha256", w.sha256.base64url(), w.size});
  rows.push_back({record_path, std::nullopt, "", "", std::nullopt});
  return dist::render_record(rows);
}

Result<zip::Report> write_archive(const Draft& draft, const PackOptions& options, const sys::File& into) {
  std::vector<zip::Entry> entries;
  for (const auto& m : draft.members) entries.push_back({m.path, m.data, m.executable});
  auto record_path = draft.dist_info + "/RECORD";
  auto tail = [&](std::span<const zip::Written> written) -> Result<std::vector<zip::Entry>> {
    return std::vector<zip::Entry>{{record_path, content::Rope::literal(record_of(written, record_path)), false}};
  };
  return zip::write(entries, tail, {options.profile, options.workers, options.on_progress}, into);
}

Unexpected not_as_written(const std::string& what) {
  return fail(ErrorKind::corrupt, "W014",
              fmt::format("the finished wheel does not read back as it was written: {}", what),
              "the disk or the memory may be failing: look at the system log, then run the command again");
}

Result<void> read_back_member(const zip::Reader& zip, const zip::Written& written, bool dist_info) {
  const auto* m = zip.find(written.name);
  if (!m || m->size != written.size || m->stored_size != written.stored_size || m->crc != written.crc)
    return not_as_written(written.name);
  if (!dist_info) return {};
  Sha256Hasher hasher;
  TRY_DO(zip.read(*m, [&](std::span<const std::byte> chunk) -> Result<void> {
    hasher.update(chunk);
    return {};
  }));
  return hasher.finish() == written.sha256 ? Result<void>{} : not_as_written(written.name);
}

// What readers will see: the strict reader accepts the framing, and dist-info is there byte by byte.
Result<void> read_back(const Draft& draft, const zip::Report& report, const content::Rope& content) {
  Findings findings;
  auto zip = zip::Reader::open(content, draft.file_name, findings);
  if (!zip || !findings.empty()) {
    auto what = findings.empty() ? draft.file_name : findings.front().place + ": " + findings.front().message;
    return not_as_written(what);
  }
  if (zip->members().size() != report.entries.size()) return not_as_written("entries are missing");
  for (const auto& e : report.entries) TRY_DO(read_back_member(*zip, e, e.name.starts_with(draft.dist_info + "/")));
  return {};
}

} // namespace

Result<void> check_draft(const Draft& draft) {
  TRY(auto name, dist::WheelName::parse(draft.file_name));
  TRY_DO(check_member_names(draft));
  DistInfoTexts texts;
  TRY(texts.metadata, text_of(draft, "METADATA", dist::k_metadata_bytes_max));
  TRY(texts.wheel, text_of(draft, "WHEEL", dist::k_wheel_bytes_max));
  TRY(texts.entry_points, text_of(draft, "entry_points.txt", dist::k_entry_points_bytes_max));
  Findings findings;
  auto paths = paths_of(draft);
  const std::set<std::string, std::less<>> directories; // packing writes none
  DistInfoCheck check{draft.file_name, name, draft.dist_info, std::move(texts), paths, directories};
  auto info = check_dist_info(check, findings);
  check_paths(check, findings);
  check_installed(check, info.entry_points, findings);
  std::erase_if(findings, [](const Finding& f) { return f.severity != Severity::error; });
  if (findings.empty()) return {};
  const auto& first = findings.front();
  auto error = Error::of(ErrorKind::invalid_argument, first.code,
                         fmt::format("cannot pack {}: {}: {}", draft.file_name, first.place, first.message))
                   .with_hint(first.fix);
  for (std::size_t i = 1; i < std::min(findings.size(), k_details_max); ++i)
    error.details.push_back(fmt::format("{}: {}: {}", findings[i].code, findings[i].place, findings[i].message));
  return fail(std::move(error));
}

struct Packed::State {
  Draft draft;
  std::string path;
  sys::AtomicFile file;
  zip::Report report;
  std::shared_ptr<const Prover> prover;
};

Packed::Packed(std::unique_ptr<State> state) : state_(std::move(state)) {}
Packed::Packed(Packed&&) noexcept = default;
Packed& Packed::operator=(Packed&&) noexcept = default;
Packed::~Packed() = default;

Result<Built> Packed::finish() && {
  auto state = std::move(state_);
  const auto& report = state->report;
  auto content = content::Rope::of(std::make_shared<OpenFile>(state->file.file(), report.size));
  TRY_DO(read_back(state->draft, report, content));
  Built built;
  TRY(built.sha256, content::sha256_of(content));
  TRY_DO(state->file.commit_replace());
  built.file_name = state->draft.file_name;
  built.path = state->path;
  built.size = report.size;
  built.input_bytes = report.input_bytes;
  built.file_count = report.entries.size();
  for (const auto& e : report.entries)
    if (e.name == state->draft.dist_info + "/METADATA") built.metadata_sha256 = e.sha256;
  // The wheel is finished. Without its proof it is only verified once more when it is published.
  if (state->prover)
    static_cast<void>(
        state->prover->record(built.path, {built.file_name, built.size, built.sha256, built.metadata_sha256}));
  return built;
}

Result<Packed> write_draft(Draft draft, const std::string& output_dir, const PackOptions& options) {
  TRY_DO(check_draft(draft));
  sort_members(draft);
  TRY_DO(sys::make_directories(output_dir));
  auto path = path::join(output_dir, draft.file_name);
  TRY(auto file, sys::AtomicFile::create(path));
  TRY(auto report, write_archive(draft, options, file.file()), "while packing " + path);
  return Packed(std::unique_ptr<Packed::State>(
      new Packed::State{std::move(draft), std::move(path), std::move(file), std::move(report), options.prover}));
}

} // namespace quarry::wheel
