#include "workflow/values.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace quarry::workflow {

namespace {
constexpr int k_no_job = -2;           // of an input
constexpr int k_caller_depth_max = 10; // GitHub's own bound of nested calls

Emptiness worst(Emptiness a, Emptiness b) {
  if (a == Emptiness::happens || b == Emptiness::happens) return Emptiness::happens;
  if (a == Emptiness::unknown || b == Emptiness::unknown) return Emptiness::unknown;
  return std::max(a, b);
}

/// Empty only when both are.
Emptiness both(Emptiness a, Emptiness b) {
  if (a == Emptiness::never || b == Emptiness::never) return Emptiness::never;
  if (a == Emptiness::unknown || b == Emptiness::unknown) return Emptiness::unknown;
  return std::min(a, b);
}

class Judge {
public:
  explicit Judge(const Repository& repository) : repository_(repository) {}

  Emptiness text(const File& file, int job, std::string_view text, int depth) {
    auto trimmed = text::trim(text);
    if (trimmed.empty()) return Emptiness::happens;
    auto all = Emptiness::happens; // empty only when every part is
    for (const auto& piece : split_template(trimmed)) {
      if (!piece.is_expression) return Emptiness::never;
      auto parsed = parse_expression(piece.text);
      if (!parsed.expression) return Emptiness::unknown;
      all = both(all, expression(file, job, *parsed.expression, depth));
    }
    return all;
  }

private:
  Emptiness expression(const File& file, int job, const Expression& value, int depth) {
    using Kind = Expression::Kind;
    if (value.kind == Kind::literal)
      return value.text.empty() || value.text == "false" ? Emptiness::happens : Emptiness::never;
    if (value.kind == Kind::binary && value.text == "||")
      return both(expression(file, job, value.parts[0], depth), expression(file, job, value.parts[1], depth));
    if (value.kind == Kind::name) return name(file, job, value.path, depth);
    return Emptiness::unknown;
  }

  Emptiness name(const File& file, int job, const std::vector<std::string>& path, int depth) {
    auto context = text::lower(path[0]);
    if (context == "github" || context == "runner") return path.size() == 2 ? Emptiness::never : Emptiness::unknown;
    if (context == "matrix" && path.size() == 2)
      return once({&file, job, path[1], depth}, [&] { return matrix(file, job, path[1], depth); });
    if (context == "inputs" && path.size() == 2)
      return once({&file, k_no_job, path[1], depth}, [&] { return input(file, path[1], depth); });
    return Emptiness::unknown;
  }

  /// Judges an input (without a job) or a column of a job's matrix once: calls would be followed along every path.
  template <class Find> Emptiness once(std::tuple<const File*, int, std::string, int> key, const Find& find) {
    if (auto known = known_.find(key); known != known_.end()) return known->second;
    auto found = find();
    known_.emplace(std::move(key), found);
    return found;
  }

  Emptiness matrix(const File& file, int job, const std::string& key, int depth) {
    if (job < 0 || depth >= k_caller_depth_max) return Emptiness::unknown;
    const auto* values = file.jobs[static_cast<std::size_t>(job)].matrix();
    const auto* column = values ? values->find(key) : nullptr;
    if (!column || !column->is_sequence()) return Emptiness::unknown;
    auto all = Emptiness::never;
    for (const auto& item : column->items)
      all = worst(all, item.is_scalar() ? text(file, job, item.text, depth + 1) : Emptiness::unknown);
    return all;
  }

  Emptiness input(const File& file, const std::string& name, int depth) {
    auto all = Emptiness::never;
    bool known = false;
    if (file.dispatch)
      if (const auto* input = file.dispatch->find(name)) {
        known = true;
        bool set = input->fallback && !input->fallback->empty();
        bool chosen = input->type == "choice" || input->type == "boolean" || input->type == "number";
        if (!set && !input->required && !chosen) all = worst(all, Emptiness::happens);
        // The form of a required input refuses an empty text; others may be cleared.
        if (set && !input->required && !chosen) all = worst(all, Emptiness::allowed);
      }
    if (file.call)
      if (const auto* input = file.call->find(name)) {
        known = true;
        all = worst(all, from_callers(file, *input, depth));
      }
    return known ? all : Emptiness::unknown;
  }

  /// Over all calls in this repository; without any, what the declaration allows.
  Emptiness from_callers(const File& file, const Input& input, int depth) {
    bool set = input.fallback && !input.fallback->empty();
    auto unset = set ? Emptiness::never : input.required ? Emptiness::allowed : Emptiness::happens;
    if (depth >= k_caller_depth_max) return Emptiness::unknown;
    auto all = Emptiness::never;
    bool called = false;
    for (const auto& caller : repository_.files)
      for (const auto& call : caller->calls) {
        if (call.kind != Call::Kind::workflow || call.file != file.path) continue;
        called = true;
        const auto* argument = call.find(input.name);
        all = worst(all, argument ? text(*caller, call.job, argument->value, depth + 1) : unset);
      }
    return called ? std::max(all, Emptiness::allowed) : unset == Emptiness::happens ? unset : Emptiness::allowed;
  }

  const Repository& repository_;
  std::map<std::tuple<const File*, int, std::string, int>, Emptiness> known_;
};
} // namespace

