#include "sdk/sdist.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "tar/tar.hpp"

namespace quarry::sdk {

Result<BuiltPackage> write_sdist(const SdistPlan& plan, const std::string& dist_dir) {
  std::string bytes;
  auto gzip =
      codec::Compressor::create(codec::Compression::gzip, 1, [&](std::span<const std::byte> chunk) -> Result<void> {
        bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        return {};
      });
  tar::Writer tar([&](std::span<const std::byte> chunk) { return gzip->write(chunk); });
  std::uint64_t input = 0;
  for (const auto& [name, file] : plan.files) {
    TRY_DO(tar.file(plan.top + "/" + name, content::Rope::literal(file.text), file.executable),
           "while writing " + plan.file_name);
    input += file.text.size();
  }
  TRY_DO(tar.finish());
  TRY_DO(gzip->finish());
  auto path = path::join(dist_dir, plan.file_name);
  TRY_DO(sys::write_file(path, bytes));
  return BuiltPackage{.logical = "meta",
                      .file_name = plan.file_name,
                      .path = path,
                      .size = bytes.size(),
                      .input_bytes = input,
                      .files = plan.files.size(),
                      .sha256 = sha256(bytes)};
}

} // namespace quarry::sdk
