// What callers hand over, against what is taken.
#include "base/text.hpp"
#include "workflow/fix.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {

bool literal_fits(const std::string& type, std::string_view value) {
  if (type == "boolean") return value == "true" || value == "false";
  return type != "number" || plain_kind(value) == Node::Kind::number;
}

/// The quotes of a literal are what makes it a text. Which of the two kinds they are is not kept.
std::optional<Edit> without_quotes(const File& file, const Argument& argument) {
  for (char quote : {'"', '\''}) {
    Edit edit{fmt::format("{}{}{}", quote, argument.value, quote), argument.value, argument.quote_at};
    if (stands_there(file.text, edit)) return edit;
  }
  return std::nullopt;
}

void check_literals(const Rules& rules, const File& file, const Call& call, const Entry& entry) {
  for (const auto& argument : call.arguments) {
    const auto* input = entry.find(argument.name);
    if (!input || is_dynamic(argument.value)) continue;
    bool text_for_other = call.kind == Call::Kind::workflow && argument.kind == Node::Kind::text &&
                          (input->type == "boolean" || input->type == "number");
    if (text_for_other || !literal_fits(input->type, argument.value))
      rules.add(file, argument.at, "Y110", Severity::error,
                fmt::format("input `{}` of {} is a {} and gets the text `{}`", input->name, call.target, input->type,
                            argument.value),
                literal_fits(input->type, argument.value) ? "write it without quotes"
                : input->type == "boolean"                ? "write true or false, without quotes"
                                                          : "write a number, without quotes",
                text_for_other && literal_fits(input->type, argument.value) ? without_quotes(file, argument)
                                                                            : std::nullopt);
    bool chosen = input->type == "choice" && !input->options.empty();
    if (chosen && std::find(input->options.begin(), input->options.end(), argument.value) == input->options.end())
      rules.add(file, argument.at, "Y114", Severity::error,
                fmt::format("`{}` is not among the options of input `{}` of {}: {}", argument.value, input->name,
                            call.target, text::first(input->options, k_names_shown)),
                "GitHub refuses the dispatch; pass one of the options");
  }
}

/// Whether another call of this file passes its own input of that name on.
const Call* forwards_elsewhere(const File& file, const Call& but, const std::string& name) {
  for (const auto& call : file.calls) {
    if (&call == &but) continue;
    const auto* argument = call.find(name);
    if (!argument) continue;
    auto names = inputs_in(argument->value);
    for (const auto& read : names)
      if (same_name(read, name)) return &call;
  }
  return nullptr;
}

/// Whether anything but a caller or a person starts the workflow: a push, a pull request, a schedule. Its inputs are
/// empty then, and an input that is passed on empty replaces the default of the callee.
bool starts_without_inputs(const File& file) {
  const auto* on = file.root.find("on");
  if (!on) return false;
  auto other = [](std::string_view trigger) { return trigger != "workflow_call" && trigger != "workflow_dispatch"; };
  return (on->is_scalar() && other(on->text)) ||
         std::any_of(on->items.begin(), on->items.end(), [&](const Node& item) { return other(item.text); }) ||
         std::any_of(on->members.begin(), on->members.end(), [&](const Member& member) { return other(member.key); });
}

/// What to write at a call so that `input` of the callee gets `own` of the caller, and its own default without one.
std::string forwarding(const File& file, const Input& input, const Input& own) {
  auto value = input.fallback.value_or("");
  auto plain = fmt::format("pass `{}: ${{{{ inputs.{} }}}}`", input.name, own.name);
  if (!starts_without_inputs(file) || value.empty()) return plain;
  if (input.type != "boolean" && input.type != "number")
    value = fmt::format("'{}'", text::replace_all(value, "'", "''"));
  if (input.type == "boolean" && value == "true") // `inputs.x || true` would never be false
    return fmt::format(
        "pass `{}: ${{{{ github.event_name != 'workflow_dispatch' || inputs.{} }}}}`: other events start "
        "this workflow without inputs",
        input.name, own.name);
  return fmt::format("pass `{}: ${{{{ inputs.{} || {} }}}}`: some events start this workflow without inputs",
                     input.name, own.name, value);
}

