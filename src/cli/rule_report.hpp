#pragma once
// Findings of rules on their way to people and programs: what the profile, the suppressions and a baseline make of
// them, and how they are written. Shared by the commands that check packages.
#include "cli/command.hpp"
#include "inspect/rule_profile.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// `--profile NAME|FILE` with the profile that counts if none is given; empty: severities stay as the rules have them.
Flag rule_profile_flag(const std::string& fallback);
/// `--suppressions FILE`, `--baseline FILE`, `--format F`
std::vector<Flag> rule_report_flags();

struct RuleReport {
  Findings findings; ///< that count
  std::vector<inspect::SuppressedFinding> suppressed;
  std::size_t known = 0; ///< findings that the baseline has, too
};

/// The profile that `--profile` names: of data/profiles, or a file. Fails with Q011; not_found Q013 if there is
/// neither.
Result<inspect::RuleProfile> rule_profile_of(const Context& context, const Arguments& arguments);

/// What the flags name. Commands read it first: a large set should not be inspected for a mistyped file.
struct RuleInputs {
  std::optional<inspect::RuleProfile> profile;
  std::optional<inspect::Suppressions> suppressions;
  std::optional<Findings> known; ///< of the baseline
};
/// Reads the files of --profile, --suppressions and --baseline. `schema` is that of the command's --json document,
/// which is what --baseline takes. Fails with the errors of rule_profile_of(), Q011 for suppressions, and corrupt Q012
/// for a baseline that is not such a document.
Result<RuleInputs> rule_inputs_of(const Context& context, const Arguments& arguments, const std::string& schema);

/// What a command finds.
struct FoundByRules {
  Findings findings;
  inspect::IsCode looks_for; ///< the codes that this run could have found
};
/// Applies the inputs, and gives findings without a fix the one that `quarry explain` names. Fails with C030 if the
/// explanations of codes cannot be read.
Result<RuleReport> judged_by_rules(const Context& context, RuleInputs inputs, FoundByRules found);

/// Whether the command writes text, so that it may add lines of its own.
bool writes_text(const Arguments& arguments);
/// Writes the findings in the format that was asked for. `document` gets `findings`, `suppressed` and `known`, and is
/// what --json and `--format json` print.
struct ReportWords {
  std::string suite;         ///< "quarry set check"
  std::string summary;       ///< what the last line of text is about: "12 packages"
  bool list_findings = true; ///< false: the command has written them as text already
};
Result<void> print_rule_report(Context& context, const Arguments& arguments, const RuleReport& report,
                               const ReportWords& words, Json document);

/// "3 errors, 1 warning", or "no errors or warnings", and what was suppressed or known.
std::string counts_of(const RuleReport& report);

} // namespace quarry::cli
