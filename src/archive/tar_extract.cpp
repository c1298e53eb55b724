#include "archive/tar_extract.hpp"

namespace quarry::archive {

Result<void> TarExtractor::begin(const TarMember& member) {
  if (member.type == TarType::directory) return root_.make_directories(member.path);
  ++files_;
  if (member.type == TarType::symlink) {
    symlinks_.emplace_back(member.path, member.link);
    return {};
  }
  if (member.type == TarType::hardlink) {
    TRY_DO(root_.hardlink(member.link, member.path));
    TRY(auto file, root_.open_read(member.path));
    TRY(auto size, file.size());
    bytes_ += size;
    return {};
  }
  TRY(file_, root_.create_file(member.path, member.executable ? 0755 : 0644));
  path_ = member.path;
  offset_ = 0;
  bytes_ += member.size;
  return {};
}

Result<void> TarExtractor::data(std::span<const std::byte> chunk) {
  TRY_DO(file_.write_at(offset_, chunk), "while writing " + path_);
  offset_ += chunk.size();
  return {};
}

Result<void> TarExtractor::end() {
  file_.close();
  return {};
}

Result<void> TarExtractor::make_links() {
  for (const auto& [path, target] : symlinks_) TRY_DO(root_.symlink(path, target));
  return {};
}

} // namespace quarry::archive
