#include "inspect/device_verdict.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "gpu/thin.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_shown = 5; // names in a message

struct Sum {
  std::uint64_t count = 0, bytes = 0;
};
struct TargetLess {
  bool operator()(const std::string& a, const std::string& b) const { return target_less(a, b); }
};
using TargetSums = std::map<std::string, Sum, TargetLess>;

/// What the rules look at: sums instead of objects.
struct Unit {
  const DeviceFile* file = nullptr;
  TargetSums targets;                                         ///< by target with features
  std::map<std::string, TargetSums, TargetLess> by_processor; ///< processor -> target -> sum
};

Unit unit_of(const DeviceFile& file) {
  Unit unit{&file, {}, {}};
  for (const auto& code : code_by_target(file.contents)) {
    unit.targets[code.name] = {code.count, code.bytes};
    if (!gpu::is_foreign(code.target)) // otherwise it is listed, and no verdict is about it
      unit.by_processor[code.target.processor][code.name] = {code.count, code.bytes};
  }
  return unit;
}

bool runs_on_any(const std::string& processor, const std::vector<std::string>& devices) {
  return std::ranges::any_of(devices, [&](const std::string& device) { return gpu::runs_on(processor, device); });
}

void report(Judgement& into, Finding finding) { into.findings.push_back(std::move(finding)); }

// missing

/// Kernels in formats that are not read, by the processor in their paths. `wheel thin` counts them alike: only where no
/// code object is read, since AOTriton's images are for more GPUs than the libraries around them.
std::set<std::string> processors_of_paths(const std::vector<Unit>& units) {
  std::set<std::string> processors;
  for (const auto& unit : units)
    if (unit.file->named && unit.file->named->kernels == gpu::Kernels::unread)
      processors.insert(unit.file->named->target.processor);
  return processors;
}

void find_missing(const std::vector<Unit>& units, const Asked& asked, Judgement& into) {
  std::set<std::string> present;
  for (const auto& unit : units)
    for (const auto& [processor, sums] : unit.by_processor) present.insert(processor);
  const auto paths = present.empty() ? processors_of_paths(units) : std::set<std::string>();
  std::vector<std::string> missing;
  for (const auto& target : asked.targets) {
    auto runs = [&](const std::string& code) { return gpu::runs_on(code, target); };
    auto may_run = [&](const std::string& path) { return !gpu::is_unwanted({path}, {target}); }; // also "gfx11xx"
    if (std::ranges::none_of(present, runs) && std::ranges::none_of(paths, may_run)) missing.push_back(target);
  }
  if (missing.empty()) return;
  for (const auto& target : missing) into.verdicts.push_back({Verdict::missing, target, "", 0});
  report(into,
         {"G103", Severity::error, asked.family, fmt::format("no file has code for {}", text::first(missing, k_shown)),
          "build for these targets, or name the family that was built"});
}

// extra

void find_extra(const Unit& unit, const Asked& asked, Judgement& into) {
  Sum all;
  for (const auto& [processor, sums] : unit.by_processor) {
    if (asked.targets.empty() || runs_on_any(processor, asked.targets)) continue;
    for (const auto& [target, sum] : sums) {
      into.verdicts.push_back({Verdict::extra, target, unit.file->path, sum.bytes});
      ++all.count;
      all.bytes += sum.bytes;
    }
  }
  if (all.count > 0)
    report(into, {"G104", Severity::warning, unit.file->path,
                  fmt::format("it holds code for {} that {} did not ask for ({})", units::things(all.count, "target"),
                              asked.family, units::bytes(all.bytes)),
                  "build it for the family's targets alone, or remove the other code: `quarry wheel thin`, `quarry sdk "
                  "build --thin`"});
}

// uneven

/// Name -> processors. The files of a library of kernels are one member, since each is for one target.
using Members = std::map<std::string, std::set<std::string>>;

Members members_of(const std::vector<Unit>& units) {
  Members members;
  for (const auto& unit : units) {
    if (unit.by_processor.empty()) continue;
    auto& processors = members[unit.file->named ? unit.file->named->unit : unit.file->path];
    for (const auto& [processor, sums] : unit.by_processor) processors.insert(processor);
  }
  return members;
}

