#include "workflow/shell.hpp"

#include <algorithm>
#include <utility>

namespace quarry::workflow {

namespace {
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
  void begin_word() {
    if (!in_word_) word_ = {"", at_};
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
    begin_word();
    for (++at_; at_ < script_.size() && script_[at_] != quote; ++at_) {
      if (quote == '"' && script_[at_] == '\\' && at_ + 1 < script_.size()) {
        ++at_;
        if (script_[at_] == '\n') continue;
      }
      word_.text += script_[at_];
    }
    if (at_ < script_.size()) ++at_;
  }

  void character(char c) {
    bool line_goes_on = (c == '\\' || c == '`') && at_ + 1 < script_.size() && script_[at_ + 1] == '\n';
    if (line_goes_on) {
      end_word();
      at_ += 2;
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '#' && !in_word_) {
      at_ = std::min(script_.find('\n', at_), script_.size());
    } else if (c == '\n' || c == ';') {
      bool pipe_goes_on = c == '\n' && !in_word_ && command_.words.empty() && command_.piped_into;
      if (!pipe_goes_on) end_command(false);
      ++at_;
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
  Word word_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};
} // namespace

std::vector<ShellCommand> shell_commands(std::string_view script) { return Scanner(script).scan(); }

} // namespace quarry::workflow
