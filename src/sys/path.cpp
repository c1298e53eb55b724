#include "sys/path.hpp"

#include "base/text.hpp"

namespace quarry::path {

bool is_absolute(std::string_view path) { return !path.empty() && path[0] == '/'; }

std::string join(std::string_view directory, std::string_view name) {
  if (directory.empty() || is_absolute(name)) return std::string(name);
  if (name.empty()) return std::string(directory);
  return std::string(directory) + (directory.back() == '/' ? "" : "/") + std::string(name);
}

std::string_view basename(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  auto at = path.rfind('/');
  return at == path.npos || path.size() == 1 ? path : path.substr(at + 1);
}

std::string dirname(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  auto at = path.rfind('/');
  return at == path.npos ? "." : at == 0 ? "/" : std::string(path.substr(0, at));
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> out;
  for (auto& part : text::split_any(path, "/"))
    if (part != ".") out.push_back(std::move(part));
  return out;
}

std::string normal(std::string_view path) {
  std::vector<std::string> out;
  for (auto& part : components(path)) {
    if (part == ".." && !out.empty() && out.back() != "..")
      out.pop_back();
    else if (part != ".." || !is_absolute(path))
      out.push_back(std::move(part));
  }
  auto joined = text::join(out, "/");
  return is_absolute(path) ? "/" + joined : joined.empty() ? "." : joined;
}

std::string relative(std::string_view to, std::string_view from) {
  auto target = components(to), base = components(from);
  std::size_t common = 0;
  while (common < target.size() && common < base.size() && target[common] == base[common]) ++common;
  std::vector<std::string> out(base.size() - common, "..");
  out.insert(out.end(), target.begin() + static_cast<std::ptrdiff_t>(common), target.end());
  return out.empty() ? "." : text::join(out, "/");
}

} // namespace quarry::path
