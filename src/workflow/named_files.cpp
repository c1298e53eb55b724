#include "workflow/named_files.hpp"

#include "sys/path.hpp"
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
} // namespace

std::vector<Word> files_of(const std::vector<Word>& words) {
  std::vector<Word> found;
  auto program = std::string(path::basename(words[0].text));
  bool python = program == "python" || program == "python3";
  bool pytest = program == "pytest";
  bool pip = program == "pip" || program == "pip3" || program == "uv";
  bool shell = program == "bash" || program == "sh" || program == "source" || program == ".";
  if (words[0].text.starts_with("./") && is_script(words[0].text)) found.push_back(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto& word = words[i].text;
    bool requirement = i > 0 && (words[i - 1].text == "-r" || words[i - 1].text == "--requirement");
    if ((pip || (python && pip)) && requirement && word.ends_with(".txt")) found.push_back(words[i]);
    if (pytest && (word.ends_with(".py") || word.find(".py::") != word.npos || is_test_directory(words, i)))
      found.push_back({file_part(word), words[i].offset});
    if (python && word == "-m" && i + 1 < words.size()) {
      const auto& module = words[i + 1].text;
      pytest = module == "pytest";
      pip = module == "pip";
      if (!pytest && !pip) break;
      continue;
    }
    if (word == "-c" && (python || shell)) break;
    if ((python || shell) && !pytest && !pip && !word.starts_with('-')) {
      if (is_script(word)) found.push_back(words[i]);
      break;
    }
  }
  return found;
}

} // namespace quarry::workflow