Emptiness emptiness(const Repository& repository, const File& file, int job, std::string_view text) {
  return Judge(repository).text(file, job, text, 0);
}

namespace {
class Constants {
public:
  explicit Constants(const Repository& repository) : repository_(repository) {}

  std::vector<Constant> found;

  void text(const File& file, int job, const Scalar& scalar, int depth = 0) {
    if (!seen_.emplace(&file, job, scalar.at.line, scalar.at.column, depth).second) return;
    auto trimmed = text::trim(scalar.text);
    if (auto whole = only_expression(trimmed)) return expression({file, job, scalar.at}, *whole, depth);
    if (!is_dynamic(trimmed)) add(file, scalar.at, std::string(trimmed));
  }

private:
  struct Place {
    const File& file;
    int job;
    Position at;
  };

  void add(const File& file, Position at, std::string text) {
    auto same = [&](const Constant& one) {
      return one.file == &file && one.at.line == at.line && one.at.column == at.column && one.text == text;
    };
    if (!text.empty() && std::none_of(found.begin(), found.end(), same)) found.push_back({&file, at, std::move(text)});
  }

  void expression(const Place& place, const Expression& value, int depth) {
    using Kind = Expression::Kind;
    if (depth >= k_caller_depth_max) return;
    if (value.kind == Kind::literal) return add(place.file, place.at, value.text);
    if (value.kind == Kind::binary && value.text == "||")
      for (const auto& part : value.parts) expression(place, part, depth + 1);
    if (value.kind != Kind::name || value.path.size() != 2) return;
    if (same_name(value.path[0], "matrix")) matrix(place, value.path[1], depth);
    if (same_name(value.path[0], "inputs")) input(place.file, value.path[1], depth);
  }

  void matrix(const Place& place, const std::string& key, int depth) {
    if (place.job < 0) return;
    const auto* values = place.file.jobs[static_cast<std::size_t>(place.job)].matrix();
    if (!values) return;
    auto scalar = [&](const Node& node) {
      if (node.is_scalar()) text(place.file, place.job, {node.at, node.text}, depth + 1);
    };
    if (const auto* column = values->find(key))
      for (const auto& item : column->items) scalar(item);
    if (const auto* include = values->find("include"))
      for (const auto& row : include->items)
        if (const auto* cell = row.find(key)) scalar(*cell);
  }

  void input(const File& file, const std::string& name, int depth) {
    for (const auto* entry : {&file.dispatch, &file.call}) {
      const auto* input = *entry ? (*entry)->find(name) : nullptr;
      if (!input) continue;
      add(file, input->at, input->fallback.value_or(""));
      for (const auto& option : input->options) add(file, input->at, option);
    }
    for (const auto& caller : repository_.files)
      for (const auto& call : caller->calls)
        if (const auto* argument = call.file == file.path ? call.find(name) : nullptr)
          text(*caller, call.job, {argument->at, argument->value}, depth + 1);
  }

  const Repository& repository_;
  /// What was looked at, each once: many calls that pass one input would be followed along every path.
  std::set<std::tuple<const File*, int, std::uint32_t, std::uint32_t, int>> seen_;
};
} // namespace

std::vector<Constant> constants(const Repository& repository, const File& file, int job, const Scalar& scalar) {
  Constants all(repository);
  all.text(file, job, scalar);
  return std::move(all.found);
}

std::string canonical(std::string_view text) {
  std::string shown;
  for (const auto& piece : split_template(text::trim(text))) {
    if (!piece.is_expression) {
      shown += piece.text;
      continue;
    }
    bool quoted = false;
    shown += "${{";
    for (char c : piece.text) {
      if (c == '\'') quoted = !quoted;
      if (quoted)
        shown += c;
      else if (c != ' ' && c != '\t' && c != '\n')
        shown += ascii::is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    shown += "}}";
  }
  return shown;
}

bool is_dynamic(std::string_view text) { return text.find('$') != text.npos; }

namespace {
void names_in(const Expression& value, std::vector<std::string>& names) {
  const auto& path = value.path;
  if (value.kind == Expression::Kind::name && path.size() >= 2 && same_name(path[0], "inputs"))
    names.push_back(path[1]);
  if (value.kind == Expression::Kind::name && path.size() == 4 && same_name(path[2], "inputs"))
    names.push_back(path[3]);
  for (const auto& part : value.parts) names_in(part, names);
}
} // namespace

std::string_view from_line(std::string_view text, std::uint32_t line) {
  for (; line > 1 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::vector<std::string> inputs_needed_by(const Node& job_or_step) {
  auto text = job_or_step.text_at("if");
  auto condition = only_expression(text);
  if (!condition && text.find("${{") == std::string::npos) condition = parse_expression(text).expression;
  std::vector<std::string> names;
  if (condition) needed_inputs(*condition, names);
  return names;
}

std::vector<std::string> inputs_in(std::string_view text) {
  std::vector<std::string> names;
  if (text.find("${{") == text.npos) return names;
  for (const auto& piece : split_template(text)) {
    if (!piece.is_expression) continue;
    auto parsed = parse_expression(piece.text);
    if (parsed.expression) names_in(*parsed.expression, names);
  }
  return names;
}

} // namespace quarry::workflow
