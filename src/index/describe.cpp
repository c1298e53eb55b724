#include "index/describe.hpp"

#include "base/text.hpp"
#include "codec/compression.hpp"
#include "dist/resolver_fields.hpp"
#include "registry/requirements.hpp"
#include "sys/path.hpp"
#include "tar/tar.hpp"
#include "zip/reader.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {
/// For the page. Old metadata may hold what no installer reads today: pip ends with a traceback on such a page.
std::string readable(const std::string& requires_python) {
  return dist::Specifiers::parse(requires_python) ? requires_python : std::string();
}

constexpr std::size_t k_details_max = 10; // of an error

Unexpected sdist_error(std::string_view file, std::string_view why) {
  return fail(ErrorKind::corrupt, "I002", fmt::format("{}: {}", file, why), "build the source distribution again");
}

/// Keeps `{top}/PKG-INFO` and sees that everything lies in one directory.
class PkgInfoFinder final : public tar::Visitor {
public:
  explicit PkgInfoFinder(std::string file) : file_(std::move(file)) {}

  Result<void> begin(const tar::Member& member) override {
    auto parts = path::components(member.path);
    if (parts.empty()) return {};
    if (top_.empty()) top_ = parts[0];
    if (parts[0] != top_) return sdist_error(file_, "it holds more than one top-level directory");
    reading_ = parts.size() == 2 && parts[1] == "PKG-INFO" && member.type == tar::Type::file;
    if (!reading_) return {};
    if (found_) return sdist_error(file_, "it holds PKG-INFO twice");
    if (member.size > dist::k_metadata_bytes_max) return sdist_error(file_, "PKG-INFO is larger than 16 MiB");
    found_ = true;
    return {};
  }
  Result<void> data(std::span<const std::byte> chunk) override {
    if (reading_) text_.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return {};
  }
  Result<void> end() override {
    reading_ = false;
    return {};
  }
  Result<std::string> take() {
    if (!found_) return sdist_error(file_, "it holds no PKG-INFO in its top-level directory");
    return std::move(text_);
  }

private:
  std::string file_, top_, text_;
  bool reading_ = false, found_ = false;
};

Result<std::string> pkg_info_of_tar(const std::string& path) {
  TRY(auto rope, content::Rope::file(path));
  PkgInfoFinder finder{std::string(path::basename(path))};
  tar::Reader reader(finder, path,
                     tar::Limits::for_archive({.archive_bytes = rope.size(), .ratio = tar::k_tar_ratio_max}));
  TRY_DO(codec::decompress(rope, codec::Compression::gzip,
                           [&](std::span<const std::byte> bytes) { return reader.feed(bytes); }));
  TRY_DO(reader.finish());
  return finder.take();
}

Result<std::string> pkg_info_of_zip(const std::string& path) {
  std::string file(path::basename(path));
  TRY(auto rope, content::Rope::file(path));
  Findings findings;
  auto reader = zip::Reader::open(rope, file, findings);
  if (!reader || has_errors(findings))
    return sdist_error(file, findings.empty() ? "the archive cannot be read" : findings[0].message);
  for (const auto& member : reader->members()) {
    auto parts = path::components(member.name);
    if (parts.size() == 2 && parts[1] == "PKG-INFO") return reader->read_all(member, dist::k_metadata_bytes_max);
  }
  return sdist_error(file, "it holds no PKG-INFO in its top-level directory");
}

/// "librocblas.so.4.2", "rocblas.dll": what a dynamic loader opens.
bool is_library_name(const std::string& path) {
  auto name = text::lower(path::basename(path));
  return name.ends_with(".so") || name.ends_with(".dll") || name.find(".so.") != name.npos;
}

Result<Described> describe_wheel(const std::string& path, unsigned workers) {
  TRY(auto report, wheel::require_sound(path, workers));
  Described described;
  TRY(described.sidecar, sidecar_for(report));
  described.file.project = report.name->project.str();
  described.file.version = report.name->version.str();
  described.file.size = report.size;
  described.file.sha256 = *report.sha256;
  described.file.metadata_sha256 = sha256(described.sidecar);
  described.file.requires_python = readable(report.metadata->requires_python);
  described.warnings = std::move(report.findings);
  described.holds_library = std::any_of(report.record.begin(), report.record.end(), [](const dist::RecordRow& row) {
    return is_library_name(row.path) && row.size != 0;
  });
  return described;
}

