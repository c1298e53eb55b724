#include "inspect/python_literal.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <charconv>
#include <fmt/core.h>

namespace quarry::inspect {

namespace {
constexpr unsigned k_nested_max = 32; // a table in a table has 3

// Texts

void add_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned k_lead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(k_lead[more] | (code >> (6 * more)));
  while (more-- > 0) out += static_cast<char>(0x80 | ((code >> (6 * more)) & 0x3F));
}

/// What stands between the quotes, decoded; nullopt if that needs more than this reader knows.
struct PythonText {
  std::string_view rest;
  bool bytes = false;
  std::string out = {};

  /// `digits` of base 16 or 8 at the beginning of `rest`, at most so many; 16 needs all of them.
  std::optional<std::uint32_t> code(std::size_t digits, int base) {
    auto part = rest.substr(0, digits);
    std::uint32_t value = 0;
    auto end = std::from_chars(part.data(), part.data() + part.size(), value, base).ptr;
    auto taken = static_cast<std::size_t>(end - part.data());
    if (taken == 0 || (base == 16 && taken != digits)) return std::nullopt;
    rest.remove_prefix(taken);
    return value;
  }

  bool add_code(std::optional<std::uint32_t> value) {
    constexpr std::uint32_t k_last = 0x10FFFF, k_byte = 0xFF;
    bool surrogate = value && *value >= 0xD800 && *value <= 0xDFFF;
    if (!value || *value > (bytes ? k_byte : k_last) || surrogate) return false;
    if (bytes)
      out += static_cast<char>(*value);
    else
      add_utf8(out, *value);
    return true;
  }

  /// Behind a backslash.
  bool escape() {
    constexpr std::string_view k_letters = "\\'\"abfnrtv", k_values = "\\'\"\a\b\f\n\r\t\v";
    if (rest.empty()) return false;
    char c = rest[0];
    if (auto known = k_letters.find(c); known != k_letters.npos) {
      out += k_values[known];
    } else if (c == '\r' || c == '\n') { // the line goes on
      if (rest.starts_with("\r\n")) rest.remove_prefix(1);
    } else if (c >= '0' && c <= '7') {
      return add_code(code(3, 8));
    } else if (c == 'x' || (!bytes && (c == 'u' || c == 'U'))) {
      rest.remove_prefix(1);
      return add_code(code(c == 'x' ? 2 : c == 'u' ? 4 : 8, 16));
    } else if (!bytes && c == 'N') {
      return false;
    } else {
      out += '\\';
      return true; // the character stays
    }
    rest.remove_prefix(1);
    return true;
  }

