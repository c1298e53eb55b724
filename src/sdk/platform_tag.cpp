#include "sdk/platform_tag.hpp"

#include "base/text.hpp"
#include "dist/manylinux.hpp"
#include "elf/elf.hpp"
#include "sdk/metadata.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <elf.h>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::sdk {

namespace {

constexpr const char* k_data = "data/manylinux.toml";

Result<dist::Manylinux> load(const Resources& resources) {
  TRY(auto text, read_resource(resources, k_data));
  return dist::parse_manylinux({text, k_data});
}

/// What the files of one package ask of the machine, and which file asks first.
struct Needs {
  std::map<std::string, std::string> versions, libraries;
};

// The dynamic loader is part of every system by the ELF interpreter that programs name.
bool is_loader(std::string_view soname) { return soname.starts_with("ld-linux") || soname.starts_with("ld64.so"); }

// GPU code objects are ELF, and nothing of the host loads them.
bool is_for_the_host(const elf::Facts& facts) { return facts.machine == EM_X86_64 && facts.has_dynamic; }

/// The files of the wheel and of the payload inside it. They are ropes, so no content is copied.
std::vector<wheel::Member> files_of(const PackagePlan& package) {
  auto members = package.wheel.members;
  members.insert(members.end(), package.inside.begin(), package.inside.end());
  return members;
}

Result<Needs> needs_of(const PackagePlan& package) {
  Needs needs;
  for (const auto& member : files_of(package)) {
    TRY(bool is_elf, elf::has_magic(member.data));
    if (!is_elf) continue;
    TRY(auto facts, elf::read_facts(member.data, member.path));
    if (!is_for_the_host(facts)) continue;
    TRY(auto versions, elf::read_needed_versions(member.data, member.path));
    for (auto& version : versions) needs.versions.emplace(std::move(version), member.path);
    for (auto& soname : facts.needed)
      if (!is_loader(soname)) needs.libraries.emplace(std::move(soname), member.path);
  }
  return needs;
}

std::set<std::string> names_in(const std::vector<PackagePlan>& packages) {
  std::set<std::string> names;
  for (const auto& package : packages)
    for (const auto& member : files_of(package)) names.emplace(path::basename(member.path));
  return names;
}

std::set<std::string> keys_of(const std::map<std::string, std::string>& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys;
}

class Verdict {
public:
  Verdict(const dist::Manylinux& manylinux, const dist::ManylinuxPolicy& policy, Findings& findings)
      : manylinux_(manylinux), policy_(policy), findings_(findings) {}

  void on(const PackagePlan& package, const Needs& needs, const std::set<std::string>& held) {
    bool kept = versions(package, needs);
    kept = libraries(package, needs, held) && kept;
    if (!kept || needs.versions.empty()) return;
    const auto* oldest = dist::oldest_that_allows(manylinux_, policy_.machine, {keys_of(needs.versions), {}, {}});
    findings_.push_back({"S041", Severity::note, package.dist,
                         fmt::format("its files keep {}{}", policy_.tag(),
                                     oldest ? fmt::format("; {} would hold", oldest->tag()) : std::string()),
                         ""});
  }

private:
  bool versions(const PackagePlan& package, const Needs& needs) {
    std::vector<std::string> wrong;
    for (const auto& [version, file] : needs.versions)
      if (!dist::allows(policy_, version)) wrong.push_back(fmt::format("{} ({})", version, file));
    if (wrong.empty()) return true;
    const auto* oldest = dist::oldest_that_allows(manylinux_, policy_.machine, {keys_of(needs.versions), {}, {}});
    report("S039", package, "asks for newer symbols than its tag promises: ", std::move(wrong),
           oldest ? fmt::format("tag it {}, or build on an older system", oldest->tag())
                  : std::string("no manylinux tag holds: tag it linux_x86_64"));
    return false;
  }

  bool libraries(const PackagePlan& package, const Needs& needs, const std::set<std::string>& held) {
    std::vector<std::string> wrong;
    for (const auto& [soname, file] : needs.libraries)
      if (!policy_.libraries.contains(soname) && !held.contains(soname))
        wrong.push_back(fmt::format("{} ({})", soname, file));
    if (wrong.empty()) return true;
    report("S040", package, "needs what neither these packages hold nor every system has: ", std::move(wrong),
           "package them too, or tag it linux_x86_64");
    return false;
  }

  void report(const char* code, const PackagePlan& package, std::string_view what, std::vector<std::string> wrong,
              std::string fix) {
    constexpr std::size_t k_shown = 5; // enough to know which library to build anew
    findings_.push_back(
        {code, Severity::error, package.dist, fmt::format("{}{}", what, text::first(wrong, k_shown)), std::move(fix)});
  }

  const dist::Manylinux& manylinux_;
  const dist::ManylinuxPolicy& policy_;
  Findings& findings_;
};

} // namespace

Result<std::string> platform_tag(const BuildRequest& request, const Resources& resources) {
  bool windows = request.platform == Platform::windows;
  std::string plain = windows ? "win_amd64" : "linux_x86_64";
  const auto& asked = request.platform_tag;
  if (asked.empty() || asked == plain) return plain;
  if (windows)
    return fail(ErrorKind::invalid_argument, "S038", fmt::format("packages for Windows are {}, not {}", plain, asked),
                "omit --platform-tag");
  TRY(auto manylinux, load(resources));
  auto policy = dist::policy_of(manylinux, asked);
  if (policy && policy->machine == "x86_64") return asked;
  return fail(ErrorKind::invalid_argument, "S038",
              fmt::format("no verdict can be given for the platform tag {}", asked),
              "use linux_x86_64, which promises nothing, or manylinux_X_Y_x86_64");
}

Result<void> check_platform_tag(const std::string& tag, const std::vector<PackagePlan>& packages,
                                const Resources& resources, Findings& findings) {
  if (!tag.starts_with("manylinux")) return {};
  TRY(auto manylinux, load(resources));
  TRY(auto policy, dist::policy_of(manylinux, tag));
  auto held = names_in(packages);
  Verdict verdict(manylinux, policy, findings);
  for (const auto& package : packages) {
    TRY(auto needs, needs_of(package), "while proving the tag of " + package.dist);
    verdict.on(package, needs, held);
  }
  return {};
}

} // namespace quarry::sdk
