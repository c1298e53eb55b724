// Deadlines, matrices of one.
#include "base/text.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {

void check_deadline(const Rules& rules, const File& file, const Job& job) {
  if (!job.uses.empty() || job.node->find("timeout-minutes") || job.steps.empty()) return;
  auto without = std::count_if(job.steps.begin(), job.steps.end(),
                               [](const Step& step) { return !step.node->find("timeout-minutes"); });
  if (without == 0) return;
  rules.add(file, job.at, "Y134", Severity::warning,
            fmt::format("job `{}` has no `timeout-minutes`, nor have {} of its {} steps: a hang holds the machine for "
                        "6 hours, or 5 days on a machine of your own",
                        job.id, without, job.steps.size()),
            "add `timeout-minutes` to the job: twice what it takes on a slow day");
}

/// Whether a line of the job takes the matrix as a whole, so that its values cannot stand there directly.
bool takes_whole_matrix(const File& file, const Job& job) {
  auto own = from_line(file.text, job.at.line);
  std::size_t behind = 0; // bytes of the jobs that follow
  for (const auto& other : file.jobs)
    if (other.at.line > job.at.line) behind = std::max(behind, from_line(file.text, other.at.line).size());
  auto lines = text::lower(own.substr(0, own.size() - behind));
  std::erase(lines, ' ');
  return lines.find("tojson(matrix)") != std::string::npos;
}

void check_matrix_of_one(const Rules& rules, const File& file, const Job& job) {
  if (!job.has_matrix || job.dynamic_matrix || job.legs != 1 || takes_whole_matrix(file, job)) return;
  rules.add(file, job.at, "Y138", Severity::warning,
            fmt::format("the matrix of job `{}` has one combination: a level that saves nothing yet", job.id),
            "pass the values directly until there is a second one");
}

} // namespace

std::string step_name(const File& file, int job, int step) {
  const auto& one = file.jobs[static_cast<std::size_t>(job)];
  auto label = fmt::format("step `{}`", one.steps[static_cast<std::size_t>(step)].label);
  return file.action ? label : fmt::format("job `{}`, {}", one.id, label); // an action has no jobs
}

void check_steps(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (std::size_t j = 0; j < file->jobs.size(); ++j) {
      const auto& job = file->jobs[j];
      if (!file->action) check_deadline(rules, *file, job);
      check_matrix_of_one(rules, *file, job);
    }
}

} // namespace quarry::workflow