  bool read(bool raw) {
    while (!rest.empty()) {
      char c = rest[0];
      rest.remove_prefix(1);
      if (c == '\\' && !raw) {
        if (!escape()) return false;
      } else if (c == '\r') { // line ends are one character
        if (rest.starts_with('\n')) rest.remove_prefix(1);
        out += '\n';
      } else {
        out += c;
      }
    }
    return true;
  }
};

struct PythonPiece {
  std::string value;
  bool bytes = false;
};

std::optional<PythonPiece> one_text(std::string_view token) {
  auto quote = token.find_first_of("\"'");
  auto prefix = text::lower(token.substr(0, quote));
  std::size_t marks =
      token.size() - quote >= 6 && token[quote + 1] == token[quote] && token[quote + 2] == token[quote] ? 3 : 1;
  auto inside = token.substr(quote + marks, token.size() - quote - 2 * marks);
  bool fields = prefix.find_first_of("ft") != prefix.npos;
  if (fields && inside.find_first_of("{}") != inside.npos) return std::nullopt;
  PythonText reader{inside, prefix.find('b') != prefix.npos};
  if (!reader.read(prefix.find('r') != prefix.npos)) return std::nullopt;
  return PythonPiece{std::move(reader.out), reader.bytes};
}

std::string in_quotes(const PythonPiece& piece) {
  std::string out = piece.bytes ? "b\"" : "\"";
  for (char c : piece.value) {
    auto byte = static_cast<unsigned char>(c);
    bool escaped = byte < 0x20 || byte == 0x7F || (piece.bytes && byte >= 0x80);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (escaped)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

// Numbers

std::optional<std::string> integer(std::string digits) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && !ascii::is_digit(digits[1])) {
    base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : digits[1] == 'b' ? 2 : 0;
    digits.erase(0, 2);
  }
  if (base == 0) return std::nullopt;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::to_string(value);
}

std::optional<std::string> one_number(std::string_view token) {
  auto digits = text::lower(text::replace_all(std::string(token), "_", ""));
  if (auto whole = integer(digits)) return whole;
  bool decimal = digits.find_first_not_of("0123456789.e+-") == digits.npos && digits.find_first_of(".e") != digits.npos;
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!decimal || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  auto out = fmt::format("{}", value);
  return out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

// Values

class LiteralReader {
public:
  explicit LiteralReader(PythonTokens tokens) : rest_(tokens) {}

  std::optional<PythonLiteral> read() {
    auto value = next(0);
    if (!value || rest_.empty()) return value;
    if (!is_sign(",")) return std::nullopt;
    std::vector<std::string> items{std::move(value->text)}; // a tuple without parentheses
    while (is_sign(",")) {
      rest_ = rest_.subspan(1);
      if (rest_.empty()) break;
      auto item = next(0);
      if (!item) return std::nullopt;
      items.push_back(std::move(item->text));
    }
    if (!rest_.empty()) return std::nullopt;
    return list(std::move(items), false);
  }

private:
  bool is_sign(std::string_view sign) const {
    return !rest_.empty() && rest_[0].kind == PythonToken::Kind::sign && rest_[0].text == sign;
  }

  static PythonLiteral list(std::vector<std::string> items, bool square) {
    auto inside = text::join(items, ", ");
    auto text = square ? "[" + inside + "]" : "(" + inside + (items.size() == 1 ? ",)" : ")");
    return {std::move(text), std::move(items)};
  }

  std::optional<PythonLiteral> next(unsigned depth) {
    if (rest_.empty() || depth > k_nested_max) return std::nullopt;
    auto token = rest_[0];
    if (token.kind == PythonToken::Kind::text) return texts();
    rest_ = rest_.subspan(1);
    if (token.kind == PythonToken::Kind::number) return plain(one_number(token.text));
    if (token.kind == PythonToken::Kind::word) {
      bool known = token.text == "None" || token.text == "True" || token.text == "False";
      return known ? plain(std::string(token.text)) : std::nullopt;
    }
    if (token.text == "[" || token.text == "(") return bracket(token.text == "[", depth);
    bool sign = (token.text == "-" || token.text == "+") && !rest_.empty();
    if (!sign || rest_[0].kind != PythonToken::Kind::number) return std::nullopt;
    auto number = one_number(rest_[0].text);
    rest_ = rest_.subspan(1);
    if (number && token.text == "-" && *number != "0") number->insert(0, "-");
    return plain(std::move(number));
  }

  static std::optional<PythonLiteral> plain(std::optional<std::string> text) {
    if (!text) return std::nullopt;
    return PythonLiteral{std::move(*text)};
  }

  /// Texts one behind the other are one.
  std::optional<PythonLiteral> texts() {
    std::optional<PythonPiece> all;
    for (; !rest_.empty() && rest_[0].kind == PythonToken::Kind::text; rest_ = rest_.subspan(1)) {
      auto piece = one_text(rest_[0].text);
      if (!piece || (all && all->bytes != piece->bytes)) return std::nullopt;
      if (all)
        all->value += piece->value;
      else
        all = std::move(piece);
    }
    return PythonLiteral{in_quotes(*all)};
  }

  std::optional<PythonLiteral> bracket(bool square, unsigned depth) {
    std::vector<PythonLiteral> found;
    bool comma = false;
    const std::string_view close = square ? "]" : ")";
    while (!is_sign(close)) {
      if (!found.empty() && !comma) return std::nullopt;
      auto item = next(depth + 1);
      if (!item) return std::nullopt;
      found.push_back(std::move(*item));
      comma = is_sign(",");
      if (comma) rest_ = rest_.subspan(1);
    }
    rest_ = rest_.subspan(1);
    if (!square && found.size() == 1 && !comma) return std::move(found[0]); // parentheses around a value
    std::vector<std::string> items;
    for (auto& item : found) items.push_back(std::move(item.text));
    return list(std::move(items), square);
  }

  PythonTokens rest_;
};
} // namespace

std::optional<PythonLiteral> read_python_literal(PythonTokens tokens) { return LiteralReader(tokens).read(); }

std::string python_source(PythonTokens tokens) {
  std::string out;
  for (const auto& token : tokens) {
    if (!out.empty()) out += ' ';
    out += token.text;
  }
  return out;
}

} // namespace quarry::inspect
