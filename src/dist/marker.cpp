#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/requirement.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

constexpr std::array<std::string_view, 12> k_variables{
    "python_version",      "python_full_version",    "os_name",
    "sys_platform",        "platform_release",       "platform_system",
    "platform_version",    "platform_machine",       "extra",
    "implementation_name", "implementation_version", "platform_python_implementation"};
/// Compared as versions, where the other side is one.
constexpr std::array<std::string_view, 4> k_version_variables{"implementation_version", "platform_release",
                                                              "python_full_version", "python_version"};

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Operand {
  bool variable = false;
  std::string text;
};

std::string normal(const std::string& extra) {
  auto name = ProjectName::parse(extra);
  return name ? name->str() : extra;
}

/// Strings have no order: packaging lets `<` be false and `<=` be equality.
bool compare_text(const std::string& left, std::string_view op, const std::string& right) {
  if (op == "in") return right.find(left) != right.npos;
  if (op == "not in") return right.find(left) == right.npos;
  if (op == "!=") return left != right;
  return (op == "==" || op == "<=" || op == ">=" || op == "===") && left == right;
}

bool compare(std::string_view variable, const std::string& left, std::string_view op, const std::string& right) {
  if (contains(k_version_variables, variable)) {
    auto specifier = Specifiers::parse(fmt::format("{}{}", op, right));
    auto version = Version::parse(left);
    if (specifier && version) return specifier->contains(*version, true);
  }
  if (variable == "extra") return compare_text(normal(left), op, normal(right));
  return compare_text(left, op, right);
}

/// Reads and evaluates in one pass; both sides of `and` and `or` are always read.
class MarkerReader {
public:
  MarkerReader(std::string_view text, const MarkerEnvironment& environment, std::string_view extra)
      : text_(text), environment_(environment), extra_(extra) {}

  Result<bool> read() {
    TRY(bool value, read_or(0));
    skip();
    if (at_ != text_.size()) return error("something follows it");
    return value;
  }

private:
  Unexpected error(std::string_view why) const {
    return fail(ErrorKind::invalid_argument, "M010", fmt::format("{:?} is not a marker: {}", text_.substr(0, 200), why),
                "write it like python_version < \"3.11\" and sys_platform == \"linux\"");
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string_view word() {
    skip();
    auto begin = at_;
    auto is_word = [](char c) { return ascii::is_letter(c) || c == '_' || c == '.'; };
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool take_word(std::string_view wanted) {
    auto before = at_;
    if (word() == wanted) return true;
    at_ = before;
    return false;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<bool> read_or(int depth) {
    TRY(bool value, read_and(depth));
    while (take_word("or")) {
      TRY(bool next, read_and(depth));
      value = value || next;
    }
    return value;
  }
  Result<bool> read_and(int depth) {
    TRY(bool value, read_one(depth));
    while (take_word("and")) {
      TRY(bool next, read_one(depth));
      value = value && next;
    }
    return value;
  }
  Result<bool> read_one(int depth) {
    if (depth > k_marker_depth_max) return error("its parentheses are nested too deeply");
    if (take('(')) {
      TRY(bool value, read_or(depth + 1));
      if (!take(')')) return error("a parenthesis is not closed");
      return value;
    }
    TRY(auto left, operand());
    TRY(auto op, read_operator());
    TRY(auto right, operand());
    if (left.variable == right.variable) return error("a comparison needs one variable and one text in quotes");
    const auto& variable = left.variable ? left.text : right.text;
    return compare(variable, value_of(left), op, value_of(right));
  }
  std::string value_of(const Operand& operand) const {
    if (!operand.variable) return operand.text;
    if (operand.text == "extra") return std::string(extra_);
    auto found = environment_.find(operand.text);
    return found == environment_.end() ? "" : found->second;
  }
  Result<Operand> operand() {
    skip();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      auto end = text_.find(text_[at_], at_ + 1);
      if (end == text_.npos) return error("a quote is not closed");
      Operand literal{false, std::string(text_.substr(at_ + 1, end - at_ - 1))};
      at_ = end + 1;
      return literal;
    }
    auto name = text::replace_all(word(), ".", "_"); // os.name and sys.platform are old spellings
    if (name == "python_implementation") name = "platform_python_implementation";
    if (!contains(k_variables, name)) return error(fmt::format("{:?} is not a variable", name));
    return Operand{true, std::move(name)};
  }
  Result<std::string> read_operator() {
    skip();
    for (std::string_view op : {"===", "==", "~=", "!=", "<=", ">=", "<", ">"})
      if (text_.substr(at_).starts_with(op)) {
        at_ += op.size();
        return std::string(op);
      }
    if (take_word("in")) return std::string("in");
    if (take_word("not") && take_word("in")) return std::string("not in");
    return error("an operator is missing");
  }

  std::string_view text_;
  const MarkerEnvironment& environment_;
  std::string_view extra_;
  std::size_t at_ = 0;
};

} // namespace

Result<Marker> Marker::parse(std::string_view text) {
  Marker marker;
  marker.text_ = text::trim(text);
  TRY_DO(MarkerReader(marker.text_, {}, {}).read());
  return marker;
}

bool Marker::holds(const MarkerEnvironment& environment, std::string_view extra) const {
  if (text_.empty()) return true;
  auto value = MarkerReader(text_, environment, extra).read();
  return value && *value; // parse() has read it once
}

} // namespace quarry::dist
