#include "cli/inspected.hpp"

#include "base/text.hpp"
#include "cli/records.hpp"
#include "cli/wheel_operands.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace quarry::cli {

namespace {
constexpr const char* k_manylinux = "data/manylinux.toml";
constexpr const char* k_musllinux = "data/musllinux.toml";
constexpr const char* k_windows = "data/windows-libraries.toml";
constexpr const char* k_stable_abi = "data/python-stable-abi.toml";
constexpr std::size_t k_demands_shown = 3;

std::string names_of(const std::vector<inspect::Demand>& demands) {
  std::vector<std::string> out;
  for (const auto& one : demands) out.push_back(fmt::format("{} ({})", one.what, one.member));
  return text::first(out, k_demands_shown);
}

Json demands_json(const std::vector<inspect::Demand>& demands) {
  Json out = Json::array();
  for (const auto& one : demands) {
    out.push_back({{"name", one.what}, {"file", one.member}});
    if (!one.library.empty()) out.back()["library"] = one.library;
  }
  return out;
}
/// Places begin with the wheel's name. Those of wheels that share one begin with the path.
void tell_apart(std::vector<InspectedWheel>& wheels) {
  std::map<std::string, int> names;
  for (const auto& wheel : wheels) ++names[wheel.contents.file];
  for (auto& wheel : wheels) {
    auto& contents = wheel.contents;
    if (names[contents.file] < 2) continue;
    auto name = std::exchange(contents.file, contents.path);
    auto rename = [&](std::string& place) {
      if (place.starts_with(name)) place.replace(0, name.size(), contents.path);
    };
    auto rename_all = [&](Findings& findings) {
      for (auto& finding : findings) rename(finding.place);
    };
    rename_all(contents.report.findings);
    for (auto& file : contents.files) {
      rename(file.device.path);
      rename_all(file.findings);
      rename_all(file.device.contents.findings);
    }
  }
}
} // namespace

Result<Tables> load_tables(const Context& context) {
  Tables tables;
  TRY(tables.manylinux, dist::parse_manylinux({context.resources.read(k_manylinux).value_or(""), k_manylinux}));
  TRY(tables.musllinux, dist::parse_musllinux({context.resources.read(k_musllinux).value_or(""), k_musllinux}));
  TRY(tables.windows, inspect::parse_windows_libraries({context.resources.read(k_windows).value_or(""), k_windows}));
  TRY(tables.stable_abi, inspect::parse_stable_abi({context.resources.read(k_stable_abi).value_or(""), k_stable_abi}));
  return tables;
}

Result<std::vector<InspectedWheel>> inspect_wheels(Context& context, const Tables& tables,
                                                   const WheelsToInspect& which) {
  const auto& operands = which.operands;
  inspect::LookOptions options{context.jobs, temporary_of(context), inspect::private_symbols(tables.platforms()),
                               false};
  auto progress = context.out.progress("looking", bytes_of_wheels(operands));
  std::map<std::string, int> names;
  for (const auto& operand : operands) ++names[std::string(path::basename(operand.place))];
  std::uint64_t done = 0;
  std::vector<InspectedWheel> wheels;
  for (const auto& operand : operands) {
    TRY_DO(sys::check_interrupted());
    TRY(auto bytes, bytes_of_wheel(context, operand, [&](std::uint64_t fetched) { progress->update(done + fetched); }));
    // Two files of one name compete, unless they have the same bytes.
    options.digest = which.digest || names[std::string(path::basename(operand.place))] > 1;
    TRY(auto contents, inspect::look_into_wheel(bytes, operand.place, options));
    auto verdict = inspect::platform_verdict(contents, tables.platforms());
    wheels.push_back({std::move(contents), std::move(verdict)});
    progress->update(done += bytes.size());
  }
  progress->finish();
  tell_apart(wheels);
  return wheels;
}

Json digest_json(const wheel::VerifyReport& report) {
  return report.sha256 ? Json(report.sha256->hex()) : Json(nullptr);
}

inspect::DeviceCode device_code_of(const std::vector<InspectedWheel>& wheels) {
  inspect::DeviceCode code;
  for (const auto& wheel : wheels) {
    code.looked_at += wheel.contents.report.record.size();
    for (const auto& file : wheel.contents.files)
      if (inspect::is_worth_listing(file.device)) code.files.push_back(file.device);
  }
  return code;
}

std::string platform_text(const InspectedWheel& wheel) {
  const auto& verdict = wheel.verdict;
  if (wheel.contents.report.unread)
    return "no verdict, because its archive, dist-info, RECORD or a member cannot be read, or RECORD has too many "
           "defects to list";
  switch (verdict.judged) {
  case inspect::Judged::pure: return "no ELF code that a Linux tag could be about";
  case inspect::Judged::other:
    return fmt::format("for {}: no table says what holds",
                       verdict.machine.empty() ? "a big-endian machine" : verdict.machine);
  case inspect::Judged::yes: break;
  }
  auto text = verdict.tag + " holds";
  if (verdict.tag == verdict.symbols_tag && !verdict.decided_by.empty())
    return text + ", decided by " + names_of(verdict.decided_by);
  if (!verdict.levels.empty()) return text + ", because of " + names_of(verdict.levels);
  if (!verdict.foreign.empty())
    return fmt::format("{}, because of {}; {} by symbols alone", text, names_of(verdict.foreign), verdict.symbols_tag);
  if (!verdict.private_symbols.empty()) return text + ", because of " + names_of(verdict.private_symbols);
  return text;
}

Json verdict_json(const InspectedWheel& wheel) {
  const auto& verdict = wheel.verdict;
  bool judged = !wheel.contents.report.unread && verdict.judged == inspect::Judged::yes;
  const char* libc = verdict.libc == inspect::Libc::musl ? "musl" : "glibc";
  return {{"machine", verdict.machine.empty() ? Json(nullptr) : Json(verdict.machine)},
          {"libc", verdict.libc == inspect::Libc::unknown ? Json(nullptr) : Json(libc)},
          {"tag", judged ? Json(verdict.tag) : Json(nullptr)},
          {"symbols_tag", judged ? Json(verdict.symbols_tag) : Json(nullptr)},
          {"decided_by", demands_json(verdict.decided_by)},
          {"foreign_libraries", demands_json(verdict.foreign)},
          {"private_symbols", demands_json(verdict.private_symbols)},
          {"processor_levels", demands_json(verdict.levels)}};
}

} // namespace quarry::cli
