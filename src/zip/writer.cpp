#include "zip/writer.hpp"

#include "base/units.hpp"
#include "names/entry_names.hpp"
#include "sys/clock.hpp"
#include "zip/layout.hpp"
#include "zip/pipeline.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::zip {

namespace {

Result<void> check_name(const std::string& name, names::NameSet& names) {
  auto defect = names::check_name(name);
  if (!defect) defect = names.add(name);
  if (!defect) return {};
  return fail(ErrorKind::invalid_argument, defect->code,
              fmt::format("cannot pack {}: {}", names::printable(name), defect->message), "rename it or leave it out");
}

class Writer {
public:
  Writer(const Options& options, const sys::File& into) : options_(options), layout_(into) {}

  Result<void> add(std::span<const Entry> entries) {
    for (const auto& e : entries) TRY_DO(check_name(e.name, names_));
    return run_pipeline(entries, options_.profile, options_.workers, [&](const PackedChunk& chunk) -> Result<void> {
      TRY_DO(sys::check_interrupted());
      TRY_DO(layout_.add(entries[chunk.entry], chunk));
      input_bytes_ += chunk.data.size();
      if (options_.on_progress) options_.on_progress(input_bytes_);
      return {};
    });
  }
  Result<void> keep(const Reader& source, const std::vector<const Member*>& members) {
    for (const auto* member : members) {
      TRY_DO(check_name(member->name, names_));
      TRY_DO(layout_.keep(*member, source.archive()), "while copying " + member->name);
      if (options_.on_progress) options_.on_progress(kept_bytes_ += member->stored_size);
    }
    return {};
  }
  Layout& layout() { return layout_; }
  std::uint64_t input_bytes() const { return input_bytes_; }

private:
  const Options& options_;
  Layout layout_;
  names::NameSet names_;
  std::uint64_t input_bytes_ = 0, kept_bytes_ = 0;
};

} // namespace

Result<Report> write(const std::vector<Entry>& entries, const Tail& tail, const Options& options,
                     const sys::File& into) {
  Writer writer(options, into);
  TRY_DO(writer.add(entries));
  if (tail) {
    TRY(auto last, tail(writer.layout().done()));
    TRY_DO(writer.add(last));
  }
  Report report;
  TRY(report.size, writer.layout().finish());
  report.entries = writer.layout().done();
  report.input_bytes = writer.input_bytes();
  if (auto allowed = expansion_allowed(report.size, {.ratio_max = options.ratio_max}); report.input_bytes > allowed)
    return fail(ErrorKind::invalid_argument, "Z016",
                fmt::format("{} of files pack to {}, and readers take no more than {} from such an archive",
                            units::bytes(report.input_bytes), units::bytes(report.size), units::bytes(allowed)),
                "leave out files that hold nothing, or make them when they are needed");
  return report;
}

Result<Report> rewrite(const Rewriting& rewriting, const Options& options, const sys::File& into) {
  Writer writer(options, into);
  TRY_DO(writer.keep(rewriting.source, rewriting.kept));
  TRY_DO(writer.add(rewriting.added));
  Report report;
  TRY(report.size, writer.layout().finish());
  report.entries = writer.layout().done();
  for (const auto& e : report.entries) report.input_bytes += e.size;
  return report;
}

} // namespace quarry::zip
