#include "workflow/fix.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <map>
#include <utility>

namespace quarry::workflow {

namespace {
constexpr std::uint64_t k_fixed_bytes_max = 64u << 20;

/// Lines with their ends, so that a file keeps its CRLF and the missing newline at its end.
std::vector<std::string> lines_with_ends(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    auto size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

/// Where the text to replace stands: at the finding's column, or anywhere if it is there once; else npos.
std::size_t place_in(std::string_view line, const Edit& edit, std::uint32_t column) {
  auto first = line.find(edit.from);
  if (first == line.npos || line.find(edit.from, first + 1) == line.npos) return first;
  for (std::size_t at : {column - std::size_t{1}, std::size_t{column}}) // the value may be in quotes
    if (column > 0 && at < line.size() && line.substr(at).starts_with(edit.from)) return at;
  return line.npos;
}

bool apply(const Located& finding, std::string& line) {
  const auto& edit = *finding.edit;
  auto place = edit.from.empty() ? std::string::npos : place_in(line, edit, finding.at.column);
  if (place == std::string::npos) return false;
  line.replace(place, edit.from.size(), edit.to);
  if (!edit.to.empty()) return true;
  auto end = line.substr(std::min(line.find_last_not_of("\r\n") + 1, line.size()));
  auto kept = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  line = kept.empty() ? "" : kept + end;
  return true;
}
} // namespace

Edited edited(std::string_view text, const std::vector<const Located*>& wanted) {
  Edited done;
  auto lines = lines_with_ends(text);
  for (const auto* one : wanted)
    if (one->at.line <= lines.size() && apply(*one, lines[one->at.line - 1])) done.fixed.push_back(*one);
  done.text = text::join(lines, "");
  return done;
}

Result<std::vector<FixedFile>> fixed_files(Tree& tree, const std::vector<Located>& findings) {
  std::map<std::string, std::vector<const Located*>> by_file;
  for (const auto& one : findings)
    if (one.edit && one.at.line > 0) by_file[one.file].push_back(&one);
  std::vector<FixedFile> files;
  for (const auto& [path, wanted] : by_file) {
    TRY(auto text, tree.read(path, k_fixed_bytes_max));
    auto done = edited(text, wanted);
    if (!done.fixed.empty()) files.push_back({path, std::move(done.text), std::move(done.fixed)});
  }
  return files;
}

} // namespace quarry::workflow
