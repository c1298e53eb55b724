#include "cli/delegate.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/parse.hpp"
#include "cli/resolve.hpp"
#include "cli/settings.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace quarry::cli {

namespace {

class Unshown : public Progress {
public:
  void update(std::uint64_t) override {}
  void finish() override {}
};

/// Keeps the document, passes warnings on, drops the rest.
class Listener : public Output {
public:
  explicit Listener(Output& above) : above_(above) {}
  void data(std::string_view) override {}
  void bytes(std::string_view) override {}
  void note(std::string_view) override {}
  void warn(std::string_view text) override { above_.warn(text); }
  std::string set_schema(std::string schema) override { return std::exchange(schema_, std::move(schema)); }
  void document(const Json& value, bool) override {
    document_ = value;
    if (!value.contains("schema")) document_["schema"] = schema_;
  }
  void findings(const Findings&) override {}
  void trace(std::string_view text) override { above_.trace(text); }
  bool verbose() const override { return above_.verbose(); }
  Look data_look() const override { return {}; }
  Look note_look() const override { return {}; }
  bool json() const override { return true; }
  std::unique_ptr<Progress> progress(std::string, std::uint64_t) override { return std::make_unique<Unshown>(); }
  const Json& heard() const { return document_; }

private:
  Output& above_;
  Json document_;
  std::string schema_;
};

/// Keeps the document, passes everything else on.
class Passing : public Output {
public:
  explicit Passing(Output& above) : above_(above) {}
  void data(std::string_view text) override { above_.data(text); }
  void bytes(std::string_view text) override { above_.bytes(text); }
  void note(std::string_view text) override { above_.note(text); }
  void warn(std::string_view text) override { above_.warn(text); }
  std::string set_schema(std::string schema) override { return std::exchange(schema_, std::move(schema)); }
  void document(const Json& value, bool) override {
    document_ = value;
    if (!value.contains("schema")) document_["schema"] = schema_;
  }
  void findings(const Findings& findings) override { above_.findings(findings); }
  void trace(std::string_view text) override { above_.trace(text); }
  bool verbose() const override { return above_.verbose(); }
  Look data_look() const override { return above_.data_look(); }
  Look note_look() const override { return above_.note_look(); }
  bool json() const override { return above_.json(); }
  std::unique_ptr<Progress> progress(std::string what, std::uint64_t total) override {
    return above_.progress(std::move(what), total);
  }
  const Json& heard() const { return document_; }

private:
  Output& above_;
  Json document_;
  std::string schema_;
};

Result<int> run_one(Context& context, const Words& words) {
  auto commands = all_commands();
  TRY(auto resolved, resolve(commands, words));
  if (!resolved.command) return fail(ErrorKind::internal, "C090", "no command: " + shell_text(words));
  const auto& command = *resolved.command;
  TRY(auto arguments, parse_words(command, resolved.words));
  static const Settings k_none;
  const auto& settings = context.settings ? *context.settings : k_none;
  TRY_DO(apply_settings(command.flags, context.environment, settings, arguments));
  TRY_DO(check_required(command, arguments));
  auto outer = context.out.set_schema(command.schema);
  auto code = command.run(context, arguments);
  context.out.set_schema(std::move(outer));
  return code;
}

bool is_plain(char c) {
  constexpr std::string_view k_more = "-_./:=,+@%";
  return ascii::is_alnum(c) || k_more.find(c) != k_more.npos;
}

} // namespace

Result<int> run_words(Context& context, const Words& words) {
  context.out.note("quarry " + shell_text(words));
  return run_one(context, words);
}

Result<int> hear_words(Context& context, const Words& words, Json& heard) {
  context.out.note("quarry " + shell_text(words));
  Passing passing(context.out);
  Context inner{context.environment, context.clock,   context.resources, passing,
                context.jobs,        context.program, context.settings};
  TRY(auto code, run_one(inner, words));
  heard = passing.heard();
  return code;
}

Result<Json> ask_words(Context& context, const Words& words) {
  Listener listener(context.out);
  auto environment = context.environment;
  for (const auto* name : {"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"})
    environment.erase(name);
  Context inner{environment,  context.clock,   context.resources, listener,
                context.jobs, context.program, context.settings};
  TRY_DO(run_one(inner, words));
  return listener.heard();
}

std::string shell_text(const Words& words) {
  Words quoted;
  for (const auto& word : words) {
    bool plain = !word.empty() && std::all_of(word.begin(), word.end(), is_plain);
    quoted.push_back(plain ? word : "'" + text::replace_all(word, "'", "'\\''") + "'");
  }
  return text::join(quoted, " ");
}

} // namespace quarry::cli