void find_uneven(const std::vector<Unit>& units, const Asked& asked, Judgement& into) {
  auto members = members_of(units);
  std::set<std::string> wanted(asked.targets.begin(), asked.targets.end());
  if (wanted.empty())
    for (const auto& [name, processors] : members)
      for (const auto& processor : processors)
        if (!processor.ends_with("-generic")) wanted.insert(processor);
  std::vector<std::string> sorted(wanted.begin(), wanted.end());
  std::ranges::sort(sorted, target_less);
  struct Uneven {
    std::vector<std::string> without, targets;
  };
  std::vector<Uneven> found; // one for all targets that the same libraries lack: a build that left out several GPUs
  for (const auto& target : sorted) {
    std::vector<std::string> without;
    for (const auto& [name, processors] : members)
      if (std::ranges::none_of(processors, [&](const std::string& code) { return gpu::runs_on(code, target); }))
        without.push_back(name);
    if (without.empty() || without.size() == members.size()) continue;
    for (const auto& name : without) into.verdicts.push_back({Verdict::uneven, target, name, 0});
    auto same = std::ranges::find(found, without, &Uneven::without);
    if (same == found.end()) same = found.insert(found.end(), {std::move(without), {}});
    same->targets.push_back(target);
  }
  for (const auto& [without, targets] : found)
    report(into,
           {"G105", Severity::warning, text::join(targets, ", "),
            fmt::format("{} of {} have no code for {}: {}", without.size(), units::things(members.size(), "library"),
                        targets.size() == 1 ? "it" : "these targets", text::first(without, k_shown)),
            "build all libraries of a package for the same targets"});
}

// feature mix

/// The settings of one feature that a processor has, each with the first file that has it.
using Settings = std::map<gpu::Feature, const Unit*>;

std::string setting_name(std::string_view feature, gpu::Feature setting) {
  return fmt::format("{}{}", feature, setting == gpu::Feature::on ? "+" : "-");
}

void judge_settings(const std::string& processor, std::string_view feature, const Settings& settings, Judgement& into) {
  auto any = settings.find(gpu::Feature::any);
  if (any == settings.end() || settings.size() < 2) return;
  auto [setting, unit] = *std::next(any);
  bool one_file = any->second == unit;
  into.verdicts.push_back({Verdict::feature_mix, processor, unit->file->path, 0});
  // LLVM forbids it inside a file. The runtime loads two files independently, but a process has one setting.
  report(into, {"G106", one_file ? Severity::error : Severity::warning, unit->file->path,
                fmt::format("it has code for {}:{}, and {} has code for {} with any setting of {}", processor,
                            setting_name(feature, setting), one_file ? "the same file" : any->second->file->path,
                            processor, feature),
                "build all code of a processor for the same target ids"});
}

void find_feature_mix(const std::vector<Unit>& units, Judgement& into) {
  std::map<std::string, std::pair<Settings, Settings>, TargetLess> processors; // xnack, sramecc
  for (const auto& unit : units)
    for (const auto& [processor, sums] : unit.by_processor)
      for (const auto& [name, sum] : sums)
        if (auto target = gpu::parse_target(name)) {
          processors[processor].first.try_emplace(target->xnack, &unit);
          processors[processor].second.try_emplace(target->sramecc, &unit);
        }
  for (const auto& [processor, settings] : processors) {
    judge_settings(processor, "xnack", settings.first, into);
    judge_settings(processor, "sramecc", settings.second, into);
  }
}

// label lie

bool path_agrees(const gpu::Target& path, const gpu::Target& code) {
  auto same = [](gpu::Feature said, gpu::Feature is) { return said == gpu::Feature::any || said == is; };
  return gpu::runs_on(path.processor, code.processor) && same(path.xnack, code.xnack) &&
         same(path.sramecc, code.sramecc);
}

void find_lies(const DeviceFile& file, Judgement& into) {
  std::map<std::pair<std::string, std::string>, Sum> labels; // label and what the header says -> how much
  std::map<std::string, Sum, TargetLess> strangers;          // in a file whose path names another target
  for (const auto& object : file.contents.objects) {
    if (!object.label_agrees && object.elf_target) {
      auto& sum = labels[{object.target.str(), object.elf_target->str()}];
      ++sum.count, sum.bytes += object.bytes;
    }
    if (file.named && !gpu::is_foreign(object.target) && !path_agrees(file.named->target, object.target)) {
      auto& sum = strangers[object.target.str()];
      ++sum.count, sum.bytes += object.bytes;
    }
  }
  std::vector<std::string> said;
  for (const auto& [names, sum] : labels) {
    into.verdicts.push_back({Verdict::label_lie, names.first, file.path, sum.bytes});
    said.push_back(fmt::format("{} labelled {}, but the header of the code says {}",
                               sum.count == 1 ? "1 code object is" : units::things(sum.count, "code object") + " are",
                               names.first, names.second));
  }
  for (const auto& [target, sum] : strangers) {
    into.verdicts.push_back({Verdict::label_lie, target, file.path, sum.bytes});
    said.push_back(fmt::format("its path says {}, but it holds code for {}", file.named->target.str(), target));
  }
  constexpr std::size_t k_lies_shown = 10; // of a file: they have one cause
  for (std::size_t i = 0; i < std::min(said.size(), k_lies_shown); ++i)
    report(into,
           {"G107", Severity::error, file.path, said[i], "build the file again: a GPU refuses or misreads such code"});
  if (said.size() > k_lies_shown)
    report(into,
           {"G107", Severity::error, file.path, fmt::format("{} more labels lie", said.size() - k_lies_shown), ""});
}

