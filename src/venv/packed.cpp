#include "venv/packed.hpp"

#include "codec/compression.hpp"
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include "sys/path.hpp"
#include "tar/tar.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_payload_bytes_max =
    1u << 30; // a compressed payload is read into memory; the largest seen has 40 MB

Unexpected unreadable(const std::string& path, std::string_view why) {
  return fail(ErrorKind::corrupt, "V034", fmt::format("{} cannot be read: {}", path::basename(path), why),
              "`quarry wheel verify` says more");
}

Result<zip::Reader> open_zip(const std::string& path) {
  TRY(auto rope, content::Rope::file(path));
  Findings findings;
  auto reader = zip::Reader::open(std::move(rope), std::string(path::basename(path)), findings);
  if (has_errors(findings) || !reader)
    return unreadable(path, findings.empty() ? "it is not a zip archive" : findings.front().message);
  return std::move(*reader);
}

/// Where a row of a wheel's RECORD ends up, relative to site-packages.
std::string installed_path(const std::string& path, const std::string& data, const std::string& project,
                           const std::string& minor) {
  if (!path.starts_with(data)) return path;
  auto scheme = path.substr(data.size(), path.find('/', data.size()) - data.size());
  auto rest = path.substr(std::min(path.size(), data.size() + scheme.size() + 1));
  if (scheme == "purelib" || scheme == "platlib") return rest;
  if (scheme == "scripts") return "../../../bin/" + rest;
  if (scheme == "headers") return fmt::format("../../../include/site/python{}/{}/{}", minor, project, rest);
  return "../../../" + rest;
}

Result<std::optional<dist::Unpacking>> unpacking_of(zip::Reader& zip, const dist::WheelName& name) {
  const auto* member = zip.find(fmt::format("{}/{}", name.dist_info(), dist::k_unpacking_file));
  if (!member) return dist::unpacking_unsaid(name.project.str());
  TRY(auto text, zip.read_all(*member, dist::k_unpacking_bytes_max));
  TRY(auto said, dist::parse_unpacking(text), "while reading " + member->name);
  return std::optional(std::move(said));
}

struct Hasher : tar::Visitor {
  DevelPayload found;
  std::string path;
  Sha256Hasher hasher;
  std::uint64_t size = 0;
  bool is_file = false;
  Result<void> begin(const tar::Member& member) override {
    path = member.path;
    size = 0;
    is_file = member.type == tar::Type::file;
    if (member.type == tar::Type::symlink) found.links[path] = member.link;
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    hasher.update(chunk);
    size += chunk.size();
    return {};
  }
  Result<void> end() override {
    auto digest = hasher.finish();
    if (is_file) found.files[path] = {digest, size};
    return {};
  }
};

} // namespace

Result<std::set<std::string>> script_names(std::string_view entry_points) {
  TRY(auto points, dist::parse_entry_points(entry_points));
  std::set<std::string> names;
  for (const auto& point : points)
    if (point.group == "console_scripts" || point.group == "gui_scripts") names.insert(point.name);
  return names;
}

Result<WheelContent> read_wheel(const std::string& path, const std::string& python_minor) {
  TRY(auto name, dist::WheelName::parse(path::basename(path)));
  TRY(auto zip, open_zip(path));
  WheelContent content;
  content.dist_info = name.dist_info();
  const auto* record = zip.find(content.dist_info + "/RECORD");
  if (!record) return unreadable(path, "RECORD is missing");
  TRY(auto text, zip.read_all(*record, dist::k_record_bytes_max));
  TRY(auto rows, dist::parse_record(text));
  auto data = fmt::format("{}-{}.data/", name.raw_name, name.raw_version);
  for (const auto& row : rows) {
    if (row.path == content.dist_info + "/RECORD") continue;
    bool rewritten = row.path.starts_with(data + "scripts/");
    content.files[installed_path(row.path, data, name.raw_name, python_minor)] =
        rewritten ? Expected{} : Expected{row.sha256, row.size};
  }
  if (const auto* points = zip.find(content.dist_info + "/entry_points.txt")) {
    TRY(auto points_text, zip.read_all(*points, dist::k_entry_points_bytes_max));
    TRY(content.scripts, script_names(points_text));
  }
  TRY(content.unpacking, unpacking_of(zip, name));
  return content;
}

Result<std::set<Sha256>> read_sdist(const std::string& path) {
  TRY(auto rope, content::Rope::file(path));
  TRY(auto compression, codec::compression_of(path));
  Hasher hasher;
  tar::Reader reader(hasher, std::string(path::basename(path)),
                     tar::Limits::for_archive({.archive_bytes = rope.size(), .ratio = tar::k_tar_ratio_max}));
  TRY_DO(codec::decompress(rope, compression, [&](std::span<const std::byte> bytes) { return reader.feed(bytes); }));
  TRY_DO(reader.finish());
  std::set<Sha256> digests;
  for (const auto& [name, file] : hasher.found.files) digests.insert(file.sha256);
  return digests;
}

Result<DevelPayload> read_devel_payload(const std::string& wheel_path) {
  TRY(auto zip, open_zip(wheel_path));
  TRY(auto name, dist::WheelName::parse(path::basename(wheel_path)));
  TRY(auto unpacking, unpacking_of(zip, name));
  auto payload = std::find_if(zip.members().begin(), zip.members().end(),
                              [&](const auto& m) { return unpacking && unpacking->is_payload(m.name); });
  if (payload == zip.members().end()) return unreadable(wheel_path, "the devel payload is missing");
  Hasher hasher;
  tar::Reader reader(hasher, payload->name);
  auto feed = [&](std::span<const std::byte> bytes) { return reader.feed(bytes); };
  TRY(auto compression, codec::compression_of(payload->name));
  if (compression == codec::Compression::none) {
    TRY_DO(zip.read(*payload, feed));
  } else {
    TRY(auto packed, zip.read_all(*payload, k_payload_bytes_max));
    TRY_DO(codec::decompress(content::Rope::literal(std::move(packed)), compression, feed));
  }
  TRY_DO(reader.finish());
  return std::move(hasher.found);
}

} // namespace quarry::venv
