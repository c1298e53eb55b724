#include "cli/output.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include <fmt/core.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace quarry::cli {

namespace {
constexpr std::string_view k_red = "\x1b[1;31m", k_yellow = "\x1b[1;33m", k_cyan = "\x1b[1;36m", k_off = "\x1b[0m";

/// The length of the word at the start of a line that gets a colour, with its code and colon; 0 for none.
std::size_t head_length(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return 0;
  auto end = line.find(':');
  auto between = line.substr(word.size(), end == line.npos ? 0 : end - word.size());
  bool code = between.empty() || (between.front() == '[' && between.back() == ']');
  return end != line.npos && code ? end + 1 : 0;
}

std::string colored_line(std::string_view line) {
  constexpr std::pair<std::string_view, std::string_view> k_heads[] = {
      {"error", k_red}, {"warning", k_yellow}, {"note", k_cyan}, {"hint", k_cyan}, {"next", k_cyan}};
  auto indent = line.find_first_not_of(' ');
  if (indent == line.npos) return std::string(line);
  for (auto [word, color] : k_heads) {
    if (auto length = head_length(line.substr(indent), word)) {
      return std::string(line.substr(0, indent)) + std::string(color) + std::string(line.substr(indent, length)) +
             std::string(k_off) + std::string(line.substr(indent + length));
    }
  }
  return std::string(line);
}

/// Names and words of others stand in messages: what would steer the terminal is shown instead, as `\x1b`. Line breaks
/// and tabs stay, and our own colours if there are any; C1 controls (U+0080 to U+009F) go.
std::string without_controls(std::string_view text, bool has_colors) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (auto own = has_colors ? length_of_paint(text.substr(i)) : 0; own > 0) {
      shown += text.substr(i, own);
      i += own - 1;
      continue;
    }
    auto byte = static_cast<unsigned char>(text[i]);
    auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    bool breaks = byte == '\n' || byte == '\t' || (byte == '\r' && next == '\n');
    if ((byte < 0x20 && !breaks) || byte == 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f)
      shown += fmt::format("\\u00{:02x}", next), ++i;
    else
      shown += text[i];
  }
  return shown;
}

class StreamPrinter;

class PrinterProgress final : public Progress {
public:
  PrinterProgress(StreamPrinter& printer, std::string label, std::uint64_t total);
  ~PrinterProgress() override { finish(); }
  PrinterProgress(const PrinterProgress&) = delete;
  PrinterProgress& operator=(const PrinterProgress&) = delete;
  void update(std::uint64_t done) override;
  void finish() override;

private:
  StreamPrinter& printer_;
  ProgressBoard::Entry entry_;
  bool finished_ = false;
};

class StreamPrinter final : public Printer {
public:
  StreamPrinter(OutputOptions options, Sink out, Sink err, const sys::Clock& clock)
      : options_(options), out_(std::move(out)), err_(std::move(err)), clock_(clock),
        board_(options.quiet ? ProgressMode::none : options.progress, options.columns) {}

