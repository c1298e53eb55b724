#pragma once
// Private to the room.
// The parts of a policy about machines and jobs: [[machine]], [attempts], what is asked of a machine by [[require]] and
// [[suite]], and of how many results. Read and written here, called by policy.cpp.
#include "base/json.hpp"
#include "base/toml.hpp"
#include "gate/policy.hpp"

namespace quarry::gate {

/// [[machine]] and [attempts]. invalid_argument G002, as all of these.
Result<void> read_machines(TomlTable& root, Policy& policy);
/// `backend` of a [[require]].
Result<void> read_backend(TomlTable& table, Requirement& into);
/// `reported` of a [[suite]].
Result<void> read_reported(TomlTable& table, SuiteRule& into);
/// `last_n_pass` of [states] or of a [[suite]].
Result<void> read_last_n_pass(TomlTable& table, std::int64_t& into);
/// A machine's own word needs a signer of evidence who stands for it.
Result<void> check_reported(const TomlTable& root, const Policy& policy);
/// Adds [[machine]] and [attempts] to the canonical form, where they say something.
void machines_json(const Policy& policy, Json& json);

} // namespace quarry::gate
