#pragma once
// Private to the room.
// Dispatches in the JavaScript of actions/github-script. Pure; linear in the script.
#include "workflow/model.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// A property of an object literal.
struct Property {
  std::string name, value; ///< a text or a number as it is; other values as `${…}`, so that they count as dynamic
  std::size_t at = 0;      ///< of the name, behind the beginning of the text
  std::string_view raw;    ///< the value as written; empty for a shorthand: `{ref}`
  Node::Kind kind = Node::Kind::null; ///< of a literal; null for other values
};

/// An object literal of JavaScript.
struct ObjectLiteral {
  std::vector<Property> properties;
  bool complete = true; ///< false: it may have more properties: spreads, computed names, or it does not end
  const Property* find(std::string_view name) const;
};

/// Reads the object literal with which `text` begins; nullopt if it does not begin with `{`. A spread of
/// `context.repo`, which holds `owner` and `repo` alone, leaves an object complete.
std::optional<ObjectLiteral> object_literal(std::string_view text);

/// Calls of `createWorkflowDispatch` and requests to `POST /repos/…/dispatches`. Their target, `ref` and `inputs` are
/// read from an object literal; what a variable holds is unknown.
std::vector<Call> javascript_calls(const Node& script);

} // namespace quarry::workflow