  void data(std::string_view text) override {
    if (!options_.json) print(out_, without_controls(text, options_.out_color));
  }
  void bytes(std::string_view text) override {
    if (!options_.json) print(out_, options_.out_is_terminal ? without_controls(text, true) : std::string(text));
  }
  void note(std::string_view text) override {
    if (!options_.quiet) to_err(std::string(text) + "\n");
  }
  void warn(std::string_view text) override { to_err(std::string(text) + "\n"); }
  void findings(const Findings& found) override {
    if (options_.json) return;
    Findings shown = found;
    for (auto& one : shown) {
      for (auto* text : {&one.place, &one.message, &one.fix}) *text = line(*text);
      for (auto& text : one.details) text = line(text);
    }
    if (options_.quiet) std::erase_if(shown, [](const Finding& f) { return f.severity == Severity::note; });
    if (!shown.empty()) to_err(render(shown));
  }
  std::string set_schema(std::string schema) override {
    std::lock_guard lock(mutex_);
    return std::exchange(options_.schema, std::move(schema));
  }
  void document(const Json& value, bool asked) override {
    if (!options_.json && !asked) return;
    Json named = value;
    {
      std::lock_guard lock(mutex_);
      if (documents_++) throw std::logic_error("a command printed two documents");
      if (!options_.schema.empty() && !named.contains("schema")) named["schema"] = options_.schema;
    }
    print(out_, json::pretty(named));
  }
  void error(const Error& error) override {
    auto shown = error;
    for (auto* text : {&shown.message, &shown.hint}) *text = line(*text);
    for (auto* texts : {&shown.details, &shown.context})
      for (auto& text : *texts) text = line(text);
    to_err(render(shown));
    if (options_.json && !printed_document()) document(error_document(error), false);
  }
  void trace(std::string_view text) override {
    if (options_.verbose) to_err("trace: " + std::string(text) + "\n");
  }
  bool verbose() const override { return options_.verbose; }
  Look data_look() const override { return {options_.out_is_terminal ? options_.columns : 0, options_.out_color}; }
  Look note_look() const override { return {options_.err_is_terminal ? options_.columns : 0, false}; }
  bool json() const override { return options_.json; }
  bool printed_document() const override {
    std::lock_guard lock(mutex_);
    return documents_ != 0;
  }
  std::unique_ptr<Progress> progress(std::string label, std::uint64_t total) override {
    return std::make_unique<PrinterProgress>(*this, std::move(label), total);
  }

private:
  friend class PrinterProgress;

  static std::string line(const std::string& text) { return text::one_line(text); }
  void to_err(const std::string& text) {
    auto shown = without_controls(text, false);
    print(err_, options_.err_color ? colored(shown) : shown);
  }
  void print(const Sink& sink, const std::string& text) {
    std::lock_guard lock(mutex_);
    if (auto cleared = board_.clear(); !cleared.empty()) err_(cleared);
    sink(text);
    if (auto drawn = board_.draw(clock_.steady_ns()); !drawn.empty()) err_(drawn);
  }

  OutputOptions options_;
  Sink out_, err_;
  const sys::Clock& clock_;
  mutable std::mutex mutex_;
  ProgressBoard board_;
  unsigned documents_ = 0;
};

PrinterProgress::PrinterProgress(StreamPrinter& printer, std::string label, std::uint64_t total) : printer_(printer) {
  std::lock_guard lock(printer_.mutex_);
  entry_ = printer_.board_.add(std::move(label), total, printer_.clock_.steady_ns());
  if (auto text = printer_.board_.redrawn(printer_.clock_.steady_ns()); !text.empty()) printer_.err_(text);
}
void PrinterProgress::update(std::uint64_t done) {
  std::lock_guard lock(printer_.mutex_);
  if (finished_) return;
  if (auto text = printer_.board_.update(entry_, done, printer_.clock_.steady_ns()); !text.empty()) printer_.err_(text);
}
void PrinterProgress::finish() {
  std::lock_guard lock(printer_.mutex_);
  if (finished_) return;
  finished_ = true;
  if (auto text = printer_.board_.remove(entry_, printer_.clock_.steady_ns()); !text.empty()) printer_.err_(text);
}
} // namespace

std::unique_ptr<Printer> make_printer(OutputOptions options, Sink out, Sink err, const sys::Clock& clock) {
  return std::make_unique<StreamPrinter>(options, std::move(out), std::move(err), clock);
}

std::string colored(std::string_view input) {
  std::string result;
  for (std::size_t at = 0; at < input.size();) {
    auto end = std::min(input.find('\n', at), input.size());
    result += colored_line(input.substr(at, end - at));
    if (end < input.size()) result += '\n';
    at = end + 1;
  }
  return result;
}

Json error_document(const Error& error) {
  return Json{{"schema", "quarry.error/1"},
              {"code", error.code},
              {"kind", traits(error.kind).name},
              {"message", error.message},
              {"details", error.details},
              {"context", error.context},
              {"hint", error.hint},
              {"exit_code", traits(error.kind).exit_code},
              {"retry", traits(error.kind).retry}};
}

} // namespace quarry::cli
