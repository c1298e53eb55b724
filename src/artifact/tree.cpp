#include "artifact/tree.hpp"

#include "artifact/base_tree.hpp"
#include "artifact/exploded.hpp"
#include "artifact/unpack.hpp"
#include "content/spool.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <unordered_map>

namespace quarry::artifact {

namespace {
// Eight of our own frames: as many chunks as a packer has in hand lie in two or three of them.
constexpr std::uint64_t k_cache_bytes = 64u << 20;

using content::Spool;

struct Placed {
  tar::Member member;
  std::uint64_t offset = 0; ///< of its bytes in the stream, or in the spool
};

/// Writes down what is where; keeps the bytes themselves only when there is a spool.
class Recorder final : public tar::Visitor {
public:
  explicit Recorder(Spool* spool) : spool_(spool) {}
  Result<void> begin(const tar::Member& member) override {
    members.push_back({member, spool_ ? spool_->size() : member.offset});
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    return spool_ ? spool_->append(chunk) : Result<void>{};
  }
  Result<void> end() override { return {}; }
  std::vector<Placed> members;

private:
  Spool* spool_;
};

std::string below(const std::string& base, const std::string& path) {
  return path.size() == base.size() ? std::string() : path.substr(base.size() + 1);
}

sys::EntryType type_of(tar::Type type) {
  return type == tar::Type::directory ? sys::EntryType::directory
         : type == tar::Type::symlink ? sys::EntryType::symlink
                                      : sys::EntryType::file;
}

// An archive names a directory only when it is empty, or never: what lies in one says that it is there.
void add_parents(const std::string& path, const std::string& place, std::set<std::string>& known,
                 std::vector<TreeFile>& files) {
  auto parent = path::dirname(path);
  if (parent == "." || !known.insert(parent).second) return;
  add_parents(parent, place, known, files);
  files.push_back({parent, sys::EntryType::directory, 0, false, {}, {}, place});
}

std::vector<TreeFile> files_of(const ArchivedArtifact& artifact, const std::vector<Placed>& members,
                               const std::vector<std::string>& bases, const content::Rope& stream) {
  std::vector<TreeFile> files;
  std::unordered_map<std::string, std::size_t> by_path; // for hard links, which name a member that came before
  std::set<std::string> directories;
  BaseTree base_tree(bases);
  for (const auto& [member, offset] : members) {
    auto base = base_tree.find(member.path);
    auto path = base != BaseTree::k_none ? below(bases[base], member.path) : std::string();
    if (path.empty()) continue; // the manifest, a base, a parent of one
    TreeFile file{std::move(path),
                  type_of(member.type),
                  member.size,
                  member.executable,
                  {},
                  {},
                  artifact.file + "!" + member.path};
    if (member.type == tar::Type::symlink) file.link = member.link;
    if (member.type == tar::Type::file) file.data = stream.slice(offset, member.size);
    if (member.type == tar::Type::hardlink) {
      const auto& original = files[by_path.at(member.link)];
      file.size = original.size;
      file.executable = original.executable;
      file.data = original.data;
    }
    add_parents(file.path, file.place, directories, files);
    if (file.type == sys::EntryType::directory && !directories.insert(file.path).second) continue;
    by_path.emplace(member.path, files.size());
    files.push_back(std::move(file));
  }
  return files;
}
} // namespace

TreeReader::TreeReader(TreeOptions options)
    : options_(std::move(options)), mutex_(std::make_shared<std::mutex>()),
      permits_(codec::permits_for(options_.workers)), cache_(std::make_shared<codec::FrameCache>(k_cache_bytes)) {}

Result<std::vector<TreeFile>> TreeReader::read(const ExplodedArtifact& artifact) const {
  std::vector<TreeFile> files;
  TRY_DO(refuse_uncovered(artifact.directory, artifact.bases), "while reading artifact " + artifact.name.text());
  for (const auto& base : artifact.bases) {
    auto root = path::join(artifact.directory, base);
    TRY(auto listed, sys::list_tree(root), "while reading artifact " + artifact.name.text());
    for (auto& e : listed) {
      auto disk = path::join(root, e.path);
      if (e.type == sys::EntryType::other)
        return fail(ErrorKind::corrupt, "T009", fmt::format("{} is a device, fifo or socket", disk),
                    "an artifact holds files, directories and links only");
      auto data = e.type == sys::EntryType::file ? content::Rope::file(disk, e.size) : content::Rope();
      bool executable = e.executable();
      files.push_back(
          {std::move(e.path), e.type, e.size, executable, std::move(e.link), std::move(data), std::move(disk)});
    }
  }
  return files;
}

Result<std::vector<TreeFile>> TreeReader::read(const ArchivedArtifact& artifact) const {
  TRY(auto packed, content::Rope::file(artifact.path));
  SourceItem item;
  item.name = artifact.name;
  item.file = artifact.file;
  item.compression = artifact.compression;
  item.checksum = artifact.checksum;
  item.open = [&]() -> Result<content::Rope> { return packed; };
  UnpackOptions unpack;
  unpack.codec = {options_.workers, permits_};
  unpack.allow_unverified = options_.allow_unverified;
  unpack.max_ratio = options_.max_ratio;
  unpack.on_bytes = [this](std::uint64_t bytes) -> Result<void> {
    std::lock_guard lock(*mutex_);
    if (options_.on_bytes) options_.on_bytes(bytes);
    return {};
  };
  // Headers that do not hold together are worth reporting only when the checksum is right: reading it all settles that.
  auto frames = codec::find_frames(packed, artifact.compression);
  if (frames && *frames) {
    auto stream = content::Rope::of(codec::open_frames(packed, artifact.compression, std::move(**frames), cache_));
    Recorder recorder(nullptr);
    TRY(auto unpacked,
        item.checksum ? index_archive(item, stream, recorder, unpack) : read_archive(item, recorder, unpack));
    return files_of(artifact, recorder.members, unpacked.bases, stream);
  }
  TRY(auto spool, Spool::create(options_.spool_directory));
  Recorder recorder(spool.get());
  TRY(auto unpacked, read_archive(item, recorder, unpack));
  return files_of(artifact, recorder.members, unpacked.bases, content::Rope::of(spool));
}

} // namespace quarry::artifact
