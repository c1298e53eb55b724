#include "workflow/changes.hpp"

#include "base/text.hpp"
#include "workflow/model.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::workflow {

namespace {
using ChangeKind = Change::Kind;
using What = Change::What;
constexpr std::size_t k_repetitions_max = 1'000'000;

const Node* called_part(const File& file, std::string_view part) {
  const auto* on = file.root.find("on");
  const auto* call = on ? on->find("workflow_call") : nullptr;
  return call ? call->find(part) : nullptr;
}

/// A value as YAML writes it in one line: `{os: linux, gpus: [a, b]}`.
std::string flow_text(const Node& node) {
  if (node.is_scalar()) return node.text;
  std::vector<std::string> parts;
  for (const auto& item : node.items) parts.push_back(flow_text(item));
  for (const auto& member : node.members) parts.push_back(member.key + ": " + flow_text(member.value));
  return node.is_sequence() ? "[" + text::join(parts, ", ") + "]" : "{" + text::join(parts, ", ") + "}";
}

std::string values_of(const Node& column) {
  std::vector<std::string> values;
  for (const auto& item : column.items) values.push_back(flow_text(item));
  return column.is_scalar() ? column.text : text::join(values, ", ");
}

/// At commas outside of brackets: the reverse of values_of.
std::vector<std::string> split_values(std::string_view values) {
  std::vector<std::string> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at] == '{' || values[at] == '[') ++depth;
    if (values[at] == '}' || values[at] == ']') --depth;
    if (depth > 0 || !values.substr(at).starts_with(", ")) continue;
    found.emplace_back(values.substr(begin, at - begin));
    begin = at + 2;
  }
  if (begin < values.size()) found.emplace_back(values.substr(begin));
  return found;
}

/// The values of `some` that `others` lacks, in back quotes; at most three.
std::string values_without(const std::string& some, const std::string& others) {
  auto list = split_values(others);
  std::set<std::string> known(list.begin(), list.end());
  std::vector<std::string> found;
  for (const auto& value : split_values(some))
    if (!known.contains(value)) found.push_back("`" + value + "`");
  return text::first(found, 3);
}

constexpr std::size_t k_values_shown = 100; // characters of both sides that a line holds

/// What a matrix key with long values gains and loses.
std::string value_changes(const Change& change) {
  auto more = values_without(change.after, change.before), fewer = values_without(change.before, change.after);
  if (more.empty() && fewer.empty()) return "order or number of its values differs";
  if (fewer.empty()) return "gains " + more;
  return more.empty() ? "loses " + fewer : fmt::format("gains {}; loses {}", more, fewer);
}

const std::string& job_of(const File& file, const Call& call) {
  return file.jobs[static_cast<std::size_t>(call.job)].id;
}

bool same_arguments(const Call& a, const Call& b) {
  if (a.arguments.size() != b.arguments.size()) return false;
  return std::all_of(a.arguments.begin(), a.arguments.end(), [&](const auto& argument) {
    const auto* other = b.find(argument.name);
    return other && canonical(other->value) == canonical(argument.value);
  });
}

/// The calls of the old state by those of the new one: same target, job and arguments, else the same target and job
/// in their order, else the only one left with this target. A job may dispatch one workflow twice, for rpm and deb.
std::map<const Call*, const Call*> partners(const File& before, const File& after) {
  std::map<const Call*, const Call*> found;
  std::set<const Call*> taken;
  auto pair_up = [&](auto fits) {
    for (const auto& now : after.calls) {
      if (found.contains(&now)) continue;
      for (const auto& old : before.calls) {
        bool same = old.target == now.target && old.kind == now.kind && !taken.contains(&old);
        if (!same || !fits(old, now)) continue;
        found[&now] = &old;
        taken.insert(&old);
        break;
      }
    }
  };
  auto same_job = [&](const Call& old, const Call& now) { return job_of(before, old) == job_of(after, now); };
  pair_up([&](const Call& old, const Call& now) { return same_job(old, now) && same_arguments(old, now); });
  pair_up(same_job);
  auto left = [](const File& file, const Call& call, const auto& is_taken) {
    return std::count_if(file.calls.begin(), file.calls.end(), [&](const Call& one) {
      return one.target == call.target && one.kind == call.kind && !is_taken(one);
    });
  };
  pair_up([&](const Call& old, const Call& now) {
    return left(before, old, [&](const Call& one) { return taken.contains(&one); }) == 1 &&
           left(after, now, [&](const Call& one) { return found.contains(&one); }) == 1;
  });
  return found;
}

