#include "workflow/javascript.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/model_parts.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <array>

namespace quarry::workflow {

namespace {
constexpr std::string_view k_create = "createWorkflowDispatch";

bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

/// Moves over the code of a script, one piece after the other: texts, comments, regular expressions and GitHub's
/// expressions are one piece each.
class ScriptCursor {
public:
  enum class Piece : std::uint8_t { blank, text, name, other };

  explicit ScriptCursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool ended() const { return at_ >= text_.size(); }
  char here() const { return ended() ? '\0' : text_[at_]; }
  bool take(std::string_view part) {
    if (!text_.substr(at_).starts_with(part)) return false;
    at_ += part.size();
    return true;
  }

  void skip_blanks() {
    while (!ended() && skip_blank()) {
    }
  }

  /// Takes one piece; not at the end. Comments are blank.
  Piece step() {
    if (skip_blank()) return Piece::blank;
    char c = here();
    auto piece = Piece::other;
    if (is_quote(c)) {
      quoted();
      piece = Piece::text;
    } else if (take("${{")) {
      to("}}");
    } else if (is_of_name(c)) {
      auto word = name();
      bool operand_follows = word == "return" || word == "typeof" || word == "case";
      before_ = operand_follows ? '\0' : 'a';
      return Piece::name;
    } else if (c == '/' && skip_regular_expression()) {
      c = 'a'; // what a value is followed by is an operator
    } else {
      ++at_;
    }
    before_ = c;
    return piece;
  }

