#include "workflow/changes.hpp"

#include "base/text.hpp"
#include "workflow/changes_parts.hpp"
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

/// The old call that stood where `now` stands with another target: each is the only one of its job that is left, and
/// they have an argument in common.
const Call* in_its_place(const File& before, const File& after, const Call& now,
                         const std::map<const Call*, const Call*>& pairs) {
  std::set<const Call*> kept;
  for (const auto& [one, old] : pairs) kept.insert(old);
  const Call* found = nullptr;
  for (const auto& old : before.calls) {
    if (kept.contains(&old) || old.kind != now.kind || job_of(before, old) != job_of(after, now)) continue;
    if (found) return nullptr;
    found = &old;
  }
  auto is_another_new_call = [&](const Call& one) {
    return &one != &now && one.kind == now.kind && !pairs.contains(&one) && job_of(after, one) == job_of(after, now);
  };
  auto now_has = [&](const Argument& argument) { return now.find(argument.name) != nullptr; };
  if (!found || std::ranges::any_of(after.calls, is_another_new_call)) return nullptr;
  return std::ranges::any_of(found->arguments, now_has) ? found : nullptr;
}

bool has_constant_fallback(std::string_view text) {
  return text.find("||") != text.npos && text.find('\'') != text.npos;
}

void compare_fallbacks(const File& before, const File& after, Recorder& recorder) {
  auto now = checkouts_of(after);
  for (const auto& old : checkouts_of(before)) {
    if (!has_constant_fallback(old.ref)) continue;
    for (const auto& one : now) {
      bool same = text::lower(one.repository) == text::lower(old.repository) &&
                  after.jobs[static_cast<std::size_t>(one.job)].id == before.jobs[static_cast<std::size_t>(old.job)].id;
      if (!same || !one.has_ref || one.ref.find("||") != std::string::npos || !is_dynamic(one.ref)) continue;
      auto& change = recorder.add(ChangeKind::fallback, What::removed, one.ref_at, one.repository);
      change.where = "checkout";
      change.before = old.ref;
      change.after = one.ref;
      break;
    }
  }
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
    Recorder recorder(after_.path, changes_);
    compare_fallbacks(before_, after_, recorder);
    compare_starts(before_, after_, recorder);
    compare_settings(before_, after_, recorder);
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
        if (const auto* old = in_its_place(before_, after_, call, pairs))
          arguments(*old, call, fmt::format("{}, in place of {}", where, old->target));
        continue;
      }
      arguments(*was, call, where);
    }
    for (const auto& call : before_.calls)
      if (!kept.contains(&call)) add(ChangeKind::call, What::removed, {1, 1}, call.target, where_of(before_, call));
  }

  void arguments(const Call& before, const Call& after, const std::string& where) {
    for (const auto& argument : after.arguments) {
      const auto* old = before.find(argument.name);
      if (old)
        changed(ChangeKind::argument, argument.at, argument.name, where, "value", canonical(old->value),
                canonical(argument.value));
      else
        add(ChangeKind::argument, What::added, argument.at, argument.name, where).after = argument.value;
    }
    for (const auto& argument : before.arguments)
      if (!after.find(argument.name)) add(ChangeKind::argument, What::removed, after.at, argument.name, where);
    dispatched_ref(before, after, where);
  }

  /// Without it, the default branch is dispatched.
  void dispatched_ref(const Call& before, const Call& after, const std::string& where) {
    auto old = canonical(before.ref.value_or("")), now = canonical(after.ref.value_or(""));
    if (old == now || after.kind != Call::Kind::dispatch) return;
    auto what = old.empty() ? What::added : now.empty() ? What::removed : What::changed;
    auto& change = add(ChangeKind::ref, what, after.at, "ref", where);
    change.before = before.ref.value_or("");
    change.after = after.ref.value_or("");
    change.unsaid = old.empty() ? Severity::note : Severity::warning; // other files than before are built
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

  const File& before_;
  const File& after_;
  Changes& changes_;
};

} // namespace

Change& Recorder::add(ChangeKind kind, What what, Position at, std::string name) {
  Change change;
  change.kind = kind;
  change.what = what;
  change.file = file_;
  change.at = at;
  change.name = std::move(name);
  changes_.list.push_back(std::move(change));
  return changes_.list.back();
}

Change* Recorder::value(ChangeKind kind, std::string name, const Spot& spot,
                        std::pair<std::string, std::string> texts) {
  if (canonical(texts.first) == canonical(texts.second)) return nullptr;
  auto what = texts.first.empty() ? What::added : texts.second.empty() ? What::removed : What::changed;
  auto& change = add(kind, what, spot.at, std::move(name));
  change.where = spot.where;
  change.before = std::move(texts.first);
  change.after = std::move(texts.second);
  return &change;
}

void Recorder::keep_gains(std::size_t known) {
  auto& list = changes_.list;
  auto begin = list.begin() + static_cast<std::ptrdiff_t>(known);
  list.erase(std::remove_if(begin, list.end(), [](const Change& one) { return one.unsaid == Severity::note; }),
             list.end());
  for (auto i = known; i < changes_.list.size(); ++i) {
    changes_.list[i].unsaid = Severity::warning;
    changes_.list[i].of_new_job = true;
  }
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
