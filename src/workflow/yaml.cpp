#include "workflow/yaml.hpp"

#include "workflow/yaml_text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <libfyaml.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace quarry::workflow {

namespace {
constexpr std::size_t k_compared_keys = 16; // the cost of a set is more than that of so many comparisons
constexpr std::size_t k_usual_keys = 4;     // a step has 3 on average; a vector would grow by 1, 2, 4

struct FreeParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct FreeDiagnostics {
  void operator()(fy_diag* diagnostics) const { fy_diag_destroy(diagnostics); }
};

Position position_of(const fy_mark* mark) {
  if (!mark) return {};
  return {static_cast<std::uint32_t>(mark->line + 1), static_cast<std::uint32_t>(mark->column + 1)};
}

std::string text_of(fy_token* token) {
  std::size_t length = 0;
  const char* text = token ? fy_token_get_text(token, &length) : nullptr;
  return text ? std::string(text, length) : std::string();
}

Node::Style style_of(fy_token* token) {
  switch (token ? fy_token_scalar_style(token) : FYSS_PLAIN) {
  case FYSS_SINGLE_QUOTED:
  case FYSS_DOUBLE_QUOTED: return Node::Style::quoted;
  case FYSS_LITERAL: return Node::Style::literal;
  case FYSS_FOLDED: return Node::Style::folded;
  default: return Node::Style::plain;
  }
}

/// Whether a scalar is the characters that stand in the file: libfyaml analyses them again for each text.
bool is_as_written(Node::Style style, std::string_view written) {
  if (style == Node::Style::plain) return written.find('\n') == written.npos;
  return style == Node::Style::quoted && written.find_first_of("\n\\'\"") == written.npos;
}

std::size_t size_of(const Node& node) {
  std::size_t size = 1;
  for (const auto& item : node.items) size += size_of(item);
  for (const auto& member : node.members) size += 1 + size_of(member.value);
  return size;
}

/// The value, and all inside of it, is that of other places, too.
void bind(Node& node) {
  node.bound = true;
  for (auto& item : node.items) bind(item);
  for (auto& member : node.members) bind(member.value);
}

std::optional<std::string> anchor_of(const fy_event& event) {
  fy_token* token = nullptr;
  if (event.type == FYET_SCALAR) token = event.scalar.anchor;
  if (event.type == FYET_SEQUENCE_START) token = event.sequence_start.anchor;
  if (event.type == FYET_MAPPING_START) token = event.mapping_start.anchor;
  if (!token) return std::nullopt;
  return text_of(token);
}

/// The events of libfyaml, one after the other; the present one stays until the next one is asked for.
class Events {
public:
  explicit Events(std::string_view text) : text_(text) {
    fy_diag_cfg settings;
    fy_diag_cfg_default(&settings);
    settings.fp = nullptr;
    settings.level = FYET_ERROR;
    settings.colorize = false;
    diagnostics_.reset(fy_diag_create(&settings));
    fy_diag_set_collect_errors(diagnostics_.get(), true);
    fy_parse_cfg configuration{};
    // GitHub and PyYAML read a closing bracket and the lines of a quoted text at the column of their key; without the
    // last flag libfyaml refuses both.
    configuration.flags =
        static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_SLOPPY_FLOW_INDENTATION);
    configuration.diag = diagnostics_.get();
    parser_.reset(fy_parser_create(&configuration));
    if (parser_ && fy_parser_set_string(parser_.get(), text_.data(), text_.size()) != 0) parser_.reset();
  }
  ~Events() { release(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  bool usable() const { return parser_ != nullptr; }
  /// FYET_NONE: the stream has ended, or is broken.
  fy_event_type next() {
    release();
    event_ = fy_parser_parse(parser_.get());
    return event_ ? event_->type : FYET_NONE;
  }
  const fy_event* current() const { return event_; }
  Position at() const { return event_ ? position_of(fy_event_start_mark(event_)) : Position{}; }
  /// The present event as it is written in the file; a quoted text without its quotes.
  std::string_view written() const {
    const auto *begin = fy_event_start_mark(event_), *end = fy_event_end_mark(event_);
    return begin && end ? text_.substr(begin->input_pos, end->input_pos - begin->input_pos) : std::string_view();
  }
  bool broken() const { return fy_parser_get_stream_error(parser_.get()); }

  SyntaxError syntax_error() const {
    void* previous = nullptr;
    SyntaxError error{at(), "the file is not YAML"};
    if (const auto* found = fy_diag_errors_iterate(diagnostics_.get(), &previous)) {
      error.at = {static_cast<std::uint32_t>(std::max(found->line, 0)),
                  static_cast<std::uint32_t>(std::max(found->column, 0))};
      if (found->msg) error.message = fmt::format("the file is not YAML: {}", found->msg);
      while (error.message.ends_with('\n')) error.message.pop_back();
    }
    if (auto tab = tab_before(text_, error.at.line); tab.line != 0)
      error = {tab, "a tab indents this line; YAML allows blanks only"};
    return error;
  }

private:
  void release() {
    if (event_) fy_parser_event_free(parser_.get(), event_);
    event_ = nullptr;
  }

  std::string_view text_;
  std::unique_ptr<fy_diag, FreeDiagnostics> diagnostics_;
  std::unique_ptr<fy_parser, FreeParser> parser_;
  fy_event* event_ = nullptr;
};

/// Tells how far lines are indented. Lines are asked for in order, so the text is passed once.
class Indents {
public:
  explicit Indents(std::string_view text) : text_(text) {}

  /// The blanks before the text of a line: a block's mark stands at the line's begin.
  std::uint32_t indent_of(std::uint32_t line) {
    while (line_ < line && line_begin_ < text_.size()) {
      line_begin_ = std::min(text_.find('\n', line_begin_), text_.size() - 1) + 1;
      ++line_;
    }
    auto rest = text_.substr(std::min(line_begin_, text_.size()));
    auto first = rest.find_first_not_of(' ');
    return line_ == line && first != rest.npos ? static_cast<std::uint32_t>(first) : 0;
  }

private:
  std::string_view text_;
  std::uint32_t line_ = 1; ///< whose first byte is line_begin_
  std::size_t line_begin_ = 0;
};

bool is_known(const Node& node, std::set<std::string>& keys, const Node& key) {
  if (keys.empty())
    for (const auto& member : node.members) keys.insert(member.key);
  return !keys.insert(key.text).second;
}

/// One parse: events in, a tree out. Stops at the first thing that makes the rest meaningless.
class Reader {
public:
  Reader(std::string_view text, const std::string& file, Parsed& parsed)
      : events_(text), indents_(text), file_(file), parsed_(parsed) {}

  void read() {
    if (!events_.usable()) return defect("Y101", {}, "the file cannot be parsed", "");
    if (next() != FYET_STREAM_START || next() != FYET_DOCUMENT_START) {
      if (!failed_ && events_.broken()) syntax();
      parsed_.readable = !failed_; // an empty file
      return;
    }
    next();
    parsed_.root = value(0);
    if (!failed_ && next() != FYET_DOCUMENT_END) syntax();
    if (!failed_ && next() == FYET_DOCUMENT_START)
      defect("Y101", events_.at(), "the file holds more than one document", "");
    parsed_.readable = !failed_;
  }

private:
  fy_event_type next() {
    if (failed_) return FYET_NONE;
    auto type = events_.next();
    if (type == FYET_NONE && events_.broken()) syntax();
    return type;
  }

  void defect(std::string code, Position where, std::string message, std::string fix) {
    failed_ = true;
    parsed_.defects.push_back({file_, where, std::move(code), Severity::error, std::move(message), std::move(fix)});
  }

  void syntax() {
    auto [where, message] = events_.syntax_error();
    defect("Y101", where, std::move(message), "correct the line");
  }

  bool count_one(std::size_t more = 1) {
    count_ += more;
    if (count_ <= k_values_max) return true;
    defect("Y102", events_.at(),
           fmt::format("the file holds more than {} values with its aliases expanded", k_values_max),
           "write fewer aliases of aliases");
    return false;
  }

  /// The value that begins with the present event; afterwards its last event is the present one.
  Node value(std::size_t depth) {
    Node node;
    if (!events_.current() || !count_one()) return node;
    node.at = events_.at();
    if (depth > k_depth_max) {
      defect("Y102", node.at, fmt::format("values are nested more than {} deep", k_depth_max), "");
      return node;
    }
    auto name = anchor_of(*events_.current());
    switch (events_.current()->type) {
    case FYET_SCALAR: scalar(node); break;
    case FYET_ALIAS: return alias();
    case FYET_SEQUENCE_START: sequence(node, depth); break;
    case FYET_MAPPING_START: mapping(node, depth); break;
    default: syntax(); break;
    }
    if (!name || failed_) return node;
    bind(node);
    anchors_[*name] = node;
    return node;
  }

  void scalar(Node& node) {
    // libfyaml 0.7.12 reads `'a''''b'` as `a'''`, and five such pairs as no text at all. Conditions that compare with
    // an empty text are written so: `if: 'inputs.ref != '''''`.
    auto* token = events_.current()->scalar.value;
    auto written = events_.written();
    node.style = style_of(token);
    node.bound = events_.current()->scalar.tag != nullptr;
    bool misread = fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED && written.find("''''") != written.npos;
    if (is_as_written(node.style, written))
      node.text = written;
    else
      node.text = misread ? single_quoted(written) : text_of(token);
    if (node.style == Node::Style::quoted && node.at.column > 1) --node.at.column; // the mark stands after the quote
    if (node.style == Node::Style::literal) node.at.column += indents_.indent_of(node.at.line);
    node.kind = node.style == Node::Style::plain ? plain_kind(node.text) : Node::Kind::text;
  }

  Node alias() {
    auto name = text_of(events_.current()->alias.anchor);
    auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      // An anchor is known once its value is complete, so an alias inside its own value ends here, too.
      defect("Y101", events_.at(), fmt::format("alias *{} has no anchor before it, or is inside its own value", name),
             "write the value out");
      return {};
    }
    if (!count_one(size_of(found->second))) return {};
    return found->second;
  }

  void sequence(Node& node, std::size_t depth) {
    node.kind = Node::Kind::sequence;
    while (!failed_ && next() != FYET_SEQUENCE_END && events_.current()) node.items.push_back(value(depth + 1));
  }

  void mapping(Node& node, std::size_t depth) {
    node.kind = Node::Kind::mapping;
    node.members.reserve(k_usual_keys);
    std::set<std::string> keys; // of a large mapping; a small one is compared key by key
    while (!failed_ && next() != FYET_MAPPING_END && events_.current()) {
      auto key = value(depth + 1);
      if (failed_ || next() == FYET_NONE) return;
      if (!key.is_scalar()) {
        defect("Y101", key.at, "a key is a list or a mapping", "use a text as key");
        return;
      }
      bool twice = node.members.size() < k_compared_keys ? node.member(key.text) != nullptr : is_known(node, keys, key);
      auto inner = value(depth + 1);
      if (twice)
        parsed_.defects.push_back({file_, key.at, "Y103", Severity::error,
                                   fmt::format("key `{}` appears twice in one mapping", key.text),
                                   "remove one of them: GitHub refuses the file"});
      else
        node.members.push_back({std::move(key.text), key.at, std::move(inner)});
    }
  }

  Events events_;
  Indents indents_;
  const std::string& file_;
  Parsed& parsed_;
  std::map<std::string, Node> anchors_;
  std::size_t count_ = 0; ///< values so far, with aliases expanded
  bool failed_ = false;
};
} // namespace

