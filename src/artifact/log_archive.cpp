#include "artifact/log_archive.hpp"

#include "tar/tar.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

Result<std::string> pack_logs(const LogArchive& archive) {
  constexpr std::uint64_t k_bytes_max = 1u << 30; // the archive is 5 to 13 times smaller
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : archive.members) bytes += content.size();
  if (bytes > k_bytes_max)
    return fail(ErrorKind::resource_exhausted, "A044", archive.what + " hold more than 1 GiB",
                fmt::format("omit `{}`", archive.flag));
  std::string packed;
  auto compressor =
      codec::Compressor::create(archive.compression, 1, [&](std::span<const std::byte> b) -> Result<void> {
        packed.append(reinterpret_cast<const char*>(b.data()), b.size());
        return {};
      });
  tar::Writer tar([&](std::span<const std::byte> b) { return compressor->write(b); });
  for (const auto& [name, content] : archive.members) TRY_DO(tar.file(name, content, false), "while packing " + name);
  TRY_DO(tar.finish());
  TRY_DO(compressor->finish());
  return packed;
}

} // namespace quarry::artifact
