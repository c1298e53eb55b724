#pragma once
// Private to the room.
// Dispatches in the JavaScript of actions/github-script. Pure; linear in the script.
#include "workflow/model.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// In all scripts of one file. GitHub takes 25 inputs in a dispatch.
inline constexpr std::size_t k_script_calls_max = 256, k_script_properties_max = 4096;

/// A property of an object literal.
struct Property {
  std::string name, value; ///< a text or a number as it is; other values as `${…}`, so that they count as dynamic
  std::size_t at = 0;      ///< of the name, behind the beginning of the text
  std::string_view raw;    ///< the value as written, without a comment behind it; empty for a shorthand: `{ref}`
  Node::Kind kind = Node::Kind::null; ///< of a literal; null for other values
};

/// An object literal of JavaScript.
struct ObjectLiteral {
  std::vector<Property> properties;
  bool complete = true; ///< false: it may have more properties: spreads, computed names, or it does not end
  const Property* find(std::string_view name) const;
};

/// Reads the object literal with which `text` begins; nullopt if it does not begin with `{`. A spread of
/// `context.repo`, which holds `owner` and `repo` alone, leaves an object complete. Reading ends behind
/// `properties_max` properties; the object is then not complete if it goes on.
std::optional<ObjectLiteral> object_literal(std::string_view text, std::size_t properties_max);

/// What may still be read in the scripts of one file: an alias of YAML repeats a large script in many steps.
struct ScriptBounds {
  std::size_t calls = k_script_calls_max, properties = k_script_properties_max;
  std::size_t calls_left_out = 0; ///< those beyond the bound
};

/// Calls of `createWorkflowDispatch`, and addresses `…/actions/workflows/FILE/dispatches` in texts. Target, `ref` and
/// `inputs` of the function and of `request(ADDRESS, {…})` are read from an object literal; what a variable holds, or
/// what another client such as `fetch` sends, is unknown. Comments are left out. Subtracts from `bounds` what it reads.
std::vector<Call> javascript_calls(const Node& script, ScriptBounds& bounds);

} // namespace quarry::workflow
