#include "workflow/named_files.hpp"

#include "sys/path.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::workflow {

namespace {
std::string file_part(const std::string& word) { return word.substr(0, word.find("::")); }

bool is_script(std::string_view word) {
  return word.ends_with(".py") || word.ends_with(".sh") || word.ends_with(".ps1");
}

/// A directory that pytest collects: with a slash, or called like tests, and not the value of an option.
bool is_test_directory(const std::vector<Word>& words, std::size_t i) {
  const auto& word = words[i].text;
  bool named = word.find('/') != word.npos || word == "test" || word == "tests";
  if (!named || word.starts_with('-') || word.find_first_of("<>&") != word.npos) return false;
  const auto& last = words[i - 1].text;
  bool redirected = !last.empty() && last.find_first_of("<>") != last.npos;
  bool flag = last.starts_with('-') && last.find('=') == last.npos && last.find_first_not_of("-vqsxl") != last.npos &&
              !last.starts_with("-r");
  return !flag && !redirected;
}

/// The file of `pip install -r FILE`, `--requirement=FILE`, `-c FILE`, if the word at `i` names it.
std::optional<Word> requirements_file(const std::vector<Word>& words, std::size_t i) {
  auto file = words[i];
  bool named = false;
  for (std::string_view option : {"-r", "--requirement", "-c", "--constraint"}) {
    named |= words[i - 1].text == option;
    if (auto begin = std::string(option) + "="; option.starts_with("--") && file.text.starts_with(begin)) {
      file.text.erase(0, begin.size());
      file.offset += begin.size();
      named = true;
    }
  }
  return named && file.text.ends_with(".txt") ? std::optional(std::move(file)) : std::nullopt;
}
} // namespace

std::vector<Word> files_of(const std::vector<Word>& words) {
  std::vector<Word> found;
  auto program = std::string(path::basename(words[0].text));
  bool python = program == "python" || program == "python3";
  bool pytest = program == "pytest", unittest = false;
  bool pip = program == "pip" || program == "pip3" || program == "uv";
  bool shell = program == "bash" || program == "sh" || program == "source" || program == ".";
  if (words[0].text.starts_with("./") && is_script(words[0].text)) found.push_back(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto& word = words[i].text;
    if (auto file = pip ? requirements_file(words, i) : std::nullopt) found.push_back(std::move(*file));
    if (unittest && is_script(word)) found.push_back(words[i]);
    if (pytest && (word.ends_with(".py") || word.find(".py::") != word.npos || is_test_directory(words, i)))
      found.push_back({file_part(word), words[i].offset});
    if (python && word == "-m" && i + 1 < words.size()) {
      const auto& module = words[i + 1].text;
      pytest = module == "pytest";
      pip = module == "pip";
      unittest = module == "unittest";
      if (!pytest && !pip && !unittest) break;
      continue;
    }
    if (word == "-c" && (python || shell) && !pip) break;
    if ((python || shell) && !pytest && !pip && !unittest && !word.starts_with('-')) {
      if (is_script(word)) found.push_back(words[i]);
      break;
    }
  }
  return found;
}

} // namespace quarry::workflow
