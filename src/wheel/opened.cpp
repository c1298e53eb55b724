#include "wheel/opened.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/shown.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::wheel {

Unexpected not_sound(const std::string& path, std::vector<std::string> details, ErrorKind kind) {
  return fail(Error::of(kind, "W010", fmt::format("{} is not a sound wheel", path))
                  .with_details(text::first_lines(std::move(details), k_details_max))
                  .with_hint(fmt::format("`quarry wheel verify {}` lists everything", path)));
}

Result<Opened> open_wheel(const std::string& path) {
  TRY_DO(dist::WheelName::parse(path::basename(path)));
  TRY(auto rope, content::Rope::file(path));
  return open_wheel(std::move(rope), path);
}

Result<Opened> open_wheel(content::Rope bytes, const std::string& path) {
  TRY(auto name, dist::WheelName::parse(path::basename(path)));
  Findings findings;
  auto zip = zip::Reader::open(std::move(bytes), path, findings);
  if (!zip || has_errors(findings)) {
    std::vector<std::string> details;
    for (const auto& f : findings)
      if (f.severity == Severity::error) details.push_back(fmt::format("{}: {}: {}", f.code, f.place, f.message));
    return not_sound(path, std::move(details), ErrorKind::corrupt);
  }
  std::set<std::string> found;
  for (const auto& m : zip->members())
    if (auto top = std::string(top_directory(m.name)); top.size() < m.name.size() && belongs_to(top, name))
      found.insert(std::move(top));
  if (found.size() != 1) return not_sound(path, {"it needs one dist-info directory of its name"});
  return Opened{std::move(name), std::move(*zip), *found.begin(), path};
}

Result<std::string> text_of(const Opened& wheel, std::string_view file, std::uint64_t max_bytes) {
  const auto* member = wheel.zip.find(fmt::format("{}/{}", wheel.dist_info, file));
  if (!member) return not_sound(wheel.path, {fmt::format("{}/{} is missing", wheel.dist_info, file)});
  return wheel.zip.read_all(*member, max_bytes);
}

Result<std::vector<dist::RecordRow>> kept_rows(const Opened& wheel, const std::vector<const zip::Member*>& kept,
                                               const std::string& path) {
  TRY(auto text, text_of(wheel, "RECORD", dist::k_record_bytes_max));
  TRY(auto rows, dist::parse_record(text), "while reading " + path);
  std::map<std::string, const dist::RecordRow*, std::less<>> by_path;
  for (const auto& row : rows) by_path.emplace(row.path, &row);
  std::vector<dist::RecordRow> result;
  std::vector<std::string> missing;
  for (const auto* member : kept) {
    auto found = by_path.find(member->name);
    if (found == by_path.end())
      missing.push_back(fmt::format("RECORD does not list {}", member->name));
    else
      result.push_back(*found->second);
  }
  std::set<std::string_view> names;
  for (const auto& member : wheel.zip.members()) names.insert(member.name);
  for (const auto& row : rows) // a new RECORD would hide that a file was lost
    if (!names.contains(row.path)) missing.push_back(fmt::format("RECORD lists {}, which the wheel lacks", row.path));
  if (!missing.empty()) return not_sound(path, std::move(missing));
  return result;
}

Result<bool> same_bytes(const content::Rope& a, const content::Rope& b) {
  constexpr std::uint64_t k_step = 1u << 20;
  std::vector<std::byte> left(std::min(a.size(), k_step)), right(left.size());
  for (std::uint64_t at = 0; at < a.size(); at += k_step) {
    auto size = std::min(k_step, a.size() - at);
    TRY_DO(a.read(at, std::span(left).first(size)));
    TRY_DO(b.read(at, std::span(right).first(size)));
    if (std::memcmp(left.data(), right.data(), size) != 0) return false; // std::equal() goes byte by byte
  }
  return true;
}

} // namespace quarry::wheel