void check_forwarding(const Rules& rules, const File& file, const Call& call, const Entry& entry) {
  const auto* target = rules.repository.find(call.file);
  for (const auto& input : entry.inputs) {
    const auto* own = file.input(input.name);
    if (!own || input.required || call.find(input.name) || !target || !is_read(*target, input.name)) continue;
    auto value = input.fallback.value_or("");
    auto fix = forwarding(file, input, *own);
    const auto* elsewhere = forwards_elsewhere(file, call, input.name);
    std::string field = call.how == "gh workflow run" ? "ref" : call.how == "gh api" ? "inputs[ref]" : "";
    if (call.kind != Call::Kind::dispatch) {
      // "Leave empty for builds of one family": whoever left it out may have meant it.
      bool meant = value.empty() && input.explains_empty;
      rules.add(file, call.at, "Y111",
                meant       ? Severity::note
                : elsewhere ? Severity::error
                            : Severity::warning,
                fmt::format(
                    "input `{}` is not forwarded to {}, which then uses its default `{}`{}{}", own->name, call.target,
                    value, meant ? ", and describes what an empty value means" : "",
                    elsewhere ? fmt::format("; line {} forwards it to {}", elsewhere->at.line, elsewhere->target) : ""),
                fix);
    } else if (same_name(input.name, "ref")) {
      // The revision that is dispatched is what a checkout without a ref takes.
      if (value.empty() && !text::trim(call.ref.value_or("")).empty()) continue;
      rules.add(file, call.at, "Y117", Severity::error,
                fmt::format("the dispatch of {} passes no {}: the workflow builds {} whatever revision this one builds",
                            call.target, field.empty() ? "`ref`" : fmt::format("`-f {}=…`", field),
                            value.empty() ? "the default branch" : fmt::format("its default `{}`", value)),
                field.empty() ? "pass \"ref\": \"${{ inputs.ref }}\" among its inputs"
                              : fmt::format("add `-f '{}=${{{{ inputs.ref }}}}'`", field));
    } else {
      rules.add(file, call.at, "Y116", Severity::note,
                fmt::format("input `{}` is left to the default `{}` of {}; this workflow has a value of that name",
                            own->name, value, call.target),
                fix);
    }
  }
}

void check_dispatched_inputs(const Rules& rules, const File& file, const Call& call, const File& target) {
  for (const auto& argument : call.arguments) {
    if (target.dispatch->find(argument.name)) continue;
    rules.add(
        file, argument.at, "Y112", Severity::error,
        fmt::format("{} has no workflow_dispatch input `{}`: GitHub refuses the dispatch", call.target, argument.name),
        "declare it there, or remove it here");
  }
  for (const auto& input : target.dispatch->inputs)
    if (input.required && !input.fallback && !call.find(input.name))
      rules.add(
          file, call.at, "Y115", Severity::error,
          fmt::format("required input `{}` of {} is missing: GitHub refuses the dispatch", input.name, call.target),
          fmt::format("pass `{}`", input.name));
}

bool reads_input(const std::string& value, std::string_view name) {
  return is_dynamic(value) && text::lower(value).find("inputs." + text::lower(name)) != std::string::npos;
}

/// The revision that is dispatched. `gh workflow run` and the dispatch actions choose one; GitHub's API does not.
void check_dispatched_ref(const Rules& rules, const File& file, const Call& call) {
  if (call.ref) return;
  if (call.how == "gh workflow run")
    rules.add(file, call.at, "Y117", Severity::warning,
              fmt::format("`gh workflow run {}` without `--ref` runs the workflow of the default branch", call.target),
              "add `--ref \"$GITHUB_REF_NAME\"`");
  else if (!text::lower(call.how).ends_with("workflow-dispatch") && !call.inputs_unknown)
    rules.add(
        file, call.at, "Y117", Severity::error,
        fmt::format("the dispatch of {} by `{}` names no revision: GitHub's API refuses it", call.target, call.how),
        call.how == "gh api" ? "add `-f \"ref=$GITHUB_REF_NAME\"`" : "pass `ref`, for example `github.ref`");
}

