#include "wheel/look.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "wheel/dist_info.hpp"
#include "zip/look.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::wheel {

namespace {

constexpr std::string_view k_member = ".dist-info/METADATA";
constexpr std::uint64_t k_page_start = 256; // a page says what it is in its first line

bool is_metadata_of(std::string_view path, const dist::WheelName& name) {
  auto slash = path.find('/');
  return path.ends_with(k_member) && slash == path.rfind('/') && belongs_to(path.substr(0, slash), name);
}

// What a proxy, a login or a mistyped host gives with status 200.
Result<bool> is_page(const content::Rope& file) {
  TRY(auto start, file.slice(0, std::min(file.size(), k_page_start)).read_all(k_page_start));
  auto text = text::lower(text::trim(start));
  return text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<?xml");
}

Result<void> check_agreement(const dist::Metadata& metadata, const dist::WheelName& name,
                             const std::string& file_name) {
  auto project = dist::ProjectName::parse(metadata.name);
  auto version = dist::Version::parse(metadata.version);
  if (project && *project == name.project && version && *version == name.version) return {};
  return fail(ErrorKind::failed, "W007",
              fmt::format("METADATA in {} is of {} {}", file_name, metadata.name, metadata.version),
              "rename the file to what it contains, or build it again");
}

} // namespace

Result<MetadataLook> look_at_metadata(const content::Rope& wheel, const std::string& file_name) {
  TRY(auto name, dist::WheelName::parse(file_name));
  zip::LookRequest request{[&](std::string_view path) { return is_metadata_of(path, name); },
                           dist::k_metadata_bytes_max};
  auto found = zip::look(wheel, file_name, request);
  if (!found && found.error().is(codes::zip_end_damaged)) {
    TRY(auto page, is_page(wheel));
    if (page)
      return fail(ErrorKind::corrupt, "W016", fmt::format("{} is a web page, not a wheel", file_name),
                  "look at the address with curl or a browser: it may want a login, or be the page about the file");
  }
  if (!found) return fail(std::move(found).error());
  if (!*found)
    return fail(ErrorKind::failed, "W006", fmt::format("{} holds no {}/METADATA", file_name, name.dist_info()),
                "rename the file to what it contains, or build it again");
  TRY(auto metadata, dist::Metadata::parse((*found)->content), "while reading METADATA of " + file_name);
  TRY_DO(check_agreement(metadata, name, file_name));
  return MetadataLook{std::move(name), std::move((*found)->name), std::move((*found)->content), std::move(metadata)};
}

} // namespace quarry::wheel
