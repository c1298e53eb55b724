#pragma once
// Private to the room.
// The fields of the incumbent's tables as ours: what the reader of its Python table (import.hpp) and the reader of what
// is laid over a table (overlay.hpp) share. Pure. Errors: invalid_argument F010 with the file, the line if there is
// one, and the field.
#include "matrix/families.hpp"
#include "matrix/python_literal.hpp"
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace quarry::matrix {

/// A value of a table, and what messages call it.
struct Item {
  const std::string& file;
  std::string what; ///< "gfx94x.linux.family"
  const Literal& value;
  Item part(std::string name, const Literal& inside) const { return {file, std::move(name), inside}; }
};

Unexpected import_error(const std::string& file, int line, const std::string& why);
Unexpected import_error(const Item& item, const std::string& why);

Result<void> expect(const Item& item, Literal::Kind kind);

/// A list of {label, count or weight}, sorted by label. Fails if it is empty.
Result<Runners> read_labels(const Item& item);

/// The purpose of the runners that a field names ("test" of `test-runs-on-labels`); empty for other fields.
std::string purpose_of(std::string_view field);

/// The field that restricts tests in this way; empty for `all`.
std::string_view restriction_field(Scope scope);

/// Any field of a family on a platform but the family's name. A field that is not understood is an error.
Result<void> read_field(const std::string& field, const Item& item, Place& place);

using BuildRunners = std::map<Platform, std::map<std::string, Runners>>; ///< platform -> kind -> runners
Result<BuildRunners> read_build_runners(const Item& item);

} // namespace quarry::matrix
