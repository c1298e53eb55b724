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
/// Calls of one script that are read: finding the line of each costs a walk through the script.
constexpr std::size_t k_script_calls_max = 256;

/// Moves over texts, comments, brackets and GitHub's expressions, each in one step.
class ScriptCursor {
public:
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
    while (!ended()) {
      if (take("//"))
        to("\n");
      else if (take("/*"))
        to("*/");
      else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      else
        return;
    }
  }

  /// `"…"`, `'…'` or a template, with quotes.
  std::string_view quoted() {
    auto begin = at_;
    char quote = text_[at_++];
    while (!ended() && text_[at_] != quote) {
      if (take("${{"))
        to("}}");
      else
        at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string_view name() {
    auto begin = at_;
    while (!ended() && (ascii::is_alnum(text_[at_]) || text_[at_] == '_' || text_[at_] == '$')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// An expression up to a `,` or the bracket that ends what is around it.
  std::string_view value() {
    auto begin = at_;
    for (std::size_t depth = 0; !ended();) {
      char c = text_[at_];
      if (c == '"' || c == '\'' || c == '`') {
        quoted();
      } else if (take("${{")) {
        to("}}");
      } else if (take("//")) {
        to("\n");
      } else if (take("/*")) {
        to("*/");
      } else {
        bool closes = c == ')' || c == ']' || c == '}';
        if (depth == 0 && (closes || c == ',')) break;
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (closes) --depth;
        ++at_;
      }
    }
    return text::trim(text_.substr(begin, at_ - begin));
  }

private:
  void to(std::string_view end) {
    auto found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t at_;
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

/// `inputs: {level: 'high'}` as arguments. `inputs_at` is where the object stands in the script.
void add_inputs(const Property& inputs, std::size_t inputs_at, const Node& script, Call& call) {
  auto object = object_literal(inputs.raw);
  call.inputs_unknown = !object || !object->complete;
  if (!object) return;
  for (const auto& one : object->properties)
    call.arguments.push_back({one.name, one.value, position_in(script, inputs_at + one.at), one.kind});
}

bool is_elsewhere(const ObjectLiteral& object) {
  return std::ranges::any_of(std::array{"owner", "repo"}, [&](const char* name) {
    const auto* one = object.find(name);
    return one && one->kind == Node::Kind::text && !is_dynamic(one->value);
  });
}

/// What the object that is handed over says. `text` begins at `at` in the script.
void read_parameters(std::string_view text, std::size_t at, const Node& script, Call& call) {
  auto object = object_literal(text);
  if (!object) return;
  if (const auto* target = object->find("workflow_id"); target && !is_dynamic(target->value)) {
    call.target = target->value;
    call.unknown = false;
  }
  call.foreign |= is_elsewhere(*object);
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

bool is_in_comment(std::string_view script, std::size_t at) {
  constexpr std::size_t k_before_max = 4096; // a script of one long line must not be read for each of its calls
  auto before = script.substr(at - std::min(at, k_before_max), std::min(at, k_before_max));
  return text::trim(before.substr(before.rfind('\n') + 1)).starts_with("//"); // npos + 1 is 0
}

/// The call whose name or address begins at `at` and which ends before `end`.
std::optional<Call> javascript_call(const Node& script, std::size_t at, std::size_t end) {
  const auto body = std::string_view(script.text).substr(0, end);
  Call call;
  call.kind = Call::Kind::dispatch;
  call.how = k_create;
  call.at = position_in(script, at);
  call.unknown = call.inputs_unknown = true;
  call.target = "$"; // until a literal names it
  ScriptCursor cursor(body, at);
  if (cursor.take(k_create)) {
    cursor.skip_blanks();
    if (!cursor.take("(")) return call;
  } else {
    auto address = std::string(text::trim(cursor.quoted()));
    if (address.size() < 2) return std::nullopt;
    Call named;
    read_dispatch_address(address.substr(1, address.size() - 2), named);
    if (named.target.empty()) return std::nullopt;
    call.how = "github.request";
    call.foreign = named.foreign;
    if (named.target.find_first_of("{$") == std::string::npos) call.target = named.target, call.unknown = false;
    cursor.skip_blanks();
    if (!cursor.take(",")) return call;
  }
  cursor.skip_blanks();
  read_parameters(body.substr(std::min(cursor.at(), body.size())), cursor.at(), script, call);
  return call;
}

/// Where calls begin: at the function's name, or at the quote before an address.
std::vector<std::size_t> places_of_calls(std::string_view text) {
  std::vector<std::size_t> places;
  for (auto at = text.find(k_create); at != text.npos; at = text.find(k_create, at + 1)) places.push_back(at);
  constexpr std::string_view k_end = "/dispatches";
  for (auto at = text.find(k_end); at != text.npos; at = text.find(k_end, at + 1)) {
    auto quote = at + k_end.size() < text.size() ? text[at + k_end.size()] : '\0';
    auto begin = std::string_view("\"'`").find(quote) == std::string_view::npos ? text.npos : text.rfind(quote, at);
    if (begin != text.npos && text.substr(begin, at - begin).find('\n') == text.npos) places.push_back(begin);
  }
  std::ranges::sort(places);
  return places;
}
} // namespace

const Property* ObjectLiteral::find(std::string_view name) const {
  auto found = std::ranges::find(properties, name, &Property::name);
  return found == properties.end() ? nullptr : &*found;
}

std::optional<ObjectLiteral> object_literal(std::string_view text) {
  ScriptCursor cursor(text);
  if (!cursor.take("{")) return std::nullopt;
  ObjectLiteral object;
  for (;;) {
    cursor.skip_blanks();
    if (cursor.take("}")) return object;
    if (cursor.take(",")) continue;
    if (cursor.ended()) object.complete = false;
    if (cursor.ended() || !read_property(cursor, object)) return object;
  }
}

std::vector<Call> javascript_calls(const Node& script) {
  std::vector<Call> calls;
  auto places = places_of_calls(script.text);
  places.resize(std::min(places.size(), k_script_calls_max));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_in_comment(script.text, places[i])) continue;
    auto end = i + 1 < places.size() ? places[i + 1] : script.text.size();
    if (auto call = javascript_call(script, places[i], end)) calls.push_back(std::move(*call));
  }
  return calls;
}

} // namespace quarry::workflow
