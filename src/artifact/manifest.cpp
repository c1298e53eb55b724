#include "artifact/manifest.hpp"

#include "base/text.hpp"
#include "names/entry_names.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::artifact {

namespace {
Result<void> check_base(std::string_view base, std::string_view what) {
  auto bad = [&](std::string_view why) {
    return fail(ErrorKind::corrupt, "A004",
                fmt::format("{} names the base directory {:?}, which {}", what, std::string(base), why));
  };
  if (std::any_of(base.begin(), base.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; }))
    return bad("holds a control character or a backslash");
  if (base.starts_with('/')) return bad("is absolute");
  for (const auto& part : text::split(base, '/')) {
    if (part.empty() || part == "." || part == "..") return bad("is not a plain relative path");
    if (part.size() > 255) return bad("has a component of more than 255 bytes");
  }
  if (base.size() > 4096) return bad("has more than 4,096 bytes");
  if (!text::is_valid_utf8(base)) return bad("is not UTF-8");
  if (auto defect = names::check_name(base)) return bad("is not a name for an archive: " + defect->message);
  return {};
}
} // namespace

Result<std::vector<std::string>> parse_manifest(std::string_view text, std::string_view what) {
  if (text.size() > k_manifest_bytes_max)
    return fail(ErrorKind::corrupt, "A004",
                fmt::format("{} has {} bytes, more than {}", what, text.size(), k_manifest_bytes_max));
  std::vector<std::string> bases;
  std::set<std::string> seen;
  for (auto& line : text::lines(text)) {
    if (line.empty()) continue;
    if (line.size() > 1 && line.ends_with('/')) line.pop_back();
    TRY_DO(check_base(line, what));
    if (!seen.insert(line).second)
      return fail(ErrorKind::corrupt, "A004", fmt::format("{} names the base directory {} twice", what, line));
    bases.push_back(std::move(line));
    if (bases.size() > k_bases_max)
      return fail(ErrorKind::corrupt, "A004", fmt::format("{} names more than {} base directories", what, k_bases_max));
  }
  return bases;
}

std::string manifest_text(const std::vector<std::string>& bases) {
  std::string text;
  for (const auto& base : bases) text += base + "\n";
  return text;
}

const std::string* base_of(const std::vector<std::string>& bases, std::string_view path) {
  for (const auto& base : bases)
    if (path.starts_with(base) && (path.size() == base.size() || path[base.size()] == '/')) return &base;
  return nullptr;
}

} // namespace quarry::artifact
