// Files that decide what counts: rule profiles, suppressions, claims, and the table of packages that belong together.
// No finding is lost by applying them, and a note stays a note.
#include "base/text.hpp"
#include "closure/claims.hpp"
#include "closure/coherence.hpp"
#include "fuzzing.hpp"
#include "inspect/rule_profile.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace quarry;

namespace {
Findings some_findings() {
  return {{"Q401", Severity::error, "torch-2.0-py3-none-any.whl", "torch requires triton", ""},
          {"Q401", Severity::warning, "lib/torch/a.so", "twice", ""},
          {"Q408", Severity::note, "set", "tags", ""},
          {"G104", Severity::warning, "x.whl!lib/libx.so", "extra", ""}};
}

std::vector<closure::Package> some_packages() {
  std::vector<closure::Package> made;
  for (const char* file : {"torch-2.0+rocm7-cp312-cp312-linux_x86_64.whl", "torchvision-0.9+rocm6-py3-none-any.whl",
                           "rocm-7.1.tar.gz", "rocm_sdk_core-7.2-py3-none-manylinux_2_28_x86_64.whl"})
    made.push_back(closure::package_of(file, {}, 100).value());
  return made;
}

std::size_t notes_in(const Findings& findings) {
  return static_cast<std::size_t>(std::ranges::count(findings, Severity::note, &Finding::severity));
}

void check_profile(const inspect::RuleProfile& profile) {
  auto findings = some_findings();
  inspect::apply_profile(profile, findings);
  auto before = some_findings();
  fuzzing::require(findings.size() == before.size() && findings[2].severity == Severity::note);
}

void check_suppressions(const inspect::Suppressions& rows) {
  auto sifted =
      inspect::apply_suppressions(some_findings(), rows, {"2026-11-23", [](const std::string&) { return true; }});
  auto own = [](const Finding& one) { return one.is("Q251") || one.is("Q252"); };
  auto more = static_cast<std::size_t>(std::ranges::count_if(sifted.findings, own));
  fuzzing::require(sifted.findings.size() - more + sifted.suppressed.size() == some_findings().size());
  fuzzing::require(more <= rows.rows.size() && notes_in(sifted.findings) <= 1);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto k_packages = some_packages();
  DataText text{std::string(fuzzing::as_text(data, size)), "x.toml"};
  if (auto profile = inspect::parse_rule_profile(text, [](const std::string&) { return true; }))
    check_profile(*profile);
  if (auto rows = inspect::parse_suppressions(text, [](const std::string& code) { return code.front() != 'Z'; }))
    check_suppressions(*rows);
  if (auto groups = closure::parse_coherence(text))
    for (const auto& one : closure::check_coherence(k_packages, *groups))
      fuzzing::require((one.is("Q411") || one.is("Q412")) && !one.place.empty());
  if (auto claims = closure::parse_claims(text)) {
    (void)closure::check_claims(k_packages, *claims);
    fuzzing::require(closure::check_claimed_targets(*claims, {}).size() == claims->targets.size());
  }
  return 0;
}
