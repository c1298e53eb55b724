#include "base/json.hpp"
#include "index/read_page.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace quarry::index {

namespace {

Unexpected error(std::string_view what, std::string_view why) {
  return fail(ErrorKind::corrupt, "I021", fmt::format("{} {}", what, why));
}

const Json* find(const Json& object, const char* key) {
  auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

class FileReader {
public:
  FileReader(const Json& object, std::string_view what) : object_(object), what_(what) {}

  Result<PageFile> read() {
    if (!object_.is_object()) return error(what_, "lists a file that is not an object");
    file_.filename = text("filename");
    file_.url = text("url");
    if (file_.filename.empty() || file_.url.empty()) return error(what_, "lists a file without filename or url");
    if (auto hash = file_.url.find('#'); hash != std::string::npos) file_.url.resize(hash);
    file_.requires_python = text("requires-python");
    file_.upload_time = text("upload-time");
    if (const auto* time = find(object_, "upload-time"); time && file_.upload_time.empty()) note_null("upload-time");
    const auto* untested = find(object_, "_untested");
    file_.untested = untested && *untested == true;
    take_hashes();
    take_size();
    take_yanked();
    take_core_metadata();
    return std::move(file_);
  }

private:
  std::string text(const char* key) const {
    const auto* value = find(object_, key);
    return value && value->is_string() ? value->get<std::string>() : "";
  }
  void note_null(const char* key) { file_.nulls.emplace_back(key); }

  void take_hashes() {
    const auto* hashes = find(object_, "hashes");
    if (!hashes || !hashes->is_object()) return note_null("hashes");
    for (const auto& [algorithm, digest] : hashes->items())
      if (digest.is_string()) file_.hashes.emplace_back(algorithm, digest.get<std::string>());
    std::sort(file_.hashes.begin(), file_.hashes.end());
  }

  void take_size() {
    const auto* size = find(object_, "size");
    if (!size) return;
    if (size->is_number_unsigned())
      file_.size = size->get<std::uint64_t>();
    else
      note_null("size");
  }

  void take_yanked() {
    const auto* yanked = find(object_, "yanked");
    if (!yanked) return;
    if (yanked->is_string()) {
      file_.yanked = true;
      file_.yank_reason = yanked->get<std::string>();
    } else if (yanked->is_boolean()) {
      file_.yanked = yanked->get<bool>();
    } else {
      note_null("yanked");
    }
  }

  void take_core_metadata() {
    const auto* metadata = find(object_, "core-metadata");
    if (!metadata) return;
    if (metadata->is_object() && metadata->contains("sha256") && (*metadata)["sha256"].is_string())
      file_.core_metadata = "sha256=" + (*metadata)["sha256"].get<std::string>();
    else if (metadata->is_object() || (metadata->is_boolean() && metadata->get<bool>()))
      file_.core_metadata = "true";
    else if (!metadata->is_boolean())
      note_null("core-metadata");
  }

  const Json& object_;
  std::string_view what_;
  PageFile file_;
};

Result<void> read_project(const Json& root, std::string_view what, IndexPage& page) {
  const auto* files = find(root, "files");
  if (!files->is_array()) return error(what, "has \"files\" that is not a list");
  if (files->size() > k_page_links_max) return error(what, fmt::format("has more than {} files", k_page_links_max));
  for (const auto& object : *files) {
    TRY(auto file, FileReader(object, what).read());
    page.files.push_back(std::move(file));
  }
  if (const auto* versions = find(root, "versions"); versions && versions->is_array())
    for (const auto& version : *versions)
      if (version.is_string()) page.versions.push_back(version.get<std::string>());
  return {};
}

Result<void> read_root(const Json& root, std::string_view what, IndexPage& page) {
  const auto* projects = find(root, "projects");
  if (!projects || !projects->is_array()) return error(what, "has neither \"files\" nor \"projects\"");
  for (const auto& project : *projects) {
    if (!project.is_object() || json::string_or(project, "name", "").empty())
      return error(what, "lists a project without a name");
    page.projects.push_back(project["name"].get<std::string>());
  }
  return {};
}

} // namespace

Result<IndexPage> read_json_page(NamedText named) {
  const auto [text, what] = named;
  if (text.size() > k_json_page_bytes_max)
    return error(what, fmt::format("is larger than {} MiB", k_json_page_bytes_max >> 20));
  auto parsed = json::parse({text, what});
  if (!parsed || !parsed->is_object()) return error(what, parsed ? "is not a JSON object" : "is not JSON");
  IndexPage page;
  page.name = json::string_or(*parsed, "name", "");
  if (const auto* meta = find(*parsed, "meta")) page.api_version = json::string_or(*meta, "api-version", "");
  TRY_DO(find(*parsed, "files") ? read_project(*parsed, what, page) : read_root(*parsed, what, page));
  return page;
}

} // namespace quarry::index
