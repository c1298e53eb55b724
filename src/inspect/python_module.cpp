#include "inspect/python_module.hpp"

#include "base/text.hpp"
#include "inspect/python_literal.hpp"
#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_module_bytes_max = 1u << 20; // the largest of ROCm's has 20 KB

using TokenKind = PythonToken::Kind;

bool is_token(const PythonToken& token, TokenKind kind, std::string_view text) {
  return token.kind == kind && token.text == text;
}

/// The first sign of this text that is not within brackets; the number of tokens if it is missing.
std::size_t top_sign(PythonTokens tokens, std::string_view sign) {
  std::size_t depth = 0, at = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at].kind != TokenKind::sign) continue;
    auto text = tokens[at].text;
    if (depth == 0 && text == sign) break;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
  }
  return at;
}

bool is_word_of(const PythonToken& token, std::initializer_list<std::string_view> words) {
  return token.kind == TokenKind::word && std::ranges::find(words, token.text) != words.end();
}

/// Whether the order of the items means nothing.
bool is_set(std::string_view name) {
  return name == "__all__" || name.ends_with("FAMILIES") || name.ends_with("TARGETS");
}

/// The constants of one module, as its statements leave them.
class ModuleReader {
public:
  PythonModule read(const PythonScan& scan) {
    for (const auto& statement : scan.statements) take(statement);
    PythonModule module;
    module.problem = scan.problem;
    for (auto& [name, constant] : known_) {
      if (name != "__all__" || !constant.read || !all_texts(constant.value))
        module.values[name] = final_text(name, constant);
      else
        for (const auto& item : *constant.value.items) module.exported.insert(item.substr(1, item.size() - 2));
    }
    return module;
  }

private:
  struct Constant {
    PythonLiteral value;
    bool read = true; ///< false: `value.text` is the source of all statements that were not understood
  };

  static bool all_texts(const PythonLiteral& value) {
    return value.items && std::ranges::all_of(*value.items, [](const auto& item) { return item.starts_with('"'); });
  }

  static std::string final_text(const std::string& name, Constant& constant) {
    auto& [text, items] = constant.value;
    if (!constant.read || !items) return std::move(text);
    if (is_set(name)) std::ranges::sort(*items);
    if (is_set(name) || text.starts_with('[')) return "[" + text::join(*items, ", ") + "]";
    return "(" + text::join(*items, ", ") + (items->size() == 1 ? ",)" : ")");
  }

  void take(const PythonStatement& statement) {
    if (body_of_ && statement.indent > *body_of_) return;
    body_of_.reset();
    PythonTokens tokens = statement.tokens;
    auto word = tokens[0].text == "async" && tokens.size() > 1 ? tokens[1] : tokens[0];
    if (is_word_of(word, {"def", "class"})) {
      body_of_ = statement.indent;
      change_words(tokens.first(std::min<std::size_t>(tokens.size(), 3)), tokens.first(1));
      return;
    }
    bool conditional = statement.indent > 0, one_case = conditional && tokens[0].text == "case";
    if (is_word_of(tokens[0], {"if", "elif", "else", "try", "except", "finally", "for", "while", "with"}) ||
        (one_case && tokens.size() > 1 && tokens[1].text != ":" && top_sign(tokens, ":") < tokens.size())) {
      conditional = true;
      tokens = tokens.subspan(std::min(top_sign(tokens, ":") + 1, tokens.size()));
    }
    while (!tokens.empty()) {
      auto end = top_sign(tokens, ";");
      if (end > 0) simple(tokens.first(end), conditional);
      tokens = tokens.subspan(std::min(end + 1, tokens.size()));
    }
  }

  /// A statement of one line. `conditional`: it may run, or not, or several times.
  void simple(PythonTokens tokens, bool conditional) {
    if (top_sign(tokens, "=") < tokens.size()) return assignment(tokens, conditional);
    if (is_word_of(tokens[0], {"import", "from", "del"})) return change_words(tokens.subspan(1), tokens);
    if (tokens.size() < 3 || tokens[0].kind != TokenKind::word) return;
    bool augmented = tokens[1].kind == TokenKind::sign && tokens[1].text.size() > 1 && tokens[1].text.ends_with('=') &&
                     !std::ranges::count(std::array<std::string_view, 5>{"==", "!=", "<=", ">=", ":="}, tokens[1].text);
    if (augmented)
      add_items(tokens, conditional || tokens[1].text != "+=" ? PythonTokens() : tokens.subspan(2), false);
    else if (tokens.size() > 4 && is_token(tokens[1], TokenKind::sign, ".") &&
             is_token(tokens[3], TokenKind::sign, "("))
      method(tokens, conditional);
  }

  void method(PythonTokens tokens, bool conditional) {
    auto arguments = conditional ? PythonTokens() : tokens.subspan(4, tokens.size() - 5);
    if (is_word_of(tokens[2], {"append", "extend"}))
      add_items(tokens, arguments, tokens[2].text == "append");
    else if (is_word_of(tokens[2], {"insert", "remove", "pop", "popitem", "clear", "sort", "reverse", "update", "add",
                                    "discard", "setdefault"}))
      change(tokens[0].text, tokens, false);
  }

  /// `NAME.append(…)`, `NAME.extend(…)`, `NAME += …`. `added`: empty if it cannot be told.
  void add_items(PythonTokens statement, PythonTokens added, bool one) {
    auto found = known_.find(std::string(statement[0].text));
    if (found == known_.end()) return;
    auto literal = added.empty() ? std::nullopt : read_python_literal(added);
    auto& items = found->second.value.items;
    if (!found->second.read || !items || !literal || (!one && !literal->items))
      return change(statement[0].text, statement, false);
    if (one)
      items->push_back(std::move(literal->text));
    else
      std::ranges::move(*literal->items, std::back_inserter(*items));
  }

