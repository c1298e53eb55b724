#include "artifact/guard.hpp"

#include "artifact/manifest.hpp"
#include "artifact/name.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

Result<void> ManifestGuard::begin(const tar::Member& member) {
  if (!manifest_done_) {
    if (member.path != k_manifest_name || member.type != tar::Type::file)
      return fail(ErrorKind::corrupt, "A007",
                  fmt::format("{} begins with {} instead of {}", file_, member.path, k_manifest_name),
                  "this archive was not made as an artifact; make it with `quarry artifact pack`");
    if (member.size > k_manifest_bytes_max)
      return fail(
          ErrorKind::corrupt, "A004",
          fmt::format("the manifest of {} has {} bytes, more than {}", file_, member.size, k_manifest_bytes_max));
    reading_manifest_ = true;
    return inner_.begin(member);
  }
  auto base = base_tree_.find(member.path);
  bool in_base = base != BaseTree::k_none;
  bool base_itself = in_base && bases_[base].size() == member.path.size();
  if (base_itself && member.type != tar::Type::directory)
    return fail(ErrorKind::corrupt, "A008",
                fmt::format("{} holds {}, a base directory, as something else", file_, member.path),
                "the archive is hostile or was made wrongly: do not use it");
  bool inside = in_base || (member.type == tar::Type::directory && base_tree_.leads_to_base(member.path));
  bool link_inside = member.type != tar::Type::hardlink || base_tree_.find(member.link) != BaseTree::k_none;
  if (!inside || !link_inside)
    return fail(ErrorKind::corrupt, "A008",
                fmt::format("{} holds {}, which is in no base directory of its manifest", file_,
                            inside ? member.link : member.path),
                "the archive is hostile or was made wrongly: do not use it");
  return inner_.begin(member);
}

Result<void> ManifestGuard::data(std::span<const std::byte> chunk) {
  if (reading_manifest_) text_.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  return inner_.data(chunk);
}

Result<void> ManifestGuard::end() {
  if (reading_manifest_) {
    TRY(bases_, parse_manifest(text_, fmt::format("the manifest of {}", file_)));
    base_tree_ = BaseTree(bases_);
    reading_manifest_ = false;
    manifest_done_ = true;
  }
  return inner_.end();
}

Result<void> ManifestGuard::finish() const {
  if (manifest_done_) return {};
  return fail(ErrorKind::corrupt, "A007", fmt::format("{} holds no {}", file_, k_manifest_name),
              "this archive was not made as an artifact; make it with `quarry artifact pack`");
}

} // namespace quarry::artifact
