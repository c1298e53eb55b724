#pragma once
// The name of an artifact: `{name}_{component}_{target}`, three non-empty parts without '_' inside
// (docs/formats/artifact.md).
#include "base/result.hpp"
#include "codec/compression.hpp"
#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::artifact {

constexpr std::array<std::string_view, 6> k_components{"lib", "run", "dbg", "dev", "doc", "test"};
/// The first member of an archive and a file at the root of an exploded directory: the base directories, one a line.
constexpr std::string_view k_manifest_name = "artifact_manifest.txt";
constexpr std::string_view k_checksum_suffix = ".sha256sum";

/// A target before its ':' (`gfx942` of `gfx942:xnack+`); one that begins with ':' is its own base.
std::string_view target_base(std::string_view target);

struct Name {
  std::string name, component, target;
  std::string text() const { return whole_sdk() ? name : name + "_" + component + "_" + target; }
  /// A tarball of a whole SDK: `name` is its file name without the ending, the component is empty.
  bool whole_sdk() const { return component.empty(); }
  std::string_view target_base() const { return artifact::target_base(target); }
  std::string_view target_feature() const; ///< "xnack+", or empty
  auto operator<=>(const Name&) const = default;
};

/// A001 if it is not an artifact name at all, A002 if only the component is unknown.
Result<Name> parse_name(std::string_view text);

struct ArchiveName {
  Name name;
  codec::Compression compression = codec::Compression::zstd;
};
/// Parses `{product}-dist-{linux,windows}-{group}-{version}.tar.gz` (or .zst, .xz): the whole SDK of a group, as in
/// releases and in the `tarballs/` of a run. The target is the group. Returns nullopt for every other name.
std::optional<ArchiveName> parse_tarball_name(std::string_view file);
/// Parses a file name that ends in .tar.zst or .tar.xz; nullopt for every other ending.
std::optional<Result<ArchiveName>> parse_archive_name(std::string_view file);
/// Why a file is left alone that is named like an artifact and has a form that is not read: `blas_lib_gfx942.tar.gz`,
/// `blas_lib_gfx942` as a file. A054, or A002 where the component is unknown, too. nullopt for every other file.
std::optional<Error> unread_form(std::string_view file);

} // namespace quarry::artifact
