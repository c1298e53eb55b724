#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/installed.hpp"
#include "wheel/record_check.hpp"
#include "wheel/shown.hpp"
#include "wheel/wheel.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <set>

namespace quarry::wheel {

namespace {

class Verifier {
public:
  Verifier(const std::string& path, const VerifyOptions& options) : file_(path::basename(path)), options_(options) {
    options_.workers = std::max(1u, options_.workers);
  }

  Result<VerifyReport> run(const content::Rope& rope) {
    report_.size = rope.size();
    report_.unread = true;
    read_name();
    // The file's own digest runs beside everything else.
    TRY_DO(parallel_for(options_.digest ? 2 : 1, options_.workers, [&](std::size_t i) -> Result<void> {
      if (i == 0) return check_container(rope);
      TRY(report_.sha256, content::sha256_of(rope));
      return {};
    }));
    if (!options_.digest) TRY_DO(read_end(rope));
    TRY_DO(sys::check_interrupted()); // what was not read to its end has no verdict
    return std::move(report_);
  }

private:
  /// The read that reaches the end of a file notices that it changed meanwhile. Digesting it ends with this read.
  static Result<void> read_end(const content::Rope& rope) {
    std::array<std::byte, 1> last{};
    return rope.size() == 0 ? Result<void>{} : rope.read(rope.size() - 1, last);
  }

  void error(std::string code, std::string_view member, std::string message, std::string fix) {
    report_.findings.push_back(
        {std::move(code), Severity::error, place_of(file_, member), std::move(message), std::move(fix)});
  }

  void read_name() {
    auto name = dist::WheelName::parse(file_);
    if (name)
      report_.name = std::move(*name);
    else
      error(name.error().code, {}, name.error().message, name.error().hint);
  }

  Result<void> check_container(const content::Rope& rope) {
    auto before = static_cast<std::ptrdiff_t>(report_.findings.size()); // a wrong file name breaks no container
    auto zip = zip::Reader::open(rope, file_, report_.findings);
    bool broken = std::any_of(report_.findings.begin() + before, report_.findings.end(),
                              [](const Finding& f) { return f.severity == Severity::error; });
    if (!zip || broken) {
      report_.container_broken = true;
      return {};
    }
    for (const auto& m : zip->members()) (m.is_directory ? names_.directories : names_.paths).insert(m.name);
    dist_info_ = find_dist_info();
    if (dist_info_.empty()) return {};
    return check_contents(*zip);
  }

  // The directory that belongs to the file's name, or else the only one, so that RECORD can be judged all the same.
  std::string find_dist_info() {
    std::vector<std::string> found;
    for (const auto& path : names_.paths) {
      std::string_view top = std::string_view(path).substr(0, path.find('/'));
      if (top.size() < path.size() && top.ends_with(".dist-info") && (found.empty() || found.back() != top))
        found.emplace_back(top);
    }
    if (report_.name) {
      auto own =
          std::find_if(found.begin(), found.end(), [&](const std::string& d) { return belongs_to(d, *report_.name); });
      if (own != found.end()) return *own;
      error("W006", {}, fmt::format("{} is missing", report_.name->dist_info()), "rename the file or build it again");
    }
    return found.size() == 1 ? found.front() : std::string();
  }

  Result<void> check_contents(const zip::Reader& zip) {
    DistInfoTexts texts;
    texts.metadata = text_of(zip, "METADATA", dist::k_metadata_bytes_max);
    texts.wheel = text_of(zip, "WHEEL", dist::k_wheel_bytes_max);
    texts.entry_points = text_of(zip, "entry_points.txt", dist::k_entry_points_bytes_max);
    auto record = text_of(zip, "RECORD", dist::k_record_bytes_max);
    if (report_.container_broken) return {};
    report_.metadata_text = texts.metadata.value_or("");
    check_texts(std::move(texts));
    return check_rows(zip, record);
  }

  // Sizes are bounded before a byte is inflated. A missing member is not an error here.
  std::optional<std::string> text_of(const zip::Reader& zip, std::string_view name, std::uint64_t max_bytes) {
    auto path = fmt::format("{}/{}", dist_info_, name);
    const auto* member = zip.find(path);
    if (!member) return std::nullopt;
    auto text = zip.read_all(*member, max_bytes);
    if (text) return std::move(*text);
    error(text.error().code, path, text.error().message, text.error().hint);
    report_.container_broken = true;
    return std::nullopt;
  }

