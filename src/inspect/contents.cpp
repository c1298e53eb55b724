#include "inspect/contents.hpp"

#include "content/spool.hpp"
#include "inspect/member_names.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/tar.hpp"
#include "wheel/wheel.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <memory>

namespace quarry::inspect {

namespace {
using codec::Compression;
using content::Rope;
using dist::DistributionKind;

constexpr std::string_view k_dist = "dist";

bool is_package(std::string_view file) { return dist::DistributionName::parse(file).has_value(); }

Result<std::vector<std::string>> packages_below(const std::string& directory) {
  std::vector<std::string> files;
  TRY(auto entries, sys::list_directory(directory));
  for (const auto& entry : entries)
    if (is_package(entry.path)) files.push_back(path::join(directory, entry.path));
  return files;
}

// A wheel

Result<Rope> bytes_of(const zip::Reader& zip, const zip::Member& member, const std::string& directory) {
  constexpr std::uint16_t k_stored = 0;
  if (member.method == k_stored) return zip.archive().slice(member.data_offset, member.size);
  TRY(auto spool, content::Spool::create(directory));
  TRY_DO(zip.read(member, [&](std::span<const std::byte> chunk) { return spool->append(chunk); }));
  return Rope::of(spool);
}

Result<Sha256> digest_of(const zip::Reader& zip, const zip::Member& member) {
  Sha256Hasher hasher;
  TRY_DO(zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    hasher.update(chunk);
    return {};
  }));
  return hasher.finish();
}

bool is_compared_as_value(const std::string& path) {
  constexpr std::string_view k_names[] = {"dist-info/METADATA", "dist-info/WHEEL", "dist-info/RECORD",
                                          "dist-info/entry_points.txt"};
  return std::find(std::begin(k_names), std::end(k_names), path) != std::end(k_names);
}

Result<wheel::VerifyReport> verified(const Rope& rope, const std::string& path, const ReadOptions& options) {
  if (!options.defects) return wheel::require_sound(rope, path, options.workers);
  TRY(auto report, wheel::verify(rope, path, {.workers = options.workers}));
  bool readable = report.name && report.metadata && report.wheel_info;
  if (!readable) return wheel::require_sound(rope, path, options.workers); // for its error
  for (const auto& finding : report.findings)
    if (finding.severity == Severity::error) options.defects->push_back(finding);
  return report;
}

Result<void> add_members(const std::shared_ptr<const zip::Reader>& zip, const wheel::VerifyReport& report,
                         const ReadOptions& options, Package& into) {
  std::map<std::string_view, const Sha256*> recorded; // verified against the bytes already
  for (const auto& row : report.record)
    if (row.sha256 && !has_errors(report.findings)) recorded[row.path] = &*row.sha256;
  for (const auto& member : zip->members()) {
    auto path = without_version(member.name);
    if (member.is_directory || is_compared_as_value(path)) continue;
    Entry entry{member.size, member.executable(), {}, {}};
    if (auto known = recorded.find(member.name); known != recorded.end()) {
      entry.digest = *known->second;
    } else {
      TRY(entry.digest, digest_of(*zip, member));
    }
    entry.open = [zip, &member, directory = options.spool_directory] { return bytes_of(*zip, member, directory); };
    into.entries.emplace(std::move(path), std::move(entry));
  }
  return {};
}

Result<Package> read_wheel(const Rope& rope, const std::string& path, const ReadOptions& options) {
  TRY(auto report, verified(rope, path, options));
  Package package;
  package.file = path::basename(path);
  package.project = report.name->project.str();
  package.version = report.name->version.str();
  package.tags = fmt::format("{}-{}-{}", report.name->tags.python, report.name->tags.abi, report.name->tags.platform);
  package.size = report.size;
  package.sha256 = *report.sha256;
  package.metadata = std::move(*report.metadata);
  package.wheel = std::move(*report.wheel_info);
  package.entry_points = std::move(report.entry_points);
  Findings findings;
  auto zip = zip::Reader::open(rope, package.file, findings);
  if (!zip || has_errors(findings))
    return fail(ErrorKind::corrupt, "W010",
                fmt::format("{} is not a sound archive, or it changed while it was read", path),
                fmt::format("run it again; `quarry wheel verify {}` lists everything", path));
  package.zip = std::make_shared<const zip::Reader>(std::move(*zip));
  TRY_DO(add_members(package.zip, report, options, package));
  return package;
}

// A tar

class Lister final : public tar::Visitor {
public:
  explicit Lister(content::Spool& spool) : spool_(spool) {}
  Result<void> begin(const tar::Member& member) override {
    members.push_back(member);
    members.back().offset = spool_.size();
    return sys::check_interrupted();
  }
  Result<void> data(std::span<const std::byte> chunk) override { return spool_.append(chunk); }
  Result<void> end() override { return {}; }
  std::vector<tar::Member> members;

private:
  content::Spool& spool_;
};