/// The errors among `findings` as one error.
Unexpected unreadable_fields(const std::string& file, const Findings& findings) {
  const auto& first = findings.front();
  auto error =
      Error::of(ErrorKind::failed, first.code, fmt::format("{}: {}", file, first.message)).with_hint(first.fix);
  for (std::size_t i = 1; i < std::min(findings.size(), k_details_max); ++i)
    error.details.push_back(fmt::format("{}: {}", findings[i].code, findings[i].message));
  return fail(std::move(error));
}

Result<Described> describe_sdist(const std::string& path, const dist::SdistName& name) {
  std::string file(path::basename(path));
  TRY(auto metadata, read_sdist_metadata(path));
  auto findings = dist::check_resolver_fields(metadata, file);
  if (has_errors(findings)) return unreadable_fields(file, findings);
  TRY(auto rope, content::Rope::file(path));
  Described described;
  described.warnings = std::move(findings);
  described.file.project = name.project.str();
  described.file.version = name.version.str();
  described.file.size = rope.size();
  TRY(described.file.sha256, content::sha256_of(rope));
  described.file.requires_python = readable(metadata.requires_python);
  if (auto requirements = registry::requirements_of_sdist(metadata))
    registry::record_requirements(described.file, *requirements);
  return described;
}

} // namespace

Result<dist::Metadata> read_sdist_metadata(const std::string& path) {
  std::string file(path::basename(path));
  TRY(auto name, dist::SdistName::parse(file));
  TRY(auto text, file.ends_with(".zip") ? pkg_info_of_zip(path) : pkg_info_of_tar(path));
  TRY(auto metadata, dist::Metadata::parse(text), "while reading PKG-INFO of " + file);
  TRY(auto project, dist::ProjectName::parse(metadata.name));
  TRY(auto version, dist::Version::parse(metadata.version));
  if (project != name.project || version != name.version)
    return sdist_error(file, fmt::format("PKG-INFO says {} {}, the file's name says {} {}", metadata.name,
                                         metadata.version, name.project.str(), name.version.str()));
  return metadata;
}

std::optional<Described> describe_proven(const std::string& path, const wheel::Prover& prover) {
  auto proof = prover.recall(path);
  if (!proof) return std::nullopt;
  auto name = dist::WheelName::parse(proof->file_name);
  auto rope = content::Rope::file(path);
  if (!name || !rope || rope->size() != proof->size) return std::nullopt;
  Findings findings;
  auto zip = zip::Reader::open(*rope, proof->file_name, findings);
  if (!zip || !findings.empty()) return std::nullopt;
  const auto* member = zip->find(name->dist_info() + "/METADATA");
  auto text = member ? zip->read_all(*member, dist::k_metadata_bytes_max) : Result<std::string>(std::string());
  if (!text || sha256(*text) != proof->metadata_sha256) return std::nullopt;
  auto metadata = dist::Metadata::parse(*text);
  if (!metadata) return std::nullopt;
  Described described;
  described.file.filename = proof->file_name;
  described.file.project = name->project.str();
  described.file.version = name->version.str();
  described.file.size = proof->size;
  described.file.sha256 = proof->sha256;
  described.file.metadata_sha256 = proof->metadata_sha256;
  described.file.requires_python = metadata->requires_python;
  described.sidecar = std::move(*text);
  described.holds_library =
      std::ranges::any_of(zip->members(), [](const zip::Member& m) { return is_library_name(m.name) && m.size != 0; });
  described.hashed = false;
  return described;
}

Result<Described> describe(const std::string& path, unsigned workers) {
  std::string file(path::basename(path));
  TRY(auto name, dist::DistributionName::parse(file));
  Result<Described> described;
  if (name.kind == dist::DistributionKind::wheel)
    described = describe_wheel(path, workers);
  else {
    TRY(auto sdist, dist::SdistName::parse(file));
    described = describe_sdist(path, sdist);
  }
  if (!described) return fail(std::move(described).error().with_context("while reading " + path));
  described->file.filename = file;
  return described;
}

Result<std::string> sidecar_for(const wheel::VerifyReport& report) {
  if (wheel::exit_code(report) != 0 || !report.name || !report.metadata)
    return fail(ErrorKind::corrupt, "I004", "a wheel that is not sound gets no metadata file");
  return report.metadata_text;
}

Result<void> check_sidecar(std::string_view sidecar, const wheel::VerifyReport& report, std::string_view what) {
  TRY(auto expected, sidecar_for(report));
  if (sidecar == expected) return {};
  return fail(ErrorKind::corrupt, "I004", fmt::format("{} is not a copy of the wheel's METADATA", what),
              "run `quarry index build` again");
}

} // namespace quarry::index
