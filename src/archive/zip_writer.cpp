#include "archive/zip_writer.hpp"

#include "archive/zip_layout.hpp"
#include "archive/zip_names.hpp"
#include "archive/zip_pipeline.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::archive {

namespace {

Result<void> check_names(std::span<const ZipEntry> entries, NameSet& names) {
  for (const auto& e : entries) {
    auto defect = check_name(e.name);
    if (!defect) defect = names.add(e.name);
    if (defect)
      return fail(ErrorKind::invalid_argument, defect->code,
                  fmt::format("cannot pack {}: {}", printable(e.name), defect->message), "rename it or leave it out");
  }
  return {};
}

class Writer {
public:
  Writer(const ZipOptions& options, const sys::File& into) : options_(options), layout_(into) {}

  Result<void> add(std::span<const ZipEntry> entries) {
    TRY_DO(check_names(entries, names_));
    return run_pipeline(entries, options_.profile, options_.workers, [&](const PackedChunk& chunk) -> Result<void> {
      TRY_DO(sys::check_interrupted());
      TRY_DO(layout_.add(entries[chunk.entry], chunk));
      input_bytes_ += chunk.data.size();
      if (options_.on_progress) options_.on_progress(input_bytes_);
      return {};
    });
  }
  ZipLayout& layout() { return layout_; }
  std::uint64_t input_bytes() const { return input_bytes_; }

private:
  const ZipOptions& options_;
  ZipLayout layout_;
  NameSet names_;
  std::uint64_t input_bytes_ = 0;
};

// The first local headers are written late, so the archive can only be digested once it is complete: 0.6 s for each GB.
Result<Sha256> digest_of(const sys::File& file, std::uint64_t size) {
  Sha256Hasher hasher;
  std::vector<std::byte> buffer(1u << 20);
  for (std::uint64_t at = 0; at < size;) {
    TRY(auto n, file.read_at(at, std::span(buffer).first(
                                     static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at)))));
    if (n == 0)
      return fail(ErrorKind::corrupt, "Z020", "the archive became shorter while it was written",
                  "something else writes to it: run the command again when it is done");
    hasher.update(std::span(buffer).first(n));
    at += n;
  }
  return hasher.finish();
}

} // namespace

Result<ZipReport> write_zip(const std::vector<ZipEntry>& entries, const ZipTail& tail, const ZipOptions& options,
                            const sys::File& into) {
  Writer writer(options, into);
  TRY_DO(writer.add(entries));
  if (tail) {
    TRY(auto last, tail(writer.layout().done()));
    TRY_DO(writer.add(last));
  }
  ZipReport report;
  TRY(report.size, writer.layout().finish());
  report.entries = writer.layout().done();
  report.input_bytes = writer.input_bytes();
  TRY(report.sha256, digest_of(into, report.size));
  return report;
}

} // namespace quarry::archive
