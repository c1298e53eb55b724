#include "workflow/dockerfile.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>

namespace quarry::workflow {

namespace {
constexpr std::size_t k_missing_ends_max = 64; // each search for the end of a here-document may read the whole file

using FileLines = std::vector<std::string>;

bool is_left_out(std::string_view line) {
  auto written = text::trim(line);
  return written.empty() || written.starts_with('#');
}

/// The character that joins lines: a directive such as "# escape=`" in front of all instructions can change it.
char joining_mark(const FileLines& lines) {
  for (const auto& line : lines) {
    if (!line.starts_with('#')) break;
    if (text::lower(text::replace_all(line, " ", "")) == "#escape=`") return '`';
  }
  return '\\';
}

/// Reads the instruction that begins at line `at`; returns the line behind it.
std::size_t read_instruction(const FileLines& lines, std::size_t at, char mark, Instruction& into) {
  for (bool goes_on = true; goes_on && at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    if (!into.lines.empty() && is_left_out(line)) continue;
    auto last = line.find_last_not_of(" \t");
    goes_on = last != line.npos && line[last] == mark && (last == 0 || line[last - 1] != mark);
    into.lines.push_back({into.text.size(), static_cast<std::uint32_t>(at + 1)});
    into.text += goes_on ? line.substr(0, last) : line;
  }
  return at;
}

struct HereDocument {
  std::string_view name;
  bool tabs = false; ///< its last line may begin with tabs
};

/// `<<EOF`, `<<-EOF`, `<<'EOF'`, `3<<EOF` as words of RUN, COPY or ADD.
std::vector<HereDocument> here_documents(std::string_view instruction) {
  std::vector<HereDocument> found;
  auto head = text::lower(text::trim(instruction).substr(0, 4));
  if (head != "run " && head != "copy" && head != "add " && head != "onbu" && head != "run\t") return found;
  for (auto mark = instruction.find("<<"); mark != instruction.npos; mark = instruction.find("<<", mark + 2)) {
    auto begin = mark;
    while (begin > 0 && ascii::is_digit(instruction[begin - 1])) --begin;
    bool is_word = begin > 0 && (instruction[begin - 1] == ' ' || instruction[begin - 1] == '\t');
    auto rest = instruction.substr(mark + 2);
    bool tabs = rest.starts_with('-');
    rest.remove_prefix(tabs ? 1 : 0);
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    auto name = rest.substr(0, rest.find_first_of(" \t;|&<>()\"'"));
    if (is_word && !name.empty()) found.push_back({name, tabs});
  }
  return found;
}

/// The line behind the here-documents of an instruction that ended before line `at`. A name that no line has is not
/// one. `missing` counts these.
std::size_t behind_documents(const FileLines& lines, std::size_t at, std::string_view instruction,
                             std::size_t& missing) {
  for (const auto& document : here_documents(instruction)) {
    if (missing == k_missing_ends_max) return at;
    auto ends = [&](std::string_view line) {
      if (document.tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      return line == document.name;
    };
    auto end = std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), ends);
    if (end == lines.end())
      ++missing;
    else
      at = static_cast<std::size_t>(end - lines.begin()) + 1;
  }
  return at;
}
} // namespace

Position Instruction::at(std::size_t offset) const {
  auto line = std::prev(std::ranges::upper_bound(lines, offset, {}, &Line::begin));
  return {line->number, static_cast<std::uint32_t>(offset - line->begin + 1)};
}

std::vector<Instruction> dockerfile_instructions(std::string_view text) {
  const auto lines = text::lines(text);
  const auto mark = joining_mark(lines);
  std::vector<Instruction> found;
  std::size_t missing = 0;
  for (std::size_t at = 0; at < lines.size();) {
    if (is_left_out(lines[at])) {
      ++at;
      continue;
    }
    Instruction one;
    at = read_instruction(lines, at, mark, one);
    at = behind_documents(lines, at, one.text, missing);
    found.push_back(std::move(one));
  }
  return found;
}

} // namespace quarry::workflow