  /// `A = B: type = value` with one target or several.
  void assignment(PythonTokens statement, bool conditional) {
    std::vector<PythonTokens> targets;
    auto value = statement;
    for (auto end = top_sign(value, "="); end < value.size(); end = top_sign(value, "=")) {
      auto target = value.first(end);
      if (targets.empty()) target = target.first(top_sign(target, ":")); // before the annotation
      if (target.empty() || is_word_of(target[0], {"lambda"})) break;
      targets.push_back(target);
      value = value.subspan(end + 1);
    }
    for (auto target : targets) {
      bool name = target[0].kind == TokenKind::word;
      if (target.size() == 1 && name && !conditional)
        assign(target[0].text, value);
      else if (name && target.size() > 1 && (target[1].text == "[" || target[1].text == "."))
        change(target[0].text, statement, false);
      else
        for (const auto& token : target)
          if (token.kind == TokenKind::word) change(token.text, statement, true);
    }
  }

  void assign(std::string_view name, PythonTokens value) {
    // `ALL_PACKAGES['core']` and "core" name the same entry.
    bool entry = value.size() == 4 && value[0].text == "ALL_PACKAGES" && value[1].text == "[" &&
                 value[2].kind == TokenKind::text && value[3].text == "]";
    auto literal = read_python_literal(entry ? value.subspan(2, 1) : value);
    known_[std::string(name)] = literal ? Constant{std::move(*literal), true} : Constant{{python_source(value)}, false};
  }

  /// The statement changes the value in a way that is not followed. `also_new`: it may give the name its first value.
  void change(std::string_view name, PythonTokens statement, bool also_new) {
    if (!also_new && !known_.contains(std::string(name))) return;
    auto& constant = known_.try_emplace(std::string(name), Constant{{}, false}).first->second;
    auto before = final_text("", constant);
    constant = {{(before.empty() ? "" : before + "; ") + python_source(statement)}, false};
  }

  /// An import, a definition or `del` may give these names another value, or none.
  void change_words(PythonTokens names, PythonTokens statement) {
    bool star = std::ranges::any_of(names, [](const auto& token) { return is_token(token, TokenKind::sign, "*"); });
    std::vector<std::string> changed;
    for (const auto& [name, constant] : known_) {
      bool named =
          std::ranges::any_of(names, [&](const auto& token) { return is_token(token, TokenKind::word, name); });
      if (star || named) changed.push_back(name);
    }
    for (const auto& name : changed) change(name, statement, false);
  }

  std::map<std::string, Constant> known_;
  std::optional<std::size_t> body_of_; ///< the indent of the function or class whose body is passed over
};

/// The beginning of a value, for a message.
std::string shown(const std::string& value) {
  constexpr std::size_t k_characters_shown = 200;
  if (value.size() <= k_characters_shown) return value;
  auto part = value.substr(0, k_characters_shown);
  return part.substr(0, text::utf8_prefix(part)) + " …";
}

/// The items of a list of targets as read_python_literal() spells it, without features: "gfx900" for "gfx900:xnack-".
std::set<std::string> processors_in(std::string_view list) {
  std::set<std::string> processors;
  for (const auto& item : text::split_any(list, "[], \"")) processors.insert(item.substr(0, item.find(':')));
  return processors;
}

/// Whether `right` lists the same targets as `left`, which names processors alone, and some of them with a feature.
bool only_adds_features(const std::string& name, const std::string& left, const std::string& right) {
  bool targets = name.ends_with("FAMILIES") || name.ends_with("TARGETS");
  return targets && left.starts_with('[') && right.starts_with('[') && left.find(':') == left.npos &&
         right.find(':') != right.npos && processors_in(left) == processors_in(right);
}

void add_values(const std::string& place, const PythonModule& left, const PythonModule& right,
                std::vector<Part>& parts) {
  for (const auto& [name, value] : left.values) {
    auto other = right.values.find(name);
    if (other == right.values.end())
      parts.push_back({place + "!value:" + name, Kind::only_left, shown(value)});
    else if (other->second != value)
      parts.push_back({place + "!value:" + name + (only_adds_features(name, value, other->second) ? "!processors" : ""),
                       Kind::content, shown(value) + " | " + shown(other->second)});
  }
  for (const auto& [name, value] : right.values)
    if (!left.values.contains(name)) parts.push_back({place + "!value:" + name, Kind::only_right, shown(value)});
}
} // namespace

PythonModule read_module(std::string_view text) { return ModuleReader().read(scan_python(text)); }

Result<std::vector<Part>> module_parts(const std::string& place, const content::Rope& left,
                                       const content::Rope& right) {
  std::vector<Part> parts;
  if (left.size() > k_module_bytes_max || right.size() > k_module_bytes_max) return parts;
  TRY(auto l, left.read_all(k_module_bytes_max));
  TRY(auto r, right.read_all(k_module_bytes_max));
  auto one = read_module(l), other = read_module(r);
  if (!one.problem.empty() || !other.problem.empty()) {
    auto said = [](const PythonModule& module) { return module.problem.empty() ? "it is read" : module.problem; };
    parts.push_back({place + "!unread", Kind::content, said(one) + " | " + said(other)});
  }
  add_values(place, one, other, parts);
  for (const auto& name : one.exported)
    if (!other.exported.contains(name)) parts.push_back({place + "!exports:" + name, Kind::only_left, name});
  for (const auto& name : other.exported)
    if (!one.exported.contains(name)) parts.push_back({place + "!exports:" + name, Kind::only_right, name});
  parts.push_back({place + "!source", Kind::content, "the code of the module"});
  return parts;
}

} // namespace quarry::inspect
