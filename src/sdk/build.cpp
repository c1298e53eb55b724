#include "sdk/build.hpp"

#include "artifact/catalogue.hpp"
#include "sdk/sdist.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

Result<void> refuse_errors(const Findings& findings, std::string_view what) {
  if (!has_errors(findings)) return {};
  Error error{ErrorKind::failed,
              "S030",
              fmt::format("{}; nothing was written", what),
              {},
              {},
              "mend what the findings name, then run the same command again"};
  constexpr std::size_t k_shown = 10; // a screenful; --json carries all
  std::size_t shown = 0;
  for (const auto& f : findings)
    if (f.severity == Severity::error && shown++ < k_shown)
      error.details.push_back(fmt::format("error[{}] {}: {}", f.code, f.place, f.message));
  if (shown > k_shown) error.details.push_back(fmt::format("… and {} more", shown - k_shown));
  return fail(std::move(error));
}

template <class Event, class... Args> void tell(const Event& event, Args&&... args) {
  if (event) event(std::forward<Args>(args)...);
}

Result<BuiltPackage> write_package(const PackagePlan& package, const std::string& dist_dir, const BuildRequest& request,
                                   const BuildEvents& events, const sys::Clock& clock) {
  std::uint64_t total = 0;
  for (const auto& member : package.wheel.members) total += member.data.size();
  tell(events.packing, package.dist, total);
  auto begin = clock.steady_ns();
  TRY(auto built, wheel::pack(package.wheel, dist_dir, {request.profile, request.workers, events.progress}),
      "while building " + package.dist);
  BuiltPackage out{package.logical,   package.family,   built.file_name, built.path, built.size,
                   built.input_bytes, built.file_count, built.sha256,    0};
  out.seconds = static_cast<double>(clock.steady_ns() - begin) / 1e9;
  tell(events.built, out);
  return out;
}

} // namespace

Result<BuildReport> build(const BuildRequest& request, const Recipe& recipe, const Resources& resources,
                          const BuildEvents& events, bool plan_only) {
  sys::RealClock clock;
  BuildReport report;

  // 1. What is there.
  TRY(auto catalogue, artifact::open_catalogue(request.artifact_dir));
  tell(events.read, catalogue);
  TRY_DO(refuse_errors(catalogue.findings, fmt::format("the artifacts in {} are not in order", request.artifact_dir)));

  // 2. What each package will hold, as ropes over the artifacts' files: ELF edits are planned and proven here.
  TRY(auto plan, plan_build(request, recipe, catalogue, resources));
  tell(events.planned, plan);
  report.findings = catalogue.findings;
  report.findings.insert(report.findings.end(), plan.findings.begin(), plan.findings.end());

  // 3. Whether it may be built.
  TRY_DO(refuse_errors(plan.findings, "the packages cannot be built from these artifacts"));
  if (plan_only) return report;

  // 4. Bytes move, once: from the artifacts into the packages.
  auto dist_dir = path::join(request.dest_dir, "dist");
  TRY_DO(sys::make_directories(dist_dir));
  if (recipe.meta()) {
    TRY(auto sdist, write_sdist(plan.sdist, dist_dir));
    tell(events.built, sdist);
    report.packages.push_back(std::move(sdist));
  }
  for (const auto& package : plan.packages) {
    TRY_DO(sys::check_interrupted());
    TRY(auto built, write_package(package, dist_dir, request, events, clock));
    report.packages.push_back(std::move(built));
  }
  for (const auto& p : report.packages) {
    report.input_bytes += p.input_bytes;
    report.output_bytes += p.size;
  }
  return report;
}

} // namespace quarry::sdk
