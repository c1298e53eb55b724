#include "publish/history_look.hpp"

#include "base/code_rooms.hpp"
#include "dist/resolver_fields.hpp"
#include "index/describe.hpp"
#include "index/site.hpp"
#include "store/put_once.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "wheel/look.hpp"
#include <fmt/core.h>

namespace quarry::publish {

using registry::HistoryFile;
using store::ObjectReader;

namespace {

Unexpected is_gone(const std::string& key) {
  return fail(ErrorKind::precondition_failed, "P111", fmt::format("{} disappeared while it was looked at", key),
              "nothing was changed: run it again when the other tool is quiet");
}

/// What is known of the digest without reading the file.
Result<void> take_digest(HistoryFile& file, const std::optional<Sha256>& known, const char* from) {
  if (!known) return {};
  if (file.sha256 && *file.sha256 != *known)
    return fail(ErrorKind::corrupt, "P114",
                fmt::format("sha256 is {} ({}) and {} ({})", file.sha256->hex(), file.digest_from, known->hex(), from));
  if (file.sha256) return {};
  file.sha256 = known;
  file.digest_from = from;
  return {};
}

// Old metadata may hold what no installer reads today: such a line is left out of the page.
std::string readable_requirement(const std::string& requires_python) {
  return dist::Specifiers::parse(requires_python) ? requires_python : std::string();
}

Result<void> look_at_wheel(ObjectReader& target, Looked& looked) {
  auto& file = looked.file;
  TRY(auto rope, target.open(file.key));
  TRY(auto found, wheel::look_at_metadata(rope, file.filename));
  file.project = found.name.project.str();
  file.version = found.name.version.str();
  file.requires_python = readable_requirement(found.metadata.requires_python);
  file.metadata_sha256 = sha256(found.text);
  looked.sidecar = std::move(found.text);
  return {};
}

Result<void> look_at_sdist(ObjectReader& target, const std::string& temporary, Looked& looked) {
  auto& file = looked.file;
  TRY(auto local, index::fetched(target, file.key, temporary));
  TRY(auto described, index::describe(local.path(), 1));
  file.project = described.file.project;
  file.version = described.file.version;
  file.requires_python = described.file.requires_python;
  file.sha256 = described.file.sha256;
  file.digest_from = registry::digest_source::k_read;
  return {};
}

} // namespace

bool is_of_the_package(const Error& error) {
  if (registry::is_transport_error(error))
    return false; // also an object that was replaced, or a full temporary directory
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::failed ||
         error.kind == ErrorKind::invalid_argument || error.kind == ErrorKind::resource_exhausted;
}

Result<Looked> look_at_found(ObjectReader& target, const LookAt& look) {
  TRY(auto info, target.head(look.object.key));
  if (!info) return is_gone(look.object.key);
  Looked looked;
  auto& file = looked.file;
  file.key = look.object.key;
  file.filename = path::basename(file.key);
  file.size = info->size;
  file.etag = look.object.etag.empty() ? info->etag : look.object.etag;
  if (look.object.modified_us) file.upload_time = sys::rfc3339(look.object.modified_us);
  if (look.said.yanked) file.yanked = look.said.yank_reason.empty() ? "yanked" : look.said.yank_reason;
  TRY(auto name, dist::DistributionName::parse(file.filename));
  auto done = name.kind == dist::DistributionKind::wheel ? look_at_wheel(target, looked)
                                                         : look_at_sdist(target, look.temporary, looked);
  bool of_this_machine =
      !done && codes::room_of(done.error().code) == "sys"; // such as the directory for temporary files
  if (!done && !of_this_machine && done.error().kind == ErrorKind::not_found) return is_gone(file.key);
  if (!done) return fail(std::move(done).error());
  TRY_DO(take_digest(file, store::recorded_at(*info, info->size), registry::digest_source::k_store));
  TRY_DO(take_digest(file, look.said.sha256, registry::digest_source::k_page));
  TRY_DO(take_digest(file, look.said.other, registry::digest_source::k_page));
  return looked;
}

} // namespace quarry::publish
