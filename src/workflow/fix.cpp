#include "workflow/fix.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
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

/// The byte of a column. Columns count characters, as libfyaml does; npos behind the end.
std::size_t byte_of(std::string_view line, std::uint32_t column) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80; // a character of UTF-8
    if (begins && --column == 0) return at;
  }
  return line.npos;
}

/// Where the text to replace stands: at the edit's place or, if it names none, at the finding's column, or anywhere if
/// it is there once; else npos.
std::size_t place_in(std::string_view line, const Edit& edit, std::uint32_t column) {
  if (edit.at.line != 0) {
    auto at = byte_of(line, edit.at.column);
    return at != line.npos && line.substr(at).starts_with(edit.from) ? at : line.npos;
  }
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

bool stands_there(std::string_view text, const Edit& edit) {
  for (auto line = edit.at.line; line > 1; --line) {
    if (text.find('\n') == text.npos) return false;
    text.remove_prefix(text.find('\n') + 1);
  }
  return edit.at.line > 0 && place_in(text.substr(0, text.find('\n')), edit, edit.at.column) != text.npos;
}

Edited edited(std::string_view text, const std::vector<const Located*>& wanted) {
  Edited done;
  for (auto at = text.find('\r'); at != text.npos; at = text.find('\r', at + 1))
    if (text.substr(at, 2) != "\r\n") return {std::string(text), {}}; // a line end for libfyaml, and not for us
  auto lines = lines_with_ends(text);
  auto place = [&](std::size_t i) { return wanted[i]->edit->at.line != 0 ? wanted[i]->edit->at : wanted[i]->at; };
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(),
                    [&](std::size_t i) { return std::tuple(place(i).line, place(i).column, i); });
  std::vector<bool> made(wanted.size());
  for (auto i : order) made[i] = place(i).line <= lines.size() && apply(*wanted[i], lines[place(i).line - 1]);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (made[i]) done.fixed.push_back(*wanted[i]);
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