  /// `"…"`, `'…'` or a template, with quotes. Without an end it is the rest of the line or, of a template, of the text.
  std::string_view quoted() {
    auto begin = at_;
    if (here() == '`')
      skip_template();
    else
      skip_quoted();
    at_ = std::min(at_, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string_view name() {
    auto begin = at_;
    while (!ended() && is_of_name(text_[at_]) && !text_.substr(at_).starts_with("${{")) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// An expression up to a `,` or the bracket that ends what is around it, without the comments behind it.
  std::string_view value() {
    auto begin = at_, end = at_;
    before_ = '\0';
    for (std::size_t depth = 0; !ended();) {
      char c = here();
      bool closes = c == ')' || c == ']' || c == '}', opens = c == '(' || c == '[' || c == '{';
      if (depth == 0 && (closes || c == ',')) break;
      auto piece = step();
      if (closes) --depth;
      if (opens) ++depth;
      if (piece != Piece::blank) end = at_;
    }
    return text_.substr(begin, end - begin);
  }

private:
  static bool is_of_name(char c) { return ascii::is_alnum(c) || c == '_' || c == '$'; }

  bool skip_blank() {
    if (take("//")) return to("\n"), true;
    if (take("/*")) return to("*/"), true;
    auto begin = at_;
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ > begin;
  }

  void skip_quoted() {
    char quote = text_[at_++];
    while (!ended() && here() != quote && here() != '\n') {
      if (take("${{"))
        to("}}");
      else
        at_ += here() == '\\' ? 2 : 1;
    }
    if (here() == quote) ++at_;
  }

  /// A template with the code in its `${…}`, which may hold texts and templates again.
  void skip_template() {
    std::string open = "`"; // what has not ended yet: templates, and braces in their code
    for (++at_; !ended() && !open.empty();) {
      char c = here();
      bool code = open.back() == '{';
      if (take("${{")) {
        to("}}");
      } else if (code ? c == '{' || c == '`' : take("${")) {
        if (code) ++at_;
        open += code ? c : '{';
      } else if (c == (code ? '}' : '`')) {
        open.pop_back();
        ++at_;
      } else if (code && (c == '"' || c == '\'')) {
        skip_quoted();
      } else if (!code || !skip_blank()) {
        at_ += c == '\\' ? 2 : 1;
      }
    }
  }

  /// `/…/`, where no value stands in front of it: then it divides.
  bool skip_regular_expression() {
    if (at_ < no_expression_before_ || std::string_view("\0(,=:[!&|?{;+-*%<>~^", 20).find(before_) == text_.npos)
      return false;
    bool in_class = false;
    for (auto at = at_ + 1; at < text_.size() && text_[at] != '\n'; ++at) {
      char c = text_[at];
      if (c == '/' && !in_class) return at_ = at + 1, true;
      if (c == '[' || c == ']') in_class = c == '[';
      if (c == '\\') ++at;
      no_expression_before_ = at; // if it does not end, the line is not read once more for the next one
    }
    return false;
  }

  void to(std::string_view end) {
    auto found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t at_, no_expression_before_ = 0;
  char before_ = '\0'; ///< the last character that is not blank; 'a' for the end of a name or value
};

bool is_text_literal(std::string_view raw) {
  if (raw.size() < 2 || std::string_view("\"'`").find(raw[0]) == std::string_view::npos) return false;
  ScriptCursor cursor(raw);
  return cursor.quoted().size() == raw.size() && raw.back() == raw.front();
}

void set_value(std::string_view raw, Property& property) {
  property.raw = raw;
  if (is_text_literal(raw)) {
    property.kind = Node::Kind::text;
    property.value = text::replace_all(raw.substr(1, raw.size() - 2), "\\", "");
  } else if (raw == "true" || raw == "false") {
    property.kind = Node::Kind::boolean;
    property.value = raw;
  } else if (plain_kind(raw) == Node::Kind::number) {
    property.kind = Node::Kind::number;
    property.value = raw;
  } else {
    property.value = "${" + (raw.empty() ? property.name : std::string(raw)) + "}";
  }
}

/// One property or spread. Returns false if the rest cannot be read.
bool read_property(ScriptCursor& cursor, ObjectLiteral& object) {
  if (cursor.take("...")) {
    auto spread = cursor.value();
    object.complete &= spread == "context.repo";
    return true;
  }
  Property property;
  property.at = cursor.at();
  bool in_quotes = cursor.here() == '"' || cursor.here() == '\'';
  if (in_quotes) {
    auto name = cursor.quoted();
    property.name = name.size() < 2 ? "" : name.substr(1, name.size() - 2);
  } else {
    property.name = cursor.name();
  }
  cursor.skip_blanks();
  if (property.name.empty() || property.name.find('$') != property.name.npos) return object.complete = false;
  bool shorthand = !in_quotes && (cursor.here() == ',' || cursor.here() == '}');
  if (!shorthand && !cursor.take(":")) return object.complete = false; // a method
  cursor.skip_blanks();
  set_value(shorthand ? std::string_view() : cursor.value(), property);
  object.properties.push_back(std::move(property));
  return true;
}

/// A script, and what is still to be read of it. Positions are asked for in the order of the text.
struct Script {
  std::string_view text;
  Positions positions;
  ScriptBounds& bounds;
};

std::optional<ObjectLiteral> bounded_object(std::string_view text, Script& script) {
  auto object = object_literal(text, script.bounds.properties);
  if (object) script.bounds.properties -= object->properties.size();
  return object;
}

/// `inputs: {level: 'high'}` as arguments. `inputs_at` is where the object stands in the script.
void add_inputs(const Property& inputs, std::size_t inputs_at, Script& script, Call& call) {
  auto object = bounded_object(inputs.raw, script);
  call.inputs_unknown = !object || !object->complete;
  if (!object) return;
  for (auto& one : object->properties)
    call.arguments.push_back(
        {std::move(one.name), std::move(one.value), script.positions.at(inputs_at + one.at), one.kind});
}

bool is_elsewhere(const ObjectLiteral& object) {
  return std::ranges::any_of(std::array{"owner", "repo"}, [&](const char* name) {
    const auto* one = object.find(name);
    return one && one->kind == Node::Kind::text && !is_dynamic(one->value);
  });
}

/// What the object that is handed over says. `text` begins at `at` in the script.
void read_parameters(std::string_view text, std::size_t at, Script& script, Call& call) {
  auto object = bounded_object(text, script);
  if (!object) return;
  if (const auto* target = object->find("workflow_id"); target && !is_dynamic(target->value)) {
    call.target = target->value;
    call.unknown = false;
  }
  call.foreign |= is_elsewhere(*object);
  if (object->find("data") || object->find("body") || object->find("method")) return; // ref and inputs are in these
  if (const auto* ref = object->find("ref")) call.ref = ref->value;
  if (!object->complete) {
    if (!call.ref) call.ref = "${…}";
    return;
  }
  call.inputs_unknown = false;
  if (const auto* inputs = object->find("inputs")) {
    auto begin = inputs->raw.empty() ? 0 : static_cast<std::size_t>(inputs->raw.data() - text.data());
    add_inputs(*inputs, at + begin, script, call);
  }
}

/// What the address in a text says, without its quotes; the target is empty if it is not one of a dispatch.
Call call_of_address(std::string_view quoted) {
  Call call;
  if (quoted.size() > 2 && quoted.back() == quoted.front())
    read_dispatch_address(std::string(quoted.substr(1, quoted.size() - 2)), call);
  return call;
}

/// Where a call begins: at the function's name, or at the quote before an address.
struct CallPlace {
  std::size_t at;
  std::string_view piece;  ///< the name, or the address with its quotes
  std::string_view callee; ///< the function that gets an address first: `request`, `fetch`
};

std::vector<CallPlace> places_of_calls(std::string_view text) {
  std::vector<CallPlace> places;
  std::string_view callee;
  bool opened = false; // `callee` and its parenthesis stand right before
  for (ScriptCursor cursor(text); !cursor.ended();) {
    auto at = cursor.at();
    auto kind = cursor.step();
    if (kind == ScriptCursor::Piece::blank) continue;
    auto piece = text.substr(at, cursor.at() - at);
    bool address = kind == ScriptCursor::Piece::text && piece.substr(0, piece.size() - 1).ends_with("/dispatches") &&
                   !call_of_address(piece).target.empty();
    bool name = kind == ScriptCursor::Piece::name;
    if (address || (name && piece == k_create)) places.push_back({at, piece, opened ? callee : std::string_view()});
    opened = piece == "(" && !callee.empty() && !opened;
    if (!opened) callee = name ? piece : std::string_view();
  }
  return places;
}

/// The call that begins at `place` and ends before `end`.
Call javascript_call(const CallPlace& place, std::size_t end, Script& script) {
  const auto body = script.text.substr(0, end);
  Call call;
  call.target = "$"; // until a literal names it
  call.unknown = call.inputs_unknown = true;
  call.how = k_create;
  ScriptCursor cursor(body, place.at + place.piece.size());
  bool has_object = true; // as its first or next argument
  if (is_quote(place.piece.front())) {
    auto named = call_of_address(place.piece);
    if (!named.unknown && named.target.find_first_of("{$") == std::string::npos)
      call.target = named.target, call.unknown = false;
    call.foreign = named.foreign;
    has_object = place.callee == "request";
    call.how = has_object ? "github.request" : "JavaScript";
  }
  call.kind = Call::Kind::dispatch;
  call.at = script.positions.at(place.at);
  cursor.skip_blanks();
  if (!has_object || !cursor.take(call.how == k_create ? "(" : ",")) return call;
  cursor.skip_blanks();
  read_parameters(body.substr(cursor.at()), cursor.at(), script, call);
  return call;
}
} // namespace

const Property* ObjectLiteral::find(std::string_view name) const {
  auto found = std::ranges::find(properties, name, &Property::name);
  return found == properties.end() ? nullptr : &*found;
}

std::optional<ObjectLiteral> object_literal(std::string_view text, std::size_t properties_max) {
  ScriptCursor cursor(text);
  if (!cursor.take("{")) return std::nullopt;
  ObjectLiteral object;
  for (;;) {
    cursor.skip_blanks();
    if (cursor.take("}")) return object;
    if (cursor.take(",")) continue;
    if (cursor.ended() || object.properties.size() >= properties_max) return object.complete = false, object;
    if (!read_property(cursor, object)) return object;
  }
}

std::vector<Call> javascript_calls(const Node& script, ScriptBounds& bounds) {
  const auto places = places_of_calls(script.text);
  Script walked{script.text, Positions(script), bounds};
  std::vector<Call> calls;
  for (std::size_t i = 0; i < places.size() && bounds.calls > 0 && bounds.properties > 0; ++i, --bounds.calls)
    calls.push_back(javascript_call(places[i], i + 1 < places.size() ? places[i + 1].at : script.text.size(), walked));
  bounds.calls_left_out += places.size() - calls.size();
  return calls;
}

} // namespace quarry::workflow
