#include "cli/codes.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "cli/suggest.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>

namespace quarry::cli {

namespace {
constexpr std::string_view k_directory = "data/codes/";
constexpr std::string_view k_codes_hint = "data/codes/README.md shows the form";
constexpr std::ptrdiff_t k_neighbours_each_side = 3;

std::string room_of(std::string_view file) {
  file.remove_prefix(k_directory.size());
  return std::string(file.substr(0, file.find('.')));
}

std::string clean(std::string_view asked) {
  auto open = asked.find('['), close = asked.find(']');
  if (open != asked.npos && close != asked.npos && open < close) asked = asked.substr(open + 1, close - open - 1);
  std::string code(text::trim(asked));
  if (!code.empty() && ascii::is_lower(code[0])) code[0] = static_cast<char>(code[0] - 'a' + 'A');
  return code;
}

Result<void> load_file(const Resources& resources, const std::string& file, std::map<std::string, Explanation>& codes) {
  auto content = resources.read(file);
  if (!content) return fail(ErrorKind::internal, "C030", fmt::format("{} cannot be read", file));
  TRY(auto table, TomlTable::parse({*content, file}, {"C030", "C030", std::string(k_codes_hint)}));
  for (const auto& code : table.keys()) {
    Explanation explanation{code, "", "", "", room_of(file)};
    TRY_DO(table.table(code, [&](TomlTable& entry) -> Result<void> {
      std::string constant; // cmake/codes.cmake makes it
      TRY_DO(entry.text("name", constant, false));
      TRY_DO(entry.text("title", explanation.title, true));
      TRY_DO(entry.text("about", explanation.about, true));
      return entry.text("fix", explanation.fix, true);
    }));
    auto [other, added] = codes.emplace(code, std::move(explanation));
    if (!added) return table.error(code, fmt::format("is explained in {}.toml already", other->second.room));
  }
  return table.finish();
}
} // namespace

Result<std::map<std::string, Explanation>> load_codes(const Resources& resources) {
  std::map<std::string, Explanation> codes;
  for (const auto& file : resources.list(k_directory))
    if (file.ends_with(".toml")) TRY_DO(load_file(resources, file, codes));
  return codes;
}

Result<std::map<std::string, Explanation>> load_codes_of(const Resources& resources, const std::string& room) {
  std::map<std::string, Explanation> codes;
  TRY_DO(load_file(resources, std::string(k_directory) + room + ".toml", codes));
  return codes;
}

std::function<bool(const std::string&)> fits_code_of(const std::map<std::string, Explanation>& codes) {
  return [&codes](const std::string& glob) {
    return std::ranges::any_of(codes, [&](const auto& each) { return text::glob_match(glob, each.first); });
  };
}

Result<Explanation> find_code(const std::map<std::string, Explanation>& codes, std::string_view asked) {
  auto code = clean(asked);
  if (auto found = codes.find(code); found != codes.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, explanation] : codes) names.push_back(name);
  auto near = did_you_mean(code, names);
  return fail(ErrorKind::not_found, "C031", fmt::format("there is no code `{}`", code),
              near.empty() ? "`quarry explain --list` shows them all"
                           : near + " `quarry explain --list` shows them all");
}

std::vector<std::string> neighbours(const std::map<std::string, Explanation>& codes, const Explanation& of) {
  std::vector<std::string> room;
  for (const auto& [name, explanation] : codes)
    if (explanation.room == of.room) room.push_back(name);
  auto here = std::find(room.begin(), room.end(), of.code);
  if (here == room.end()) return {};
  auto first = here - std::min(k_neighbours_each_side, here - room.begin());
  auto last = here + std::min(k_neighbours_each_side + 1, room.end() - here);
  std::vector<std::string> result(first, last);
  std::erase(result, of.code);
  return result;
}

} // namespace quarry::cli