class Comparer {
public:
  Comparer(const File& before, const File& after, Changes& changes)
      : before_(before), after_(after), changes_(changes) {}

  void compare() {
    entry(before_.call, after_.call, before_.action ? "the action" : "workflow_call");
    entry(before_.dispatch, after_.dispatch, "workflow_dispatch");
    names(called_part(before_, "outputs"), called_part(after_, "outputs"), ChangeKind::output);
    names(called_part(before_, "secrets"), called_part(after_, "secrets"), ChangeKind::secret);
    calls();
    matrices();
    fallbacks();
  }

private:
  Change& add(ChangeKind kind, What what, Position at, std::string name, std::string where) {
    changes_.list.push_back({kind, what, after_.path, at, std::move(name), std::move(where), {}, {}, {}});
    return changes_.list.back();
  }
  void changed(ChangeKind kind, Position at, const std::string& name, const std::string& where, std::string detail,
               std::string before, std::string after) {
    if (before == after) return;
    auto& change = add(kind, What::changed, at, name, where);
    change.detail = std::move(detail);
    change.before = std::move(before);
    change.after = std::move(after);
  }

  void entry(const std::optional<Entry>& before, const std::optional<Entry>& after, const std::string& where) {
    static const Entry k_none;
    const auto& old = before ? *before : k_none;
    const auto& now = after ? *after : k_none;
    for (const auto& input : now.inputs) {
      const auto* was = old.find(input.name);
      if (!was) {
        add(ChangeKind::input, What::added, input.at, input.name, where).after = input.fallback.value_or("");
        continue;
      }
      changed(ChangeKind::input, input.at, input.name, where, "default", was->fallback.value_or(""),
              input.fallback.value_or(""));
      changed(ChangeKind::input, input.at, input.name, where, "type", was->type, input.type);
      changed(ChangeKind::input, input.at, input.name, where, "options", text::join(was->options, ", "),
              text::join(input.options, ", "));
      changed(ChangeKind::input, input.at, input.name, where, "required", was->required ? "true" : "false",
              input.required ? "true" : "false");
    }
    for (const auto& input : old.inputs)
      if (!now.find(input.name)) add(ChangeKind::input, What::removed, {1, 1}, input.name, where);
  }

  void names(const Node* before, const Node* after, ChangeKind kind) {
    static const Node k_none;
    const auto& old = before ? *before : k_none;
    const auto& now = after ? *after : k_none;
    for (const auto& one : now.members)
      if (!old.find(one.key)) add(kind, What::added, one.at, one.key, "workflow_call");
    for (const auto& one : old.members)
      if (!now.find(one.key)) add(kind, What::removed, {1, 1}, one.key, "workflow_call");
  }

  static std::string where_of(const File& file, const Call& call) {
    return fmt::format("{} of {} in job `{}`", call.kind == Call::Kind::dispatch ? "dispatch" : "call", call.target,
                       file.jobs[static_cast<std::size_t>(call.job)].id);
  }

  void calls() {
    auto pairs = partners(before_, after_);
    std::set<const Call*> kept;
    for (const auto& call : after_.calls) {
      auto pair = pairs.find(&call);
      auto where = where_of(after_, call);
      const auto* was = pair == pairs.end() ? nullptr : pair->second;
      kept.insert(was);
      if (!was) {
        add(ChangeKind::call, What::added, call.at, call.target, where);
        continue;
      }
      for (const auto& argument : call.arguments) {
        const auto* old = was->find(argument.name);
        if (old)
          changed(ChangeKind::argument, argument.at, argument.name, where, "value", canonical(old->value),
                  canonical(argument.value));
        else
          add(ChangeKind::argument, What::added, argument.at, argument.name, where).after = argument.value;
      }
      for (const auto& argument : was->arguments)
        if (!call.find(argument.name)) add(ChangeKind::argument, What::removed, call.at, argument.name, where);
    }
    for (const auto& call : before_.calls)
      if (!kept.contains(&call)) add(ChangeKind::call, What::removed, {1, 1}, call.target, where_of(before_, call));
  }

