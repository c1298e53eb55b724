// Every place where an expression reads a context.
#include "base/text.hpp"
#include "workflow/model_parts.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {

/// Contexts whose names of properties are kept as written; GitHub's own are lower case.
std::vector<std::string> normal_path(const std::vector<std::string>& path) {
  auto made = path;
  if (!made.empty()) made[0] = text::lower(made[0]);
  return made;
}

/// What a message shows of an expression: its begin tells which one it is.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t k_shown = 80;
  if (text.size() <= k_shown) return std::string(text);
  text = text.substr(0, k_shown);
  return std::string(text.substr(0, text::utf8_prefix(text))) + "…";
}

struct Where {
  int job = -1, step = -1;
};

class Walker {
public:
  Walker(File& file, std::vector<Located>& defects) : file_(file), defects_(defects) {}

  void file() {
    for (const auto& member : file_.root.members)
      if (member.key != "jobs" && !(file_.action && member.key == "runs"))
        slot(member.value, {-1, -1}, member.key, false);
    for (std::size_t j = 0; j < file_.jobs.size(); ++j) job(file_.jobs[j], static_cast<int>(j));
  }

private:
  void job(const Job& job, int index) {
    for (const auto& member : job.node->members)
      if (member.key != "steps") slot(member.value, {index, -1}, member.key, member.key == "if");
    for (std::size_t s = 0; s < job.steps.size(); ++s)
      for (const auto& member : job.steps[s].node->members)
        slot(member.value, {index, static_cast<int>(s)}, member.key, member.key == "if");
  }

  void slot(const Node& value, const Where& where, std::string_view key, bool bare) {
    slot_ = key;
    node(value, where, bare);
  }

  void node(const Node& value, const Where& where, bool bare) {
    for (const auto& item : value.items) node(item, where, false);
    for (const auto& member : value.members) {
      auto outer = slot_.size();
      slot_.append(1, '.').append(member.key);
      node(member.value, where, false);
      slot_.resize(outer);
    }
    if (!value.is_scalar() || value.text.empty()) return;
    bool braces = value.text.find("${{") != std::string::npos;
    Positions places(value);
    if (bare && !braces) piece(places, value.text, 0, where); // an `if` needs no braces
    if (!braces) return;
    for (const auto& part : split_template(value.text))
      if (part.is_expression) piece(places, part.text, part.offset, where);
  }

  void piece(Positions& places, std::string_view text, std::size_t offset, const Where& where) {
    auto parsed = parse_expression(text);
    if (parsed.expression) {
      expression(*parsed.expression, places, offset, where, false);
      return;
    }
    defects_.push_back(
        {file_.path, places.at(offset + parsed.error.offset), "Y104", Severity::error,
         fmt::format("the expression `{}` cannot be parsed: {}", beginning_of(text::trim(text)), parsed.error.message),
         "correct it; actionlint explains GitHub's expression language"});
  }

  void add(const Expression& name, Positions& places, std::size_t offset, const Where& where, bool fallback,
           bool whole) {
    Read read;
    read.path = normal_path(name.path);
    read.at = places.at(offset + name.offset);
    bool guarded = read.path.size() > 1 && read.path[0] == "inputs" &&
                   std::any_of(guarded_.begin(), guarded_.end(),
                               [&](const std::string& input) { return same_name(input, read.path[1]); });
    read.has_fallback = fallback || guarded;
    read.job = where.job;
    read.step = where.step;
    read.slot = slot_;
    read.whole = whole || read.path.size() == 1 || read.path.back() == "*";
    bool inputs =
        read.path[0] == "inputs" || (read.path.size() >= 2 && read.path[0] == "github" && read.path[1] == "event" &&
                                     (read.path.size() == 2 || (read.path.size() == 3 && read.path[2] == "inputs")));
    if (read.whole && inputs) file_.reads_all_inputs = true;
    if (inputs && read.path[0] == "github" && read.path.size() <= 3) file_.reads_all_inputs = true;
    file_.reads.push_back(std::move(read));
  }

  void expression(const Expression& value, Positions& places, std::size_t offset, const Where& where, bool fallback) {
    using Kind = Expression::Kind;
    if (value.kind == Kind::name) add(value, places, offset, where, fallback, false);
    for (std::size_t i = 0; i < value.parts.size(); ++i) {
      const auto& part = value.parts[i];
      if (value.kind == Kind::index && i == 0 && part.kind == Kind::name) {
        add(part, places, offset, where, fallback, true);
        continue;
      }
      bool covered = value.kind == Kind::binary && value.text == "||" && i == 0;
      // A comparison, a negation and a function make something of an empty value that is not empty.
      bool decided = value.kind == Kind::call || value.kind == Kind::unary ||
                     (value.kind == Kind::binary && value.text != "||" && value.text != "&&");
      bool condition = value.kind == Kind::binary && value.text == "&&" && i == 0;
      auto outer = guarded_.size();
      // The right side of `inputs.x && …` is not reached with an empty x.
      if (value.kind == Kind::binary && value.text == "&&" && i == 1) needed_inputs(value.parts[0], guarded_);
      expression(part, places, offset, where, fallback || covered || decided || condition);
      guarded_.resize(outer);
    }
  }

  File& file_;
  std::vector<Located>& defects_;
  std::string slot_;                 ///< of the present value: as Read::slot
  std::vector<std::string> guarded_; ///< inputs that are not empty where the present part of an expression is reached
};
} // namespace

void collect_reads(File& file, std::vector<Located>& defects) { Walker(file, defects).file(); }

} // namespace quarry::workflow
