#include "buildlog/wheel_copies.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <array>

namespace quarry::buildlog {

namespace {
/// Lines of builders and of auditwheel, which name the wheel that they read and the one that they write.
bool names_its_work(std::string_view line) {
  static constexpr std::array<std::string_view, 10> k_words = {
      "auditwheel", "Repairing",          "Fixed-up", "Created wheel", "Building wheel",
      "creating ",  "Successfully built", "retag",    "removing",      "rm "};
  return std::any_of(k_words.begin(), k_words.end(), [&](auto word) { return line.find(word) != line.npos; });
}

bool ends_path(char c) {
  return c == ' ' || c == '\t' || c == '\'' || c == '"' || c == ',' || c == ';' || c == '(' || c == '[' || c == '=';
}
} // namespace

void WheelWatcher::take(const Line& line) {
  if (names_its_work(line.text)) return;
  auto moved = line.text.find(" -> ") != line.text.npos; // the target of a copy is another directory
  for (std::size_t at = 0; (at = line.text.find(".whl", at)) != line.text.npos;) {
    auto begin = at, end = at + 4;
    at = end;
    if (end < line.text.size() && !ends_path(line.text[end]) && line.text[end] != ')' && line.text[end] != ']')
      continue;
    while (begin > 0 && !ends_path(line.text[begin - 1])) --begin;
    listed(line.text.substr(begin, end - begin), line.number);
    if (moved) break;
  }
}

void WheelWatcher::listed(std::string_view path, std::uint64_t line) {
  auto slash = path.rfind('/');
  auto directory = slash == path.npos ? std::string_view{} : path.substr(0, slash);
  if (directory.starts_with("./")) directory.remove_prefix(2);
  auto name = path.substr(slash + 1);
  auto parts = text::split(name.substr(0, name.size() - 4), '-'); // PEP 427: name-version(-build)?-python-abi-platform
  if (parts.size() != 5 && parts.size() != 6) return;
  auto platform = parts.back();
  parts.pop_back();
  auto key = std::string(directory) + "/" + text::join(parts, "-");
  auto known = seen_.find(key);
  if (known == seen_.end()) {
    if (seen_.size() < k_wheels_max) seen_.emplace(std::move(key), platform);
    return;
  }
  bool copies = known->second != platform && (known->second.starts_with("linux_") || platform.starts_with("linux_"));
  auto stem = text::join(parts, "-");
  if (!copies || !told_.emplace(stem, true).second) return;
  copies_.push_back({parts.front(), stem + "-" + known->second + ".whl", stem + "-" + platform + ".whl", line});
}

} // namespace quarry::buildlog
