#include "tar/extract.hpp"

#include <algorithm>

namespace quarry::tar {

namespace {
// Written at once. From 2 MiB on the kernel makes folios of that size for the page cache, which cost up to ten times as
// much as small ones that were in use before (ext4, Linux 6.18); below that, more calls cost nothing that shows.
constexpr std::size_t k_write = 256u << 10;
} // namespace

Result<void> Extractor::begin(const Member& member) {
  if (member.type == Type::directory) return root_.make_directories(member.path);
  ++files_;
  if (member.type == Type::symlink) {
    symlinks_.emplace_back(member.path, member.link);
    return {};
  }
  if (member.type == Type::hardlink) {
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

Result<void> Extractor::data(std::span<const std::byte> chunk) {
  while (!chunk.empty()) {
    auto part = chunk.first(std::min(chunk.size(), k_write));
    TRY_DO(file_.write_at(offset_, part), "while writing " + path_);
    offset_ += part.size();
    chunk = chunk.subspan(part.size());
  }
  return {};
}

Result<void> Extractor::end() {
  file_.close();
  return {};
}

Result<void> Extractor::make_links() {
  for (const auto& [path, target] : symlinks_) TRY_DO(root_.symlink(path, target));
  return {};
}

} // namespace quarry::tar