/// A dispatch action without `ref` takes the revision that this run was started for. Where this workflow checks out
/// another one, by an input, and the target has no input for it, the target builds what nobody asked for.
void check_other_revision(const Rules& rules, const File& file, const Call& call, const File& target) {
  if (call.ref || !text::lower(call.how).ends_with("workflow-dispatch")) return;
  std::string input;
  for (const auto& checkout : checkouts_of(file))
    for (const auto& own : file.dispatch ? file.dispatch->inputs : std::vector<Input>())
      if (checkout.ours && checkout.repository.empty() && reads_input(checkout.ref, own.name)) input = own.name;
  auto takes_started = [](const Checkout& one) { return one.ours && one.repository.empty() && !one.has_ref; };
  if (input.empty() || std::ranges::none_of(checkouts_of(target), takes_started)) return;
  rules.add(
      file, call.at, "Y117", Severity::warning,
      fmt::format("this workflow checks out `inputs.{}`, and the dispatch of {} passes no `ref`: that one builds "
                  "the revision that this run was started for",
                  input, call.target),
      fmt::format("pass `ref: ${{{{ inputs.{} || github.ref }}}}` to the action, if it is a branch or tag", input));
}

void check_dispatch(const Rules& rules, const File& file, const Call& call) {
  if (!call.defect.empty())
    rules.add(file, call.defect_at, "Y113", Severity::error,
              fmt::format("the inputs of the dispatch of {} are not a JSON object: {}", call.target, call.defect),
              "correct the JSON");
  check_dispatched_ref(rules, file, call);
  if (call.file.empty()) {
    rules.add(file, call.at, "Y113", Severity::error,
              fmt::format("dispatched workflow {} does not exist in this repository", call.target),
              "correct the file name");
    return;
  }
  const auto* target = rules.repository.find(call.file);
  if (!target->readable) return rules.not_looked_at("dispatches of files that cannot be read");
  if (!target->dispatch) {
    rules.add(file, call.at, "Y113", Severity::error,
              fmt::format("{} has no workflow_dispatch: GitHub refuses the dispatch", call.target),
              "add the trigger there");
    return;
  }
  if (call.inputs_unknown) return rules.not_looked_at("dispatches whose inputs are not in the file as constants");
  if (!call.defect.empty()) return;
  check_dispatched_inputs(rules, file, call, *target);
  check_literals(rules, file, call, *target->dispatch);
  check_forwarding(rules, file, call, *target->dispatch);
  check_other_revision(rules, file, call, *target);
}

void check_call(const Rules& rules, const File& file, const Call& call) {
  if (call.unknown)
    return rules.not_looked_at(call.target.find_first_not_of("0123456789") == std::string::npos
                                   ? "dispatches of workflows by their number"
                                   : "dispatches whose target an expression makes");
  if (call.foreign) return rules.not_looked_at(fmt::format("calls of {} in another repository", call.target));
  if (call.kind == Call::Kind::dispatch) return check_dispatch(rules, file, call);
  const auto* target = call.file.empty() ? nullptr : rules.repository.find(call.file);
  if (!target || !target->call) return; // Y143 tells of a missing one
  check_literals(rules, file, call, *target->call);
  check_forwarding(rules, file, call, *target->call);
}
} // namespace

void check_calls(const Rules& rules) {
  for (const auto& file : rules.repository.files) {
    for (const auto& call : file->calls) check_call(rules, *file, call);
    if (file->calls_left_out > 0)
      rules.report.not_looked_at["dispatches in JavaScript beyond the bounds of one file"] += file->calls_left_out;
  }
}

} // namespace quarry::workflow