  void matrices() {
    for (const auto& job : after_.jobs) {
      const auto* was = before_.job(job.id);
      const auto* now = job.matrix();
      const auto* old = was ? was->matrix() : nullptr;
      if (!was || (!now && !old)) continue;
      Growth growth{after_.path, job.id, job.at, was->legs, job.legs, {}};
      static const Node k_none;
      for (const auto& column : (now ? *now : k_none).members) {
        const auto* before = old ? old->find(column.key) : nullptr;
        changed(ChangeKind::matrix, column.at, column.key, fmt::format("job `{}`", job.id), "values",
                before ? values_of(*before) : "", values_of(column.value));
        for (const auto& item : column.value.items) {
          auto same = [&](const Node& one) { return one.text == item.text; };
          bool known = before && std::any_of(before->items.begin(), before->items.end(), same);
          if (item.is_scalar() && !known) growth.new_values.push_back(item.text);
        }
      }
      if (growth.before != growth.after && !job.dynamic_matrix) changes_.growths.push_back(std::move(growth));
    }
  }

  static bool has_constant_fallback(std::string_view text) {
    return text.find("||") != text.npos && text.find('\'') != text.npos;
  }

  void fallbacks() {
    auto now = checkouts_of(after_);
    for (const auto& old : checkouts_of(before_)) {
      if (!has_constant_fallback(old.ref)) continue;
      for (const auto& one : now) {
        bool same =
            text::lower(one.repository) == text::lower(old.repository) &&
            after_.jobs[static_cast<std::size_t>(one.job)].id == before_.jobs[static_cast<std::size_t>(old.job)].id;
        if (!same || !one.has_ref || one.ref.find("||") != std::string::npos || !is_dynamic(one.ref)) continue;
        auto& change = add(ChangeKind::fallback, What::removed, one.ref_at, one.repository, "checkout");
        change.before = old.ref;
        change.after = one.ref;
        break;
      }
    }
  }

  const File& before_;
  const File& after_;
  Changes& changes_;
};

std::string_view kind_name(ChangeKind kind) {
  switch (kind) {
  case ChangeKind::input: return "input";
  case ChangeKind::output: return "output";
  case ChangeKind::secret: return "secret";
  case ChangeKind::argument: return "argument";
  case ChangeKind::call: return "target";
  case ChangeKind::matrix: return "matrix key";
  case ChangeKind::fallback: return "fallback of the ref of";
  default: return "file";
  }
}
} // namespace

std::string sentence(const Change& change) {
  auto subject =
      change.kind == ChangeKind::file ? change.name : fmt::format("{} `{}`", kind_name(change.kind), change.name);
  if (change.kind == ChangeKind::call)
    subject = change.where; // which names the target
  else if (!change.where.empty())
    subject += fmt::format(" ({})", change.where);
  if (change.what != What::changed) return subject + (change.what == What::added ? " added" : " removed");
  if (change.kind == ChangeKind::matrix && change.before.size() + change.after.size() > k_values_shown)
    return fmt::format("{}: {}", subject, value_changes(change));
  auto shown = [](const std::string& value) { return value.empty() ? std::string("empty") : "`" + value + "`"; };
  return fmt::format("{}: {} {} is now {}", subject, change.detail, shown(change.before), shown(change.after));
}

Changes compare(const Repository& before, const Repository& after) {
  Changes changes;
  // An action that no workflow uses any more, or yet, is not read, and it is there all the same.
  auto is_in = [](const Repository& state, const std::string& path) { return state.tree && state.tree->exists(path); };
  for (const auto& file : after.files) {
    const auto* was = before.find(file->path);
    if (was && (!was->readable || !file->readable)) continue; // it is reported, and nothing can be said of it
    if (was)
      Comparer(*was, *file, changes).compare();
    else if (!is_in(before, file->path))
      changes.list.push_back({ChangeKind::file, What::added, file->path, {1, 1}, file->basename(), {}, {}, {}, {}});
  }
  for (const auto& file : before.files)
    if (!after.find(file->path) && !is_in(after, file->path))
      changes.list.push_back({ChangeKind::file, What::removed, file->path, {}, file->basename(), {}, {}, {}, {}});
  return changes;
}

std::map<std::string, std::size_t> repetitions(const Repository& repository) {
  std::map<std::string, std::size_t> counts;
  for (const auto& file : repository.files) counts[file->path] = 1;
  for (std::size_t level = 0; level < k_levels_max; ++level)
    for (const auto& file : repository.files)
      for (const auto& call : file->calls) {
        if (call.file.empty() || call.file == file->path) continue;
        const auto& job = file->jobs[static_cast<std::size_t>(call.job)];
        auto runs = counts[file->path] * (job.dynamic_matrix ? 1 : job.legs);
        counts[call.file] = std::min(std::max(counts[call.file], runs), k_repetitions_max);
      }
  return counts;
}

} // namespace quarry::workflow
