#include "inspect/abi3_rules.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr const char* k_stable_abi_code = "Q015";
constexpr std::size_t k_symbols_named = 8;

/// 12 for "cp312" and "3.12", with `begin` "cp3" and "3."; nullopt for anything else.
std::optional<int> minor_after(std::string_view begin, std::string_view text) {
  constexpr std::uint64_t k_minor_max = 1000;
  if (!text.starts_with(begin)) return std::nullopt;
  auto number = text::parse_u64(text.substr(begin.size()));
  return number && *number <= k_minor_max ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool promises_stable_abi(const dist::WheelTags& tags) {
  return std::ranges::any_of(text::split(tags.abi, '.'),
                             [](const auto& abi) { return abi == "abi3" || abi == "abi3t"; });
}

/// The oldest Python of the wheel's tags.
std::optional<int> oldest_python(const dist::WheelTags& tags) {
  std::optional<int> oldest;
  for (const auto& tag : text::split(tags.python, '.'))
    if (auto minor = minor_after("cp3", tag)) oldest = std::min(oldest.value_or(*minor), *minor);
  return oldest;
}

bool is_named_abi3(std::string_view member) { return member.ends_with(".abi3.so") || member.ends_with(".abi3t.so"); }

/// `x.cpython-312-x86_64-linux-gnu.so`, `x.cp312-win_amd64.pyd`: only that Python looks for it.
bool is_for_one_python(std::string_view member) {
  auto name = path::basename(member);
  auto cpython = name.find(".cpython-"), windows = name.find(".cp3");
  return cpython != name.npos || (name.ends_with(".pyd") && windows != name.npos);
}

/// "python312.dll", which only Python 3.12 has; "python3.dll" is that of the stable ABI.
bool is_dll_of_one_python(const std::string& library) {
  std::string_view name = library;
  if (!name.starts_with("python3") || !name.ends_with(".dll")) return false;
  auto digits = name.substr(7, name.size() - 7 - 4);
  if (digits.ends_with('t')) digits.remove_suffix(1); // "python3t.dll" is that of abi3t
  return !digits.empty() && std::ranges::all_of(digits, ascii::is_digit);
}

struct StableAbiFaults {
  std::vector<std::string> foreign, newer; ///< "symbol (file)", "symbol of 3.11 (file)"
  std::set<std::string> seen;
  int newest = 0; ///< version of Python 3 that added the newest symbol
};

struct AbiOfTag {
  const StableAbi& abi;
  std::set<std::string> own; ///< symbols that files of the wheel define
  std::optional<int> oldest; ///< Python of the tag
};

void judge_module(const MachineFile& file, const AbiOfTag& tag, StableAbiFaults& faults) {
  for (const auto& symbol : file.elf->python_imports) {
    if (symbol.starts_with("PyInit_") || tag.own.contains(symbol)) continue;
    auto known = tag.abi.added.find(symbol);
    bool fits = known != tag.abi.added.end() && known->second <= tag.oldest.value_or(known->second);
    if (fits || !faults.seen.insert(symbol).second) continue;
    if (known == tag.abi.added.end()) {
      faults.foreign.push_back(fmt::format("{} ({})", symbol, file.member));
    } else {
      faults.newer.push_back(fmt::format("{} of 3.{} ({})", symbol, known->second, file.member));
      faults.newest = std::max(faults.newest, known->second);
    }
  }
}

void judge_dll(const MachineFile& file, StableAbiFaults& faults) {
  for (const auto& library : file.pe->imports)
    if (is_dll_of_one_python(text::lower(library)))
      faults.foreign.push_back(fmt::format("those of {} ({})", library, file.member));
}

StableAbiFaults faults_of(const WheelContents& wheel, const StableAbi& abi, bool promised) {
  AbiOfTag tag{abi, {}, oldest_python(wheel.report.name->tags)};
  for (const auto& file : wheel.files)
    if (file.elf) tag.own.insert(file.elf->python_exports.begin(), file.elf->python_exports.end());
  StableAbiFaults faults;
  for (const auto& file : wheel.files) {
    bool judged = promised ? !is_for_one_python(file.member) : is_named_abi3(file.member);
    if (judged && file.elf && file.member.ends_with(".so")) judge_module(file, tag, faults);
    if (judged && file.pe && file.member.ends_with(".pyd")) judge_dll(file, faults);
  }
  return faults;
}
} // namespace

Result<StableAbi> parse_stable_abi(NamedText named) {
  TRY(auto root, TomlTable::parse({named.text, named.name},
                                  {k_stable_abi_code, k_stable_abi_code, "data/python-stable-abi.toml"}));
  std::string schema;
  std::map<std::string, std::vector<std::string>> versions;
  TRY_DO(root.choice("schema", schema, {"quarry.python-stable-abi/1"}, true));
  TRY_DO(root.texts_map("added", versions));
  TRY_DO(root.finish());
  StableAbi abi;
  for (const auto& [version, symbols] : versions) {
    auto minor = minor_after("3.", version);
    if (!minor) return root.error("added", fmt::format("{} is not a version of Python 3, such as 3.11", version));
    for (const auto& symbol : symbols)
      if (!abi.added.emplace(symbol, *minor).second)
        return root.error("added", fmt::format("{} is there twice", symbol));
  }
  if (abi.added.empty()) return root.error("added", "it is missing or empty");
  return abi;
}

Findings check_stable_abi(const WheelContents& wheel, const StableAbi& abi) {
  if (!wheel.report.name) return {};
  bool promised = promises_stable_abi(wheel.report.name->tags);
  auto faults = faults_of(wheel, abi, promised);
  Findings findings;
  if (!faults.foreign.empty())
    findings.push_back(
        {"Q121", promised ? Severity::warning : Severity::note, wheel.file,
         fmt::format("{} the stable ABI, and extension modules import symbols that are not part of it: {}",
                     promised ? "its tag promises" : "names of files promise",
                     text::first(faults.foreign, k_symbols_named)),
         "compile with Py_LIMITED_API defined, or build one wheel for each Python"});
  if (!faults.newer.empty())
    findings.push_back(
        {"Q122", Severity::warning, wheel.file,
         fmt::format("its tag promises Python 3.{}, and extension modules import newer symbols: {}",
                     oldest_python(wheel.report.name->tags).value_or(0), text::first(faults.newer, k_symbols_named)),
         fmt::format("`quarry wheel retag --python-tag cp3{}`, or compile with an older Py_LIMITED_API",
                     faults.newest)});
  return findings;
}

} // namespace quarry::inspect