  void check_texts(DistInfoTexts texts) {
    if (!report_.name) return;
    DistInfoCheck check{file_, *report_.name, dist_info_, std::move(texts), names_.paths, names_.directories};
    auto info = check_dist_info(check, report_.findings);
    check_paths(check, report_.findings);
    check_installed(check, info.entry_points, report_.findings);
    report_.metadata = std::move(info.metadata);
    report_.wheel_info = std::move(info.wheel_info);
    report_.entry_points = std::move(info.entry_points);
  }

  Result<void> check_rows(const zip::Reader& zip, const std::optional<std::string>& text) {
    auto path = dist_info_ + "/RECORD";
    report_.container_broken = true;
    if (!text) {
      error("W001", path, "RECORD is missing", "build the wheel again");
      return {};
    }
    auto rows = dist::parse_record(*text);
    if (!rows) {
      error(rows.error().code, path, rows.error().message, rows.error().hint);
      return {};
    }
    report_.record = std::move(*rows);
    Findings found;
    if (options_.observer) options_.observer->begin(zip);
    TRY(bool all_read,
        check_record({file_, dist_info_, report_.record, zip, options_.workers, options_.observer}, found));
    report_.unread = !all_read;
    report_.container_broken = has_errors(found);
    report_.findings.insert(report_.findings.end(), std::make_move_iterator(found.begin()),
                            std::make_move_iterator(found.end()));
    return {};
  }

  std::string file_, dist_info_;
  VerifyOptions options_;
  struct Names {
    std::set<std::string, std::less<>> paths, directories;
  };
  Names names_;
  VerifyReport report_;
};

/// W022 for a name that no wheel has.
Result<void> check_ending(const std::string& path) {
  auto file = path::basename(path);
  if (file.ends_with(".whl")) return {};
  bool sdist = dist::SdistName::parse(file).has_value();
  return fail(ErrorKind::invalid_argument, "W022",
              fmt::format("{} is {}", path,
                          sdist ? "a source distribution, not a wheel" : "not a wheel: its name does not end in .whl"),
              sdist ? "`quarry publish` checks source distributions"
                    : "give the path of a .whl file or of a directory with wheels");
}

} // namespace

Result<VerifyReport> verify(const std::string& path, unsigned workers) {
  auto rope = content::Rope::file(path);
  if (!rope && rope.error().kind == ErrorKind::not_found) return fail(std::move(rope).error());
  TRY_DO(check_ending(path));
  if (!rope) return fail(std::move(rope).error());
  return Verifier(path, {.workers = workers}).run(*rope);
}

Result<VerifyReport> verify(const content::Rope& bytes, const std::string& path, const VerifyOptions& options) {
  TRY_DO(check_ending(path));
  return Verifier(path, options).run(bytes);
}

int exit_code(const VerifyReport& report) {
  if (report.container_broken) return traits(ErrorKind::corrupt).exit_code;
  return has_errors(report.findings) ? traits(ErrorKind::failed).exit_code : 0;
}

namespace {
Result<VerifyReport> if_sound(VerifyReport report, const std::string& path) {
  if (!has_errors(report.findings)) return report;
  auto error = Error::of(report.container_broken ? ErrorKind::corrupt : ErrorKind::failed, "W010",
                         fmt::format("{} is not a sound wheel", path))
                   .with_hint(fmt::format("`quarry wheel verify {}` lists everything", path));
  for (const auto& f : report.findings)
    if (f.severity == Severity::error && error.details.size() < k_details_max)
      error.details.push_back(fmt::format("{}: {}: {}", f.code, f.place, f.message));
  return fail(std::move(error));
}
} // namespace

Result<VerifyReport> require_sound(const std::string& path, unsigned workers) {
  TRY(auto report, verify(path, workers));
  return if_sound(std::move(report), path);
}

Result<VerifyReport> require_sound(const content::Rope& bytes, const std::string& path, unsigned workers) {
  TRY(auto report, verify(bytes, path, {.workers = workers}));
  return if_sound(std::move(report), path);
}

} // namespace quarry::wheel
