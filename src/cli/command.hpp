#pragma once
// A command as a value: one table is the source of parsing, --help, docs/commands, man pages and completion.
#include "base/finding.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "sys/clock.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

struct Flag {
  std::string name;                      ///< "--output-dir"
  std::string value;                     ///< metavar, "DIR"; empty for a switch
  std::string help;                      ///< one line, lower case, no full stop
  std::vector<std::string> choices = {}; ///< when the value is one of few
  std::string fallback = {};             ///< default shown and used; empty: none
  std::string environment = {};          ///< variable read when the flag is absent, e.g. "QUARRY_STORE"
  bool required = false, repeats = false;
  char letter = 0;                         ///< 'n' for -n
  std::vector<std::string> aliases = {};   ///< other long names: "--no-x" switches have their own Flag
  std::vector<std::string> documents = {}; ///< values that print a document of their own: refused beside --json
  bool many = false; ///< takes every word up to the next one with a dash, none too; for today's scripts
};

struct Operand {
  std::string name; ///< "FILE"
  std::string help;
  bool required = true, repeats = false;
};

struct Example {
  std::string command, explanation;
};

/// What the user said, by flag name. Asking for an unknown name is a bug: std::logic_error.
class Arguments {
public:
  bool has(std::string_view flag) const;                        ///< given on the command line or by its variable
  std::string get(std::string_view flag) const;                 ///< the value, or the flag's fallback
  std::optional<std::string> find(std::string_view flag) const; ///< nullopt when neither given nor defaulted
  std::vector<std::string> list(std::string_view flag) const;
  std::vector<std::string> operands;
  std::vector<std::string> rest; ///< after `--`
  /// Where the values come from that were not given on the command line: "QUARRY_STORE", "/home/a/repo/quarry.toml:3".
  std::map<std::string, std::string, std::less<>> origins = {};
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  /// Every flag that may be asked for, with its fallback. The parser fills it; a test parses words with parse_words().
  std::map<std::string, std::optional<std::string>, std::less<>> fallbacks;
};

/// How long work shows itself: a bar on a terminal, one line per 10 s elsewhere, nothing with --progress=none.
/// Thread-safe.
class Progress {
public:
  virtual ~Progress() = default;
  virtual void update(std::uint64_t done) = 0;
  virtual void finish() = 0;
};

/// How a stream shows text.
struct Look {
  std::size_t columns = 0; ///< 0: any number; a file or a pipe, whose readers need whole names
  bool color = false;
};

/// What a command says to the world. Thread-safe; lines never mix with a bar.
class Output {
public:
  virtual ~Output() = default;
  virtual void data(std::string_view text) = 0;  ///< stdout, unless --json; controls are shown, not obeyed
  virtual void bytes(std::string_view text) = 0; ///< a file's content as it is; on a terminal as data()
  virtual void note(std::string_view text) = 0;  ///< stderr, one line (newline added), unless --quiet
  virtual void warn(std::string_view text) = 0;  ///< stderr, also with --quiet
  /// The schema of a document that names none; "" leaves it without one. Said before a command runs, with what
  /// Command::schema has. Returns the one before it.
  virtual std::string set_schema(std::string schema) = 0;
  /// stdout, with --json or if `asked` (`--format json`); call once.
  virtual void document(const Json& value, bool asked = false) = 0;
  virtual void findings(const Findings& found) = 0; ///< stderr; with --json the document carries them
  virtual void trace(std::string_view text) = 0;    ///< stderr, one line, only with --verbose
  virtual bool verbose() const = 0;                 ///< whether trace() prints, so that nobody prepares text for nobody
  virtual Look data_look() const = 0;               ///< of data(); colour is put in by the caller (table.hpp)
  virtual Look note_look() const = 0;               ///< of note(), whose text never holds colour
  virtual bool json() const = 0;
  /// `total` 0: unknown.
  virtual std::unique_ptr<Progress> progress(std::string label, std::uint64_t total) = 0;
};

class Settings;

struct Context {
  const std::map<std::string, std::string>& environment;
  const sys::Clock& clock;
  const Resources& resources;
  Output& out;
  unsigned jobs = 1;
  std::string program;                ///< absolute path of this binary
  const Settings* settings = nullptr; ///< configuration files, for `config show`; never null under the engine
  bool step_of_another = false;       ///< of a command that goes on itself: no `next:` line
  std::string variable(const std::string& name) const {
    auto it = environment.find(name);
    return it == environment.end() ? "" : it->second;
  }
};

struct Command {
  std::vector<std::string> path; ///< {"artifact", "fetch"}
  std::string summary;           ///< one line, lower case, no full stop
  std::string description;       ///< paragraphs of plain text, blank line between; `code` in back quotes
  std::vector<Operand> operands;
  std::vector<Flag> flags;
  bool takes_rest = false; ///< accepts `-- CMD…`
  std::vector<Example> examples;
  std::vector<std::pair<int, std::string>> exit_codes; ///< those with a special meaning here
  std::string schema;                                  ///< of its --json document: "quarry.artifact-list/1"
  std::function<Result<int>(Context&, const Arguments&)> run;
  bool hidden = false; ///< works, but is not listed: tools of the project itself
  bool raw = false;    ///< all words but --json are handed over as they are, in `rest`
};

} // namespace quarry::cli
