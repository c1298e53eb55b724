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
      if (options_.on_progress) options_.on_progress(kept_bytes_ + input_bytes_);
      return {};
    });
  }
  Result<void> keep(const Reader& source, Member member, const std::string& new_name) {
    if (!new_name.empty()) member.name = new_name;
    TRY_DO(check_name(member.name, names_));
    TRY_DO(layout_.keep(member, source.archive()), "while copying " + member.name);
    kept_bytes_ += member.stored_size;
    if (options_.on_progress) options_.on_progress(kept_bytes_ + input_bytes_);
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

Result<void> check_expansion(const Report& report, const Options& options) {
  auto allowed = expansion_allowed(report.size, {.ratio_max = options.ratio_max});
  if (report.input_bytes <= allowed) return {};
  return fail(ErrorKind::invalid_argument, "Z016",
              fmt::format("{} of files pack to {}, and readers take no more than {} from such an archive",
                          units::bytes(report.input_bytes), units::bytes(report.size), units::bytes(allowed)),
              "leave out files that hold nothing, or make them when they are needed");
}

Result<void> add_tail(Writer& writer, const Tail& tail) {
  if (!tail) return {};
  TRY(auto last, tail(writer.layout().done()));
  return writer.add(last);
}

} // namespace

Result<Report> write(const std::vector<Entry>& entries, const Tail& tail, const Options& options,
                     const sys::File& into) {
  Writer writer(options, into);
  TRY_DO(writer.add(entries));
  TRY_DO(add_tail(writer, tail));
  Report report;
  TRY(report.size, writer.layout().finish());
  report.entries = writer.layout().done();
  report.input_bytes = writer.input_bytes();
  TRY_DO(check_expansion(report, options));
  return report;
}

Result<Report> rewrite(const Rewriting& rewriting, const Options& options, const sys::File& into) {
  Writer writer(options, into);
  std::vector<Entry> pending; // new entries in a row are packed together
  auto add_pending = [&]() -> Result<void> {
    TRY_DO(writer.add(pending));
    pending.clear();
    return {};
  };
  for (const auto& part : rewriting.parts) {
    if (!part.kept) {
      pending.push_back(part.added);
      continue;
    }
    TRY_DO(add_pending());
    TRY_DO(writer.keep(rewriting.source, *part.kept, part.added.name));
  }
  TRY_DO(add_pending());
  TRY_DO(add_tail(writer, rewriting.tail));
  Report report;
  TRY(report.size, writer.layout().finish());
  report.entries = writer.layout().done();
  for (const auto& e : report.entries) report.input_bytes += e.size;
  TRY_DO(check_expansion(report, options));
  return report;
}

} // namespace quarry::zip