const Member* Node::member(std::string_view key) const {
  for (const auto& one : members)
    if (one.key == key) return &one;
  return nullptr;
}

const Node* Node::find(std::string_view key) const {
  const auto* found = member(key);
  return found ? &found->value : nullptr;
}

std::string Node::text_at(std::string_view key) const {
  const auto* found = find(key);
  return found && found->is_scalar() ? found->text : std::string();
}

Parsed parse_yaml(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  Parsed parsed;
  if (text.size() > k_file_bytes_max) {
    parsed.defects.push_back(
        {file,
         {},
         "Y102",
         Severity::error,
         fmt::format("the file has {} bytes; GitHub starts workflows of at most {}", text.size(), k_file_bytes_max),
         "split it into reusable workflows"});
    return parsed;
  }
  if (auto error = not_text(text)) {
    parsed.defects.push_back({file, error->at, "Y101", Severity::error, error->message, "save the file as UTF-8 text"});
    return parsed;
  }
  Reader(text, file, parsed).read();
  return parsed;
}

Position position_in(const Node& scalar, std::size_t offset) { return Positions(scalar).at(offset); }

Position Positions::at(std::size_t offset) {
  const auto end = std::min(offset, scalar_.text.size());
  for (; seen_ < end; ++seen_)
    if (scalar_.text[seen_] == '\n') line_begins_.push_back(seen_ + 1);
  auto breaks = std::ranges::upper_bound(line_begins_, end) - line_begins_.begin();
  auto position = scalar_.at;
  if (scalar_.style == Node::Style::literal) {
    position.line += static_cast<std::uint32_t>(breaks);
    position.column += static_cast<std::uint32_t>(breaks == 0 ? end : end - line_begins_[breaks - 1]);
  } else if (breaks == 0 && scalar_.style != Node::Style::folded) {
    position.column += static_cast<std::uint32_t>(end) + (scalar_.style == Node::Style::quoted ? 1 : 0);
  }
  return position;
}

} // namespace quarry::workflow