Result<Entries> entries_of(const std::vector<tar::Member>& members, const Rope& bytes) {
  Entries entries;
  for (const auto& member : members) {
    if (member.type == tar::Type::directory) continue;
    Entry entry;
    if (member.type == tar::Type::hardlink) {
      entry = entries.at(member.link); // a tar names a file before links to it
    } else if (member.type == tar::Type::symlink) {
      entry.link = member.link;
    } else {
      auto data = bytes.slice(member.offset, member.size);
      entry = {member.size, member.executable, {}, {}};
      TRY(entry.digest, content::sha256_of(data));
      entry.open = [data]() -> Result<Rope> { return data; };
    }
    entries[member.path] = std::move(entry);
  }
  return entries;
}

Result<Entries> read_tar(const Rope& packed, const std::string& name, Compression compression,
                         const ReadOptions& options) {
  TRY(auto spool, content::Spool::create(options.spool_directory));
  Lister lister(*spool);
  tar::Reader reader(lister, name,
                     tar::Limits::for_archive({.archive_bytes = packed.size(), .ratio = tar::k_tar_ratio_max}));
  TRY_DO(codec::decompress(packed, compression, {options.workers, nullptr},
                           [&](std::span<const std::byte> bytes) { return reader.feed(bytes); }),
         "while reading " + name);
  TRY_DO(reader.finish());
  return entries_of(lister.members, Rope::of(spool));
}

// An sdist

constexpr std::string_view k_pkg_info = "PKG-INFO";

Result<Entries> read_zip(const Rope& rope, const std::string& name, const ReadOptions& options) {
  Findings findings;
  auto opened = zip::Reader::open(rope, name, findings);
  if (!opened || has_errors(findings))
    return fail(ErrorKind::corrupt, "Q005", fmt::format("{} is not a sound zip archive", name),
                "make or fetch it again");
  auto zip = std::make_shared<zip::Reader>(std::move(*opened));
  Entries entries;
  for (const auto& member : zip->members()) {
    if (member.is_directory) continue;
    Entry entry{member.size, member.executable(), {}, {}};
    TRY(entry.digest, digest_of(*zip, member));
    entry.open = [zip, &member, directory = options.spool_directory] { return bytes_of(*zip, member, directory); };
    entries.emplace(member.name, std::move(entry));
  }
  return entries;
}

Result<Package> read_sdist(const Rope& rope, const std::string& path, const ReadOptions& options) {
  Package package;
  package.kind = DistributionKind::sdist;
  package.file = path::basename(path);
  TRY(auto name, dist::SdistName::parse(package.file));
  package.project = name.project.str();
  package.version = name.version.str();
  package.size = rope.size();
  TRY(package.sha256, content::sha256_of(rope));
  bool zipped = package.file.ends_with(".zip");
  TRY(auto entries,
      zipped ? read_zip(rope, package.file, options) : read_tar(rope, package.file, Compression::gzip, options));
  auto top = name.raw_name + "-" + name.raw_version + "/";
  for (auto& [member, entry] : entries) {
    if (!member.starts_with(top))
      return fail(ErrorKind::corrupt, "Q005", fmt::format("{} holds {}, which is not below {}", path, member, top),
                  "make or fetch it again");
    package.entries.emplace(member.substr(top.size()), std::move(entry));
  }
  auto info = package.entries.extract(std::string(k_pkg_info));
  if (info.empty() || !info.mapped().link.empty())
    return fail(ErrorKind::corrupt, "Q005", fmt::format("{} holds no {}{}", path, top, k_pkg_info),
                "make or fetch it again");
  TRY(auto opened, info.mapped().open());
  TRY(auto text, opened.read_all(dist::k_metadata_bytes_max));
  TRY(package.metadata, dist::Metadata::parse(text), "while reading " + path);
  return package;
}

} // namespace

std::string Package::label() const { return kind == DistributionKind::wheel ? project : project + " (sdist)"; }

Result<std::vector<std::string>> package_files(const std::string& path) {
  if (!sys::exists(path)) return fail(ErrorKind::not_found, "D001", fmt::format("{} does not exist", path));
  if (!sys::is_directory(path)) return std::vector<std::string>{path};
  TRY(auto files, packages_below(path));
  auto dist = path::join(path, k_dist);
  if (files.empty() && sys::is_directory(dist)) {
    TRY(files, packages_below(dist));
  }
  if (!files.empty()) return files;
  return fail(ErrorKind::not_found, "Q004", fmt::format("{} holds no wheel and no source distribution", path),
              "name the directory with the packages, such as OUT or OUT/dist of `quarry sdk build`");
}

Result<Package> read_package(const std::string& path, const ReadOptions& options) {
  TRY_DO(dist::DistributionName::parse(path::basename(path)));
  TRY(auto bytes, Rope::file(path));
  return read_package(bytes, path, options);
}

Result<Package> read_package(const Rope& bytes, const std::string& path, const ReadOptions& options) {
  TRY(auto name, dist::DistributionName::parse(path::basename(path)));
  return name.kind == DistributionKind::wheel ? read_wheel(bytes, path, options) : read_sdist(bytes, path, options);
}

bool is_payload(const std::string& path) { return codec::compression_of(path).has_value(); }

Result<Entries> read_payload(const std::string& path, const Entry& entry, const ReadOptions& options) {
  TRY(auto compression, codec::compression_of(path));
  TRY(auto rope, entry.open());
  return read_tar(rope, path, compression, options);
}

} // namespace quarry::inspect
