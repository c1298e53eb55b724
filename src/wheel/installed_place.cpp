#include "wheel/installed_place.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include <algorithm>
#include <vector>

namespace quarry::wheel {

namespace {

// `lib/python3.12/site-packages`, `local/lib/python3.12/dist-packages`, `Lib/site-packages`, `Python312/site-packages`.
constexpr std::size_t k_site_depth_max = 3;
// `include/python3.12/NAME`, `include/site/python3.12/NAME`.
constexpr std::size_t k_header_depth_max = 3;

std::string joined_from(const std::vector<std::string>& parts, std::size_t first) {
  return text::join(std::vector<std::string>(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end()), "/");
}

/// How many leading parts are a site-packages directory; 0: none.
std::size_t site_packages_prefix(const std::vector<std::string>& folded) {
  if (folded[0] != "lib" && folded[0] != "lib64" && folded[0] != "local" && !folded[0].starts_with("python")) return 0;
  for (std::size_t i = 1; i + 1 < folded.size() && i <= k_site_depth_max; ++i)
    if (folded[i] == "site-packages" || folded[i] == "dist-packages") return i + 1;
  return 0;
}

/// How many leading parts are the project's directory of headers; 0: none. `include/NAME` is another directory than the
/// one that headers go to in a virtual environment.
std::size_t headers_prefix(const std::vector<std::string>& folded, const std::string& project) {
  if (folded[0] != "include") return 0;
  for (std::size_t i = 2; i + 1 < folded.size() && i <= k_header_depth_max; ++i) {
    auto name = dist::ProjectName::parse(folded[i]);
    if (name && name->str() == project && folded[i - 1].starts_with("py")) return i + 1;
  }
  return 0;
}

InstalledPlace place_of_data(std::string_view path, const Placing& placing) {
  auto parts = text::split(path, '/');
  auto folded = text::split(text::lower(path), '/'); // file systems of Windows and macOS ignore case
  if (parts.size() > 1 && (folded[0] == "bin" || (placing.windows && folded[0] == "scripts")))
    return {Tree::scripts, joined_from(parts, 1), true};
  if (auto prefix = site_packages_prefix(folded)) return {Tree::site_packages, joined_from(parts, prefix), true};
  if (auto prefix = headers_prefix(folded, placing.project)) return {Tree::headers, joined_from(parts, prefix), true};
  if (parts[0] == "lib64") parts[0] = "lib"; // a virtual environment on Linux has a link lib64 -> lib
  return {Tree::data, joined_from(parts, 0), true};
}

} // namespace

std::string_view to_string(Tree tree) {
  switch (tree) {
  case Tree::site_packages: return "site-packages";
  case Tree::scripts: return "the scripts directory";
  case Tree::headers: return "the headers directory";
  case Tree::data: return "the environment's directory";
  }
  return "";
}

std::optional<InstalledPlace> installed_place(std::string_view member, const Placing& placing) {
  if (member == placing.data) return std::nullopt;
  if (!member.starts_with(placing.data) || member[placing.data.size()] != '/')
    return InstalledPlace{Tree::site_packages, std::string(member), false};
  member.remove_prefix(placing.data.size() + 1);
  auto slash = member.find('/');
  if (slash == member.npos) return std::nullopt;
  auto key = member.substr(0, slash), rest = member.substr(slash + 1);
  if (key == "purelib" || key == "platlib") return InstalledPlace{Tree::site_packages, std::string(rest), true};
  if (key == "scripts") return InstalledPlace{Tree::scripts, std::string(rest), true};
  if (key == "headers") return InstalledPlace{Tree::headers, std::string(rest), true};
  if (key == "data") return place_of_data(rest, placing);
  return std::nullopt; // an unknown key is W011
}

} // namespace quarry::wheel