// unconverted

bool moved_code(const DeviceFile& file) {
  return file.contents.split || std::ranges::any_of(file.contents.objects, [](const gpu::CodeObject& object) {
           return object.container == gpu::Container::kpack;
         });
}

void find_unconverted(const DeviceCode& code, Judgement& into) {
  if (std::ranges::none_of(code.files, moved_code)) return;
  for (const auto& file : code.files) {
    if (!file.contents.embedded) continue;
    std::uint64_t bytes = 0;
    for (const auto& object : file.contents.objects) bytes += object.bytes;
    if (bytes == 0) continue; // the record of a bundle whose code was taken out
    into.verdicts.push_back({Verdict::unconverted, "", file.path, bytes});
    report(into, {"G108", Severity::error, file.path,
                  fmt::format("it embeds its device code ({}), while the code of other files is in .kpack archives",
                              units::bytes(bytes)),
                  "run the conversion on this file, too"});
  }
}

std::vector<TargetSum> sums_of(const std::vector<Unit>& units, const Asked& asked) {
  std::map<std::string, TargetSum, TargetLess> sums;
  for (const auto& unit : units)
    for (const auto& [target, sum] : unit.targets) {
      auto& total = sums[target];
      total.target = target;
      total.count += sum.count;
      total.bytes += sum.bytes;
      ++total.files;
      total.asked = asked.targets.empty() || gpu::is_foreign({target, {}, {}}) ||
                    runs_on_any(target.substr(0, target.find(':')), asked.targets);
    }
  std::vector<TargetSum> out;
  for (auto& [target, sum] : sums) out.push_back(std::move(sum));
  return out;
}
} // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
  case Verdict::missing: return "missing";
  case Verdict::extra: return "extra";
  case Verdict::uneven: return "uneven";
  case Verdict::feature_mix: return "feature mix";
  case Verdict::label_lie: return "label lie";
  case Verdict::unconverted: return "unconverted";
  }
  return "";
}

bool target_less(std::string_view a, std::string_view b) {
  // "gfx" and digits: a longer number belongs to a newer GPU. Labels are text of others: every text has its place.
  auto is_numbered = [](std::string_view name) {
    return name.size() > 3 && name.starts_with("gfx") && ascii::is_digit(name[3]);
  };
  auto length = [](std::string_view name) {
    return std::ranges::find_if(name, [](char c) { return c == ':' || c == '-'; }) - name.begin();
  };
  if (is_numbered(a) && is_numbered(b) && length(a) != length(b)) return length(a) < length(b);
  return a < b;
}

std::vector<TargetCode> code_by_target(const gpu::Contents& contents) {
  // By the key first: a library has hundreds of code objects and few targets.
  std::map<gpu::Target, TargetCode> sums;
  for (const auto& object : contents.objects) {
    auto& sum = sums.try_emplace(object.target, TargetCode{{}, {}, object.container, 0, 0}).first->second;
    ++sum.count;
    sum.bytes += object.bytes;
  }
  std::vector<TargetCode> out;
  for (auto& [target, sum] : sums) {
    sum.name = target.str();
    sum.target = target;
    out.push_back(std::move(sum));
  }
  std::ranges::sort(out, [](const TargetCode& a, const TargetCode& b) { return target_less(a.name, b.name); });
  return out;
}

Judgement judge(const DeviceCode& code, const Asked& asked) {
  Judgement judgement;
  std::vector<Unit> units;
  for (const auto& file : code.files) {
    units.push_back(unit_of(file));
    const auto& findings = file.contents.findings;
    judgement.findings.insert(judgement.findings.end(), findings.begin(), findings.end());
  }
  judgement.targets = sums_of(units, asked);
  find_missing(units, asked, judgement);
  for (const auto& unit : units) find_extra(unit, asked, judgement);
  find_uneven(units, asked, judgement);
  find_feature_mix(units, judgement);
  for (const auto& file : code.files) find_lies(file, judgement);
  find_unconverted(code, judgement);
  return judgement;
}

} // namespace quarry::inspect
