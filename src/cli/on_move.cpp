#include "cli/on_move.hpp"

#include "base/json.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "venv/environment.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_hook_deadline_ms = 600'000;
constexpr std::uint64_t k_hook_output_max = 1u << 20;
constexpr std::size_t k_hook_lines_shown = 5;

/// nullopt: it ended with 0. Else why it failed, with the last lines that it printed.
Result<std::optional<std::string>> run_hook(const Context& context, const std::string& command,
                                            const std::string& file) {
  sys::ProcessSpec spec;
  // The shell opens the file, so that the command reads it as its standard input.
  spec.argv = {"sh", "-c", "exec <\"$QUARRY_MOVE_FILE\"\nunset QUARRY_MOVE_FILE\n" + command};
  spec.environment = venv::clean_variables(context.environment);
  spec.environment["QUARRY_MOVE_FILE"] = file;
  spec.deadline_ms = k_hook_deadline_ms;
  spec.capture_bytes_max = k_hook_output_max;
  spec.merge_stderr = true;
  TRY(auto done, sys::run_process(spec), "while running --on-move");
  redact::Redactor redactor(context.environment);
  auto said = text::join(venv::last_lines(done.out, k_hook_lines_shown), " | ");
  if (done.exit_code == 0) {
    if (!said.empty()) context.out.note("on-move     " + redactor.apply(said));
    return std::optional<std::string>();
  }
  auto why = done.timed_out ? std::string("it did not end within ten minutes")
                            : fmt::format("it ended with {}", done.exit_code);
  return std::optional(redactor.apply(said.empty() ? why : why + ": " + said));
}

} // namespace

Flag on_move_flag() {
  return {.name = "--on-move",
          .value = "COMMAND",
          .help = "tell this command of sh what has moved: JSON on its standard input",
          .repeats = true};
}

Result<int> tell_what_moved(Context& context, const Arguments& arguments, const store::ObjectReader& store,
                            const Moved& moved) {
  auto commands = arguments.list("--on-move");
  if (commands.empty()) return 0;
  TRY(auto scratch, Scratch::make(context));
  auto file = path::join(scratch.path(), "move.json");
  Json document{{"schema", "quarry.move/1"},
                {"action", moved.action},
                {"store", redact::without_credentials(store.describe())},
                {"who", who(context)},
                {"move", moved.document}};
  TRY_DO(sys::write_file(file, json::pretty(document)));
  int code = 0;
  for (const auto& command : commands) {
    auto failed = run_hook(context, command, file);
    if (!failed && failed.error().kind == ErrorKind::cancelled) return fail(std::move(failed).error());
    if (failed && !*failed) continue;
    auto why = failed ? **failed : failed.error().message;
    code = 1;
    Finding finding{"O300", Severity::error, "--on-move",
                    fmt::format("`{}` failed, and the move stays: {}", command, why),
                    "run it again by hand; what has moved is in `quarry channel log`"};
    context.out.findings({finding});
    if (context.out.json()) context.out.warn(fmt::format("error[{}]: {}", finding.code, finding.message));
  }
  return code;
}

void tell_before_error(Context& context, const Arguments& arguments, const store::ObjectReader& store,
                       const Moved& moved) {
  auto told = tell_what_moved(context, arguments, store, moved);
  if (!told) context.out.warn(fmt::format("--on-move: {}", told.error().message));
}

} // namespace quarry::cli
