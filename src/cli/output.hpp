#pragma once
// The one place that prints: data to standard output, everything else to standard error. Colour adds nothing that words
// do not say.
#include "base/error.hpp"
#include "cli/command.hpp"
#include "sys/clock.hpp"
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace quarry::cli {

/// Takes bytes; where they go and what a failure means is the caller's business.
using Sink = std::function<void(std::string_view)>;

enum class ProgressMode : std::uint8_t { bar, lines, none };

struct OutputOptions {
  bool json = false, quiet = false, verbose = false;
  bool out_color = false, err_color = false; ///< decided already: flag, variables, terminal
  ProgressMode progress = ProgressMode::none;
  unsigned columns = 80;
  bool out_is_terminal = false, err_is_terminal = false; ///< else tables have their full width
  std::string schema = {};                               ///< Output::set_schema()
};

class Printer : public Output {
public:
  virtual void
  error(const Error& error) = 0; ///< standard error; with --json and no document yet, also the error document
  virtual bool printed_document() const = 0;
};

/// Thread-safe; bars are cleared before anything else is printed. `clock` paces progress.
std::unique_ptr<Printer> make_printer(OutputOptions options, Sink out, Sink err, const sys::Clock& clock);

/// "error[A012]:", "warning[…]:", "hint:", "next:" at the start of a line in colour; nothing else changes.
std::string colored(std::string_view text);

/// {"schema":"quarry.error/1", code, kind, message, details, context, hint, exit_code}
Json error_document(const Error& error);

} // namespace quarry::cli
