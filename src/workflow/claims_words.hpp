#pragma once
// Private to the room.
// The words by which a statement claims something, and those that make it say something else. Pure. Words are in lower
// case unless said otherwise.
#include "workflow/claims.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// What the word says was done, in any of its forms: "add", "adds", "added", "adding".
std::optional<Claim::Verb> verb_of(std::string_view word);
/// "pass", "forward", "wire": behind such a verb "to" says where.
bool hands_on(std::string_view verb);
/// "thread", "hook": claims only with "up" or "through" behind them.
bool needs_particle(std::string_view verb);
/// Words of statements about what the change does not do, or what was so before.
bool is_doubt(std::string_view word);
/// What follows says why, how or of which: "while preserving `a`", "that `b` needs". Names behind it are not claimed.
bool begins_clause(std::string_view word);
/// "After merging, update `a`": a step for later.
bool is_for_later(std::string_view word, std::string_view next);
/// What somebody saw, not what changes: "fix the `load_so` crash" says nothing about a line with `load_so`.
bool is_symptom(std::string_view word);
/// `ModuleNotFoundError`, `SIGSEGV`, `ENOENT`: what a program printed.
bool names_symptom(std::string_view name);
/// "Changes to `a`", "fixes for `a`": a noun.
bool is_noun_before(std::string_view next);
/// Whether the words before a verb are its subject, the change: "this PR", "we also".
bool is_begin(const std::vector<std::string>& before);
/// "add", "adds": what the change does at the beginning of a statement. Later it is a noun or what a program does: "the
/// job gives one on a Tuesday and adds `x`". "51 tests pass": no claim either.
bool is_said_of_something_else(const std::vector<std::string>& before, std::string_view verb);
/// What follows says where: "added `ref` to `workflow_call` and `workflow_dispatch`". Behind "raised" it is the value.
bool begins_place(std::string_view word, Claim::Verb verb, bool hands);
bool is_between_names(std::string_view word);

} // namespace quarry::workflow
