#include "cli/suggest.hpp"

#include "base/edit_distance.hpp"
#include <algorithm>
#include <utility>

namespace quarry::cli {

namespace {
constexpr std::size_t k_names_max = 3;  // more are a list, not a suggestion
constexpr std::size_t k_word_max = 100; // longer words are not typing errors; bounds the quadratic work
} // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> names) {
  if (word.empty() || word.size() > k_word_max) return {};
  std::vector<std::pair<std::size_t, std::string>> found;
  std::size_t reach = std::max<std::size_t>(1, word.size() / 3);
  for (const auto& name : names) {
    if (name.size() > k_word_max) continue;
    std::size_t distance = text::edit_distance(word, name);
    bool begins = word.size() >= 3 && name.starts_with(word);
    if (distance <= reach || begins) found.emplace_back(begins ? 0 : distance, name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> result;
  for (auto& [distance, name] : found)
    if (result.size() < k_names_max) result.push_back(std::move(name));
  return result;
}

std::string meant(std::span<const std::string> names) {
  if (names.empty()) return "";
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) text += i + 1 == names.size() ? " or " : ", ";
    text += "`" + names[i] + "`";
  }
  return text + "?";
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  return meant(nearest(word, names));
}

} // namespace quarry::cli
