#include "workflow/shell.hpp"

#include "workflow/programs.hpp"
#include <algorithm>
#include <utility>

namespace quarry::workflow {

namespace {
/// So many here-documents may begin on a line, and so many names may be looked for without a line that has them: each
/// search reads the rest of the script.
constexpr std::size_t k_documents_max = 64;

struct Documents {
  struct Document {
    std::string_view name;
    bool tabs = false; ///< its last line may be indented
  };
  std::vector<Document> begun; ///< on the present line
  std::size_t missing = 0;     ///< names that no line has
  std::size_t executed = 0;    ///< begun on this line, too: their lines are commands
};

bool is_piped_into_shell(std::string_view line);

class Scanner {
public:
  explicit Scanner(std::string_view script) : script_(script) {}

  std::vector<ShellCommand> scan() {
    while (at_ < script_.size()) {
      if (script_.substr(at_).starts_with("${{"))
        expression();
      else
        character(script_[at_]);
    }
    end_command(false);
    return std::move(commands_);
  }

private:
  void begin_word(bool literal = false) {
    if (!in_word_) word_ = {"", at_, true};
    word_.literal = word_.literal && literal;
    in_word_ = true;
  }
  void end_word() {
    if (in_word_) command_.words.push_back(std::move(word_));
    in_word_ = false;
  }
  void end_command(bool pipe) {
    end_word();
    if (!command_.words.empty()) commands_.push_back(std::move(command_));
    command_ = {};
    command_.piped_into = pipe;
  }

  /// `${{ … }}` belongs to the word around it, blanks and all.
  void expression() {
    begin_word();
    auto end = script_.find("}}", at_);
    end = end == script_.npos ? script_.size() : end + 2;
    word_.text += script_.substr(at_, end - at_);
    at_ = end;
  }

  void quoted(char quote) {
    begin_word(quote == '\'');
    for (++at_; at_ < script_.size() && script_[at_] != quote; ++at_) {
      if (quote == '"' && script_[at_] == '\\' && at_ + 1 < script_.size()) {
        ++at_;
        if (script_[at_] == '\n') continue;
      }
      word_.text += script_[at_];
    }
    if (at_ < script_.size()) ++at_;
  }

  /// `<<EOF`, `<<-'EOF'`, `<<< text`: its word stays, and where the document ends is kept for the end of the line.
  void here_document() {
    begin_word();
    auto end = std::min(script_.find_first_not_of('<', at_), script_.size());
    bool document = end == at_ + 2;
    word_.text += script_.substr(at_, end - at_);
    at_ = end;
    if (!document || documents_.begun.size() + documents_.executed == k_documents_max) return;
    if (program_of(command_).ends_with("sh") && executes_input(command_)) return; // its lines are commands
    auto rest = script_.substr(at_, script_.find('\n', at_) - at_);
    bool tabs = rest.starts_with('-');
    if (tabs) rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\\"), rest.size()));
    bool quoted = rest.starts_with('\'') || rest.starts_with('"');
    auto name = quoted ? rest.substr(1, rest.find(rest[0], 1) - 1) : rest.substr(0, rest.find_first_of(" \t\r;|&<>()"));
    if (name.empty()) return;
    if (program_of(command_) == "cat" && is_piped_into_shell(rest)) // `cat <<EOF | bash`
      ++documents_.executed;
    else
      documents_.begun.push_back({name, tabs});
  }

  /// The lines of the documents that the line before began. A name that no line has is an operator: `$((1<<n))`.
  void skip_documents() {
    for (const auto& one : documents_.begun) {
      if (documents_.missing == k_documents_max) break;
      auto line = at_;
      bool found = false;
      while (!found && line < script_.size()) {
        auto end = std::min(script_.find('\n', line), script_.size());
        auto text = script_.substr(line, end - line);
        if (one.tabs) text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.ends_with('\r')) text.remove_suffix(1);
        line = std::min(end + 1, script_.size());
        found = text == one.name;
      }
      if (found)
        at_ = line;
      else
        ++documents_.missing;
    }
    documents_.begun.clear();
    documents_.executed = 0;
  }

  void character(char c) {
    bool joins = c == '\\' || (c == '`' && !in_word_); // in PowerShell behind a blank; in sh it may end `command`
    bool line_goes_on = joins && at_ + 1 < script_.size() && script_[at_ + 1] == '\n';
    if (line_goes_on) {
      end_word();
      at_ += 2;
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '#' && !in_word_) {
      at_ = std::min(script_.find('\n', at_), script_.size());
    } else if (c == '<' && script_.substr(at_).starts_with("<<")) {
      here_document();
    } else if (c == '\n' || c == ';') {
      bool pipe_goes_on = c == '\n' && !in_word_ && command_.words.empty() && command_.piped_into;
      if (!pipe_goes_on) end_command(false);
      ++at_;
      if (c == '\n') skip_documents();
    } else if (c == '|' || c == '&') {
      bool twice = at_ + 1 < script_.size() && script_[at_ + 1] == c;
      bool redirection =
          c == '&' && ((at_ > 0 && script_[at_ - 1] == '>') || (at_ + 1 < script_.size() && script_[at_ + 1] == '>'));
      if (redirection) {
        begin_word();
        word_.text += c;
        ++at_;
        return;
      }
      end_command(c == '|' && !twice);
      at_ += twice ? 2 : 1;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else {
      begin_word();
      word_.text += c;
      ++at_;
    }
  }

  std::string_view script_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  Documents documents_;
  Word word_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

/// Whether the line goes on with a pipe to a shell that executes what it reads. Only the next command counts, without a
/// document of its own: `cat <<a | cat <<b | …` must not be read over and over.
bool is_piped_into_shell(std::string_view line) {
  auto pipe = line.find('|');
  if (pipe == line.npos) return false;
  line = line.substr(pipe + 1);
  auto commands = Scanner(line.substr(0, line.find_first_of("|;&<\n"))).scan();
  if (commands.empty()) return false;
  commands.front().piped_into = true;
  return program_of(commands.front()).ends_with("sh") && executes_input(commands.front());
}
} // namespace

std::vector<ShellCommand> shell_commands(std::string_view script) { return Scanner(script).scan(); }

} // namespace quarry::workflow
