#include "inspect/wheel_contents.hpp"

#include "base/text.hpp"
#include "content/spool.hpp"
#include "elf/elf.hpp"
#include "inspect/library_rules.hpp"
#include "inspect/sketch.hpp"
#include "names/entry_names.hpp"
#include "sys/path.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <memory>
#include <utility>

namespace quarry::inspect {

namespace {
constexpr std::uint16_t k_amdgpu = 224; // EM_AMDGPU: code for the device, which the host's loader never sees

/// Where installers put a member, seen from site-packages: PEP 427, "The .data directory".
std::string installed_path(std::string_view member) {
  auto slash = member.find('/');
  if (slash == member.npos || !member.substr(0, slash).ends_with(".data")) return std::string(member);
  auto rest = member.substr(slash + 1);
  auto second = rest.find('/');
  if (second == rest.npos) return std::string(member);
  auto key = rest.substr(0, second);
  rest = rest.substr(second + 1);
  if (key == "purelib" || key == "platlib") return std::string(rest);
  return fmt::format("../../../{}{}", key == "scripts" ? "bin/" : key == "data" ? "" : "include/", rest);
}

// Errors about the bytes are findings; others (a disk that fails) end the look.
Result<void> keep(Findings& findings, const Error& error, const std::string& place) {
  if (error.kind != ErrorKind::corrupt && error.kind != ErrorKind::unsupported) return fail(Error(error));
  auto severity = error.kind == ErrorKind::corrupt ? Severity::error : Severity::note;
  findings.push_back({error.code, severity, place, error.message, error.hint});
  return {};
}

Result<void> look_at_elf(const content::Rope& rope, const LookOptions& options, MachineFile& file) {
  const auto& place = file.device.path;
  bool stable_abi = place.find("abi3") != place.npos; // in the wheel's tags, or in the name of the file
  auto linking = elf::read_linking(rope, place, {options.imports, stable_abi});
  if (!linking) return keep(file.findings, linking.error(), place);
  if (linking->facts.machine == k_amdgpu) return {};
  file.elf = std::move(*linking);
  auto found = elf::verify(rope, place);
  file.findings.insert(file.findings.end(), found.begin(), found.end());
  return {};
}

Result<void> look_at_pe(const content::Rope& rope, MachineFile& file) {
  auto name = text::lower(file.member);
  bool named_so = name.ends_with(".dll") || name.ends_with(".pyd") || name.ends_with(".exe");
  auto facts = pe::read_facts(rope, file.device.path);
  if (facts)
    file.pe = std::move(*facts);
  else if (named_so || facts.error().kind != ErrorKind::corrupt) // "MZ" may begin any file
    return keep(file.findings, facts.error(), file.device.path);
  return {};
}

/// "x.whl!a.so is a damaged ELF file" -> "it is a damaged ELF file", so that the terminal groups equal findings.
void name_no_place(Findings& findings) {
  for (auto& each : findings)
    if (each.message.starts_with(each.place + " ")) each.message.replace(0, each.place.size(), "it");
}

Result<void> look(const content::Rope& rope, const LookOptions& options, MachineFile& file) {
  TRY(bool is_elf, elf::has_magic(rope));
  if (is_elf) TRY_DO(look_at_elf(rope, options, file));
  TRY(bool is_pe, pe::has_magic(rope));
  if (is_pe) TRY_DO(look_at_pe(rope, file));
  TRY(file.device.contents, gpu::read_contents(rope, file.device.path));
  // A file that cannot be read as ELF is one defect, whoever looked into it first.
  std::erase_if(file.device.contents.findings, [&](const Finding& about_code) {
    return std::ranges::find(file.findings, about_code.message, &Finding::message) != file.findings.end();
  });
  name_no_place(file.findings);
  name_no_place(file.device.contents.findings);
  return {};
}

bool begins_machine_code(std::string_view head) {
  return head.starts_with("\177ELF") || head.starts_with("MZ") || gpu::may_hold_code(head);
}

bool is_worth_keeping(const MachineFile& file) {
  return file.elf || file.pe || !file.findings.empty() || is_worth_listing(file.device);
}

/// uv looks at the execute bits alone; pip and installer want a regular file by its type, too. A library is loaded
/// whatever its mode.
bool is_untyped_program(const zip::Member& member) {
  constexpr unsigned k_type_mask = 0170000, k_execute = 0111;
  return !member.is_directory && (member.mode & k_type_mask) == 0 && (member.mode & k_execute) != 0 &&
         !is_named_like_library(member.name);
}

/// Looks at each file of a wheel while it flows by. Each member has a slot, so that threads need no lock.
class Looker final : public wheel::Observer {
public:
  Looker(std::string file, const LookOptions& options) : file_(std::move(file)), options_(options) {}

