#include "artifact/name.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

std::string_view target_base(std::string_view target) {
  auto colon = target.find(':');
  return colon == 0 ? target : target.substr(0, colon);
}

std::string_view Name::target_feature() const {
  auto base = target_base();
  return base.size() == target.size() ? std::string_view{} : std::string_view(target).substr(base.size() + 1);
}

Result<Name> parse_name(std::string_view text) {
  constexpr std::string_view form = "an artifact is called {name}_{component}_{target}, without other underscores";
  auto parts = text::split(text, '_');
  bool three = parts.size() == 3 && std::none_of(parts.begin(), parts.end(), [](const auto& p) { return p.empty(); });
  if (!three || !run::check_component({text, "artifact"}))
    return fail(ErrorKind::invalid_argument, "A001",
                fmt::format("{:?} is not the name of an artifact", std::string(text)), std::string(form));
  if (std::find(k_components.begin(), k_components.end(), parts[1]) == k_components.end())
    return fail(ErrorKind::invalid_argument, "A002", fmt::format("{} has the unknown component {}", text, parts[1]),
                "known are lib, run, dbg, dev, doc and test");
  return Name{parts[0], parts[1], parts[2]};
}

std::optional<Result<ArchiveName>> parse_archive_name(std::string_view file) {
  auto compression = codec::compression_of(file);
  if (!compression || (*compression != codec::Compression::zstd && *compression != codec::Compression::xz))
    return std::nullopt;
  auto name = parse_name(file.substr(0, file.size() - codec::suffix_of(*compression).size()));
  if (!name) return Result<ArchiveName>(fail(std::move(name).error()));
  return Result<ArchiveName>(ArchiveName{std::move(*name), *compression});
}

std::optional<Error> unread_form(std::string_view file) {
  constexpr std::array<std::string_view, 13> endings{".tar",   ".tar.gz",   ".tar.bz2", ".tar.lz4", ".tar.lzma",
                                                     ".tar.Z", ".tar.zstd", ".tgz",     ".tbz2",    ".txz",
                                                     ".tzst",  ".zip",      ".7z"};
  auto ending = std::find_if(endings.begin(), endings.end(), [&](auto e) { return file.ends_with(e); });
  auto name = parse_name(ending == endings.end() ? file : file.substr(0, file.size() - ending->size()));
  if (name && name->target.find('.') != std::string::npos) return std::nullopt; // `blas_lib_gfx942.tar.zst.sha256sum`
  if (name)
    return Error::of(ErrorKind::invalid_argument, "A054",
                     fmt::format("{} is named like an artifact, but {}", file,
                                 ending == endings.end() ? "is a file without an ending"
                                                         : fmt::format("{} is not read", *ending)))
        .with_hint("make it again with `quarry artifact pack`: artifacts are directories, .tar.zst or .tar.xz");
  if (ending == endings.end() || !name.error().is(codes::unknown_component)) return std::nullopt;
  return std::move(name).error();
}

std::optional<ArchiveName> parse_tarball_name(std::string_view file) {
  auto compression = codec::compression_of(file);
  if (!compression || *compression == codec::Compression::none || !run::check_component({file, "tarball"}))
    return std::nullopt;
  auto stem = file.substr(0, file.size() - codec::suffix_of(*compression).size());
  for (std::string_view platform : {"-dist-linux-", "-dist-windows-"}) {
    auto at = stem.find(platform);
    if (at == stem.npos || at == 0) continue;
    // A version has no '-', a group may: `gfx94X-dcgpu-7.10.0`.
    auto rest = stem.substr(at + platform.size());
    auto dash = rest.rfind('-');
    if (dash == rest.npos || dash == 0 || dash + 1 == rest.size()) return std::nullopt;
    return ArchiveName{Name{std::string(stem), "", std::string(rest.substr(0, dash))}, *compression};
  }
  return std::nullopt;
}

} // namespace quarry::artifact
