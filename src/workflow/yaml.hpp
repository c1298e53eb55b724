#pragma once
// YAML files as trees of values that know their line and column. Pure; libfyaml parses, its header stays in the cpp
// file.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// GitHub does not start a workflow whose file is larger.
constexpr std::size_t k_file_bytes_max = 500 * 1000;
/// After the expansion of aliases. The largest workflow of the field has 6,000 values; ten aliases of ten aliases make
/// ten thousand of each value, so the bound stops expansion before memory grows.
constexpr std::size_t k_values_max = 200'000;
constexpr std::size_t k_depth_max = 64; ///< workflows nest 10 deep

struct Position {
  std::uint32_t line = 0, column = 0; ///< from 1; line 0: the whole file
};

struct Member;

/// One value. A mapping keeps the order of its keys. Keys such as `on` and `yes` are texts, as in YAML 1.2.
struct Node {
  enum class Kind : std::uint8_t { null, boolean, number, text, sequence, mapping };
  enum class Style : std::uint8_t { plain, quoted, literal, folded };
  Kind kind = Kind::null;
  Style style = Style::plain; ///< of a scalar
  std::string text;           ///< of a scalar, as written
  Position at;
  bool bound = false;          ///< a tag names its type, or an anchor gives it to other places, too
  std::vector<Node> items;     ///< of a sequence
  std::vector<Member> members; ///< of a mapping

  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_scalar() const { return !is_mapping() && !is_sequence(); }
  /// The value below `key`; nullptr when this is not a mapping or has no such key. O(keys).
  const Node* find(std::string_view key) const;
  const Member* member(std::string_view key) const;
  /// The text of the scalar below `key`, or empty.
  std::string text_at(std::string_view key) const;
};

struct Member {
  std::string key;
  Position at; ///< of the key
  Node value;
};

/// What makes a finding go away for certain: `from` becomes `to`. An empty `to` removes a comment.
struct Edit {
  std::string from, to;
  Position at = {}; ///< where `from` begins, and nowhere else; line 0: on the finding's line
};

/// A defect with its place in parts, as annotations and SARIF want it.
struct Located {
  std::string file;
  Position at;
  std::string code;
  Severity severity = Severity::error;
  std::string message, fix;
  std::optional<Edit> edit = {}; ///< for `--fix`
};

/// The kind that a plain scalar has by the core schema of YAML 1.2. Pure.
Node::Kind plain_kind(std::string_view text);

struct Parsed {
  Node root;
  std::vector<Located> defects; ///< Y101 not YAML, Y102 beyond a bound, Y103 a key twice
  bool readable = false;        ///< whether `root` holds the whole file
};

/// Parses one document. Never fails: what is wrong is a defect with line and column. Linear in the text; aliases are
/// copied, within k_values_max.
Parsed parse_yaml(NamedText named);

/// The position of character `offset` of a scalar's text. Exact for plain and quoted scalars of one line and for
/// literal blocks; elsewhere the position of the scalar. Linear in the offset.
Position position_in(const Node& scalar, std::size_t offset);

/// The same for many places of one scalar, which must live longer, in any order. Reads the text once for all of them.
class Positions {
public:
  explicit Positions(const Node& scalar) : scalar_(scalar) {}
  Position at(std::size_t offset);

private:
  const Node& scalar_;
  std::size_t seen_ = 0;                 ///< what is before it was read
  std::vector<std::size_t> line_begins_; ///< of all lines there but the first
};

} // namespace quarry::workflow