  void begin(const zip::Reader& zip) override {
    zip_ = &zip;
    slots_.resize(zip.members().size());
    for (const auto& member : zip.members())
      if (is_untyped_program(member)) untyped_programs_.push_back(member.name);
  }

  void feed(std::size_t member, std::span<const std::byte> bytes) override {
    auto& slot = slots_[member];
    const auto& of = zip_->members()[member];
    if (!slot.begun) slot.text_max = text_bytes_of(of);
    if (slot.text.size() < slot.text_max)
      slot.text.append(reinterpret_cast<const char*>(bytes.data()),
                       std::min(bytes.size(), slot.text_max - slot.text.size()));
    if (!slot.begun && begins_machine_code({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
      slot.sketch = std::make_shared<Sketch>(zip_->members()[member].size);
    slot.begun = true;
    if (slot.sketch) slot.sketch->feed(bytes);
  }

  Result<void> end(std::size_t number) override {
    const auto& member = zip_->members()[number];
    auto& slot = slots_[number];
    slot.file = blank(member);
    look_at_text(member, slot);
    auto sketch = std::move(slot.sketch);
    if (!sketch) {
      if (gpu::is_named_like_code(member.name))
        slot.file.device.contents.findings.push_back(gpu::no_code_in_file(slot.file.device.path));
      return {};
    }
    sketch->end_of_file();
    auto looked = look(content::Rope::of(sketch), options_, slot.file);
    if (!sketch->missed()) return looked;
    slot.file = blank(member);
    sketch.reset();
    TRY(auto rope, whole(member));
    return look(rope, options_, slot.file);
  }

  /// Moves what was found into `wheel`.
  void take(WheelContents& wheel) {
    for (auto& slot : slots_) {
      const auto& member = slot.file.member;
      if (!slot.fault.empty()) wheel.not_libraries.emplace(member, slot.fault);
      if (!slot.leaks.empty()) wheel.leaks.emplace(member, std::move(slot.leaks));
    }
    wheel.files = take_files();
    wheel.untyped_programs = std::move(untyped_programs_);
  }

private:
  std::vector<MachineFile> take_files() {
    std::vector<MachineFile> files;
    for (auto& slot : slots_)
      if (is_worth_keeping(slot.file)) files.push_back(std::move(slot.file));
    std::ranges::sort(files, {}, &MachineFile::member);
    return files;
  }

  struct Slot {
    bool begun = false;
    std::string text;         ///< of a member that is_searched_text(), or the first bytes of one named like a library
    std::size_t text_max = 0; ///< how much of it is kept
    std::string_view fault;   ///< of a file that is only named like a library
    TextLeaks leaks;
    std::shared_ptr<Sketch> sketch; ///< of a member that begins like machine code
    MachineFile file;
  };

  static std::size_t text_bytes_of(const zip::Member& member) {
    if (is_named_like_library(member.name)) return k_library_head_bytes;
    bool searched = member.size <= k_searched_text_max && is_searched_text(member.name);
    return searched ? static_cast<std::size_t>(member.size) : 0;
  }

  static void look_at_text(const zip::Member& member, Slot& slot) {
    auto text = std::exchange(slot.text, {});
    if (member.is_directory) return;
    if (is_named_like_library(member.name))
      slot.fault = fault_of_library(member.name, text);
    else if (is_searched_text(member.name))
      slot.leaks = find_text_leaks({member.name, text});
  }

  MachineFile blank(const zip::Member& member) const {
    MachineFile file;
    file.member = member.name;
    file.installed = path::normal(installed_path(member.name));
    file.device = {
        fmt::format("{}!{}", file_, names::printable(member.name)), member.size, {}, gpu::target_of_path(member.name)};
    return file;
  }

  Result<content::Rope> whole(const zip::Member& member) const {
    constexpr std::uint16_t k_stored = 0;
    if (member.method == k_stored) return zip_->archive().slice(member.data_offset, member.size);
    TRY(auto spool, content::Spool::create(options_.spool_directory));
    TRY_DO(zip_->read(member, [&](std::span<const std::byte> chunk) { return spool->append(chunk); }));
    return content::Rope::of(spool);
  }

  std::string file_;
  const LookOptions& options_;
  const zip::Reader* zip_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<std::string> untyped_programs_;
};

// Sources of entry points

constexpr std::uint64_t k_source_bytes_max = 1u << 20;
constexpr std::size_t k_sources_max = 100; // modules; 26 is the most that a package of ROCm names

/// "a/b.py" or "a/b/__init__.py" for "a.b"; nothing if it is neither or if something else may be loaded in its place.
std::optional<std::string> source_of(const WheelContents& wheel, const std::string& module) {
  auto base = text::replace_all(module, ".", "/");
  std::vector<std::string> found;
  for (const auto& path : {base + ".py", base + "/__init__.py"})
    if (wheel.installed.contains(path)) found.push_back(path);
  for (auto stem : {base + ".", base + "/__init__."})
    for (auto at = wheel.installed.lower_bound(stem); at != wheel.installed.end() && at->starts_with(stem); ++at)
      if (!at->ends_with(".py") && !at->ends_with(".pyi")) return std::nullopt; // b.so, b.cpython-312-….so, b.pyc
  if (found.size() != 1) return std::nullopt;
  return found.front();
}

/// The modules of a sound wheel that are small: read again by themselves, since RECORD and entry_points.txt come last.
Result<void> read_sources(const content::Rope& bytes, WheelContents& wheel) {
  std::set<std::string> wanted;
  for (const auto& point : wheel.report.entry_points)
    if (!point.attribute.empty() && point.is_reference() && wanted.size() < k_sources_max)
      if (auto source = source_of(wheel, point.module)) wanted.insert(*source);
  if (wanted.empty() || has_errors(wheel.report.findings)) return {};
  Findings findings;
  auto zip = zip::Reader::open(bytes, wheel.file, findings);
  if (!zip) return {}; // it has changed since it was verified
  for (const auto& member : zip->members()) {
    auto installed = path::normal(installed_path(member.name));
    if (!wanted.contains(installed) || member.size > k_source_bytes_max) continue;
    auto source = zip->read_all(member, k_source_bytes_max);
    if (source) wheel.sources.emplace(installed, std::move(*source));
  }
  return {};
}
} // namespace

Result<WheelContents> look_into_wheel(const content::Rope& bytes, const std::string& path, const LookOptions& options) {
  WheelContents wheel;
  wheel.path = path;
  wheel.file = path::basename(path);
  Looker looker(wheel.file, options);
  TRY(wheel.report, wheel::verify(bytes, path, {options.workers, &looker, options.digest}));
  looker.take(wheel);
  for (const auto& row : wheel.report.record) wheel.installed.insert(path::normal(installed_path(row.path)));
  TRY_DO(read_sources(bytes, wheel), "while reading " + path);
  return wheel;
}

Result<WheelContents> look_into_wheel(const std::string& path, const LookOptions& options) {
  TRY(auto bytes, content::Rope::file(path));
  return look_into_wheel(bytes, path, options);
}

} // namespace quarry::inspect
