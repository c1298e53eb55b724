#include "derive/sdist.hpp"

#include "codec/compression.hpp"
#include "dist/name.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::derive {

namespace {

constexpr std::uint64_t k_sdist_bytes_max = 256u << 20; // that of `rocm` unpacks to 200 KB; it is held in memory

Unexpected unsupported_sdist(const std::string& file_name, std::string_view why) {
  return fail(ErrorKind::unsupported, "O107", fmt::format("{} cannot be made anew: {}", file_name, why),
              "build the release from its sources instead");
}

class SdistCollector : public tar::Visitor {
public:
  explicit SdistCollector(Sdist& sdist) : sdist_(sdist) {}
  Result<void> begin(const tar::Member& member) override {
    total_ += member.size;
    if (total_ > k_sdist_bytes_max) return unsupported_sdist(sdist_.file_name, "it has more than 256 MiB of files");
    if (member.type == tar::Type::hardlink)
      return unsupported_sdist(sdist_.file_name, fmt::format("{} is a hard link", member.path));
    sdist_.members.push_back({member.path, member.type, member.executable, member.link, {}});
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    sdist_.members.back().content.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return {};
  }
  Result<void> end() override { return {}; }

private:
  Sdist& sdist_;
  std::uint64_t total_ = 0;
};

std::string changed_content(const SdistMember& member, const dist::VersionChange& change) {
  auto name = path::basename(member.path);
  if (name == "PKG-INFO") return dist::changed_metadata(member.content, change);
  if (name == "requires.txt") return dist::changed_requirements(member.content, change);
  if (name == "pyproject.toml" || dist::names_version(name)) return dist::changed_literals(member.content, change);
  return member.content;
}

} // namespace

Result<Sdist> read_sdist(const std::string& file_name, const content::Rope& bytes) {
  if (!file_name.ends_with(".tar.gz")) return unsupported_sdist(file_name, "it is not a .tar.gz");
  Sdist sdist{file_name, {}};
  SdistCollector collector(sdist);
  tar::Reader reader(collector, file_name,
                     tar::Limits::for_archive({.archive_bytes = bytes.size(), .ratio = tar::k_tar_ratio_max}));
  TRY_DO(codec::decompress(bytes, codec::Compression::gzip,
                           [&](std::span<const std::byte> part) { return reader.feed(part); }),
         "while reading " + file_name);
  TRY_DO(reader.finish(), "while reading " + file_name);
  return sdist;
}

Result<Sdist> changed_sdist(const Sdist& sdist, const dist::VersionChange& change, std::vector<std::string>& changed) {
  TRY(auto name, dist::SdistName::parse(sdist.file_name));
  auto version = change.of(name.raw_version);
  if (!version)
    return fail(ErrorKind::invalid_argument, "W030",
                fmt::format("the version of {} does not name {}", sdist.file_name, change.candidate().str()),
                "its file name would stay, and a published name never gets other bytes");
  auto old_top = fmt::format("{}-{}", name.raw_name, name.raw_version);
  auto new_top = fmt::format("{}-{}", name.raw_name, *version);
  Sdist made{new_top + ".tar.gz", {}};
  for (auto member : sdist.members) {
    auto content = changed_content(member, change);
    if (member.path == old_top || member.path.starts_with(old_top + "/"))
      member.path = new_top + member.path.substr(old_top.size());
    if (content != member.content) changed.push_back(member.path);
    member.content = std::move(content);
    made.members.push_back(std::move(member));
  }
  return made;
}

Result<std::string> packed_sdist(const Sdist& sdist) {
  std::string bytes;
  auto gzip =
      codec::Compressor::create(codec::Compression::gzip, 1, [&](std::span<const std::byte> chunk) -> Result<void> {
        bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        return {};
      });
  tar::Writer tar([&](std::span<const std::byte> chunk) { return gzip->write(chunk); });
  for (const auto& member : sdist.members) {
    if (member.type == tar::Type::directory)
      TRY_DO(tar.directory(member.path), "while writing " + sdist.file_name);
    else if (member.type == tar::Type::symlink)
      TRY_DO(tar.symlink(member.path, member.link), "while writing " + sdist.file_name);
    else
      TRY_DO(tar.file(member.path, content::Rope::literal(member.content), member.executable),
             "while writing " + sdist.file_name);
  }
  TRY_DO(tar.finish());
  TRY_DO(gzip->finish());
  return bytes;
}

} // namespace quarry::derive
