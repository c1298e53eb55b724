// By hand rather than through a tree of values: an index of half a million files is a page of 200 MB. Keys are sorted.
#include "index/entries.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace quarry::index {

namespace {

constexpr auto is_escaped = [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; };

void quoted(std::string& out, std::string_view text) {
  out += '"';
  for (auto at = text.begin(); at != text.end();) {
    auto end = std::find_if(at, text.end(), is_escaped); // digests and URLs, half of a page, are one run each
    out.append(at, end);
    if (end == text.end()) break;
    if (*end == '"' || *end == '\\')
      (out += '\\') += *end;
    else
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(*end));
    at = end + 1;
  }
  out += '"';
}

void member(std::string& out, std::string_view name, std::string_view value) {
  out.append("\"").append(name).append("\":");
  quoted(out, value);
}

/// Every value is real or left out: uv rejects a whole page for one null size, yanked or upload-time.
void file_object(std::string& out, const Entry& entry) {
  const auto& file = *entry.file;
  out += '{';
  if (!has_digest(file)) out.append("\"_untested\":true,");
  if (offers_metadata(file))
    out.append("\"core-metadata\":{\"sha256\":\"").append(file.metadata_sha256->hex()).append("\"},");
  member(out, "filename", file.filename);
  out.append(",\"hashes\":{");
  if (has_digest(file)) member(out, "sha256", file.sha256.hex());
  out.append("},");
  if (!file.requires_python.empty()) {
    member(out, "requires-python", file.requires_python);
    out += ',';
  }
  out.append("\"size\":").append(std::to_string(file.size)).append(",");
  if (!file.upload_time.empty()) {
    member(out, "upload-time", file.upload_time);
    out += ',';
  }
  member(out, "url", entry.href);
  out += ",\"yanked\":";
  if (file.yanked.empty())
    out += "false";
  else
    quoted(out, file.yanked);
  out += '}';
}

void meta_object(std::string& out) { out.append("\"meta\":{\"api-version\":\"").append(k_api_version).append("\"}"); }

/// Each version once, in the order of the entries, which is ascending. 1.0 and 1.0.0 may alternate.
void versions_array(std::string& out, const Entries& entries) {
  std::set<std::string_view> seen;
  out += '[';
  for (const auto& entry : entries) {
    if (!seen.insert(entry.file->version).second) continue;
    if (seen.size() > 1) out += ',';
    quoted(out, entry.file->version);
  }
  out += ']';
}

} // namespace

std::string json_of_entries(std::string_view project, const Entries& entries) {
  std::string out = "{\"files\":[";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i) out += ',';
    file_object(out, entries[i]);
  }
  out += "],";
  meta_object(out);
  out += ',';
  member(out, "name", project);
  out += ",\"versions\":";
  versions_array(out, entries);
  out += "}\n";
  return out;
}

std::string root_json(std::vector<std::string> projects) {
  std::sort(projects.begin(), projects.end());
  projects.erase(std::unique(projects.begin(), projects.end()), projects.end());
  std::string out = "{";
  meta_object(out);
  out += ",\"projects\":[";
  for (std::size_t i = 0; i < projects.size(); ++i) {
    out += i ? ",{" : "{";
    member(out, "name", projects[i]);
    out += '}';
  }
  out += "]}\n";
  return out;
}

} // namespace quarry::index
