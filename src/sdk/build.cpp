#include "sdk/build.hpp"

#include "artifact/catalogue.hpp"
#include "artifact/source.hpp"
#include "base/text.hpp"
#include "codec/compression.hpp"
#include "content/spool.hpp"
#include "sdk/era.hpp"
#include "sdk/leftovers.hpp"
#include "sdk/sdist.hpp"
#include "sdk/thin.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/beside.hpp"
#include "thread/guard.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <future>

namespace quarry::sdk {

namespace {

Result<void> refuse_errors(const Findings& findings, std::string_view what) {
  if (!has_errors(findings)) return {};
  auto error = Error::of(ErrorKind::failed, "S030", fmt::format("{}; nothing was written", what))
                   .with_hint("fix the problems above, then run the command again");
  constexpr std::size_t k_shown = 10; // a screenful; --json carries all
  std::vector<std::string> lines;
  for (const auto& f : findings)
    if (f.severity == Severity::error) lines.push_back(fmt::format("error[{}] {}: {}", f.code, f.place, f.message));
  error.details = text::first_lines(std::move(lines), k_shown);
  return fail(std::move(error));
}

template <class Event, class... Args> void tell(const Event& event, Args&&... args) {
  if (event) event(std::forward<Args>(args)...);
}

// Packages are deflated one after the other; digesting, reading back and syncing one, which waits for the disk, goes on
// beside the deflating of the next.
class Packer {
public:
  Packer(const BuildRequest& request, const BuildEvents& events, std::string dist_dir)
      : request_(request), events_(events), dist_dir_(std::move(dist_dir)) {}

  Result<void> write(const PackagePlan& package, BuildReport& report) {
    std::uint64_t total = 0;
    for (const auto& member : package.wheel.members) total += member.data.size();
    tell(events_.packing, package.dist, total);
    auto begin = clock_.steady_ns();
    TRY(auto packed,
        wheel::begin_pack(package.wheel, dist_dir_,
                          {request_.profile, request_.workers, events_.progress, request_.prover}),
        "while building " + package.dist);
    TRY_DO(finish(report));
    package_ = &package;
    begin_ = begin;
    finishing_ = run_beside([this, packed = std::move(packed)]() mutable {
      auto built = guarded([&] { return std::move(packed).finish(); });
      return Finished{std::move(built), clock_.steady_ns()};
    });
    return {};
  }

  Result<void> finish(BuildReport& report) {
    if (!finishing_.valid()) return {};
    auto finished = finishing_.get();
    TRY(auto built, std::move(finished.built), "while building " + package_->dist);
    auto seconds = static_cast<double>(finished.at_ns - begin_) / 1e9;
    report.packages.push_back({package_->logical, package_->family, built.file_name, built.path, built.size,
                               built.input_bytes, built.file_count, built.sha256, seconds});
    tell(events_.built, report.packages.back());
    return {};
  }

private:
  struct Finished {
    Result<wheel::Built> built;
    std::uint64_t at_ns; // it is fetched later, when the next package is deflated
  };
  const BuildRequest& request_;
  const BuildEvents& events_;
  std::string dist_dir_;
  sys::RealClock clock_;
  const PackagePlan* package_ = nullptr;
  std::uint64_t begin_ = 0;
  std::future<Finished> finishing_; // the last member: its end waits for what uses the others
};

// A member's size stands before its bytes, so the payload is compressed first, into a file without a name.
Result<void> compress_payload(PackagePlan& package, const BuildRequest& request, const BuildEvents& events) {
  auto member = std::find_if(package.wheel.members.begin(), package.wheel.members.end(),
                             [&](const wheel::Member& m) { return m.path == package.payload; });
  if (package.payload.empty() || member == package.wheel.members.end()) return {};
  tell(events.packing, std::string(path::basename(package.payload)), member->data.size());
  TRY(auto spool, content::Spool::create(request.trees.spool_directory));
  auto compressor = codec::Compressor::create(request.payload, request.workers,
                                              [&](std::span<const std::byte> bytes) { return spool->append(bytes); });
  std::uint64_t done = 0;
  TRY_DO(content::pump(member->data, [&](std::span<const std::byte> bytes) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    TRY_DO(compressor->write(bytes));
    tell(events.progress, done += bytes.size());
    return {};
  }));
  TRY_DO(compressor->finish());
  member->data = content::Rope::of(spool);
  return {};
}

BuiltPackage described(const PackagePlan& package, std::string file_name, std::string path) {
  return {.logical = package.logical,
          .family = package.family,
          .file_name = std::move(file_name),
          .path = std::move(path),
          .input_bytes = package.input_bytes,
          .files = package.files};
}

Result<void> write_sdist_tree(const SdistPlan& plan, const std::string& directory) {
  for (const auto& [name, file] : plan.files) {
    auto path = path::join(directory, name);
    TRY_DO(sys::make_directories(path::dirname(path)));
    TRY_DO(sys::write_file(path, file.text, file.executable ? 0755 : 0644));
  }
  return {};
}

/// "rocm-7.2.0" -> "rocm": a tree is named after its project.
std::string project_of(const SdistPlan& sdist) { return sdist.top.substr(0, sdist.top.rfind('-')); }

/// What the packages would hold, each as a directory called like the project; `wheel pack` takes those of wheels.
Result<void> write_trees(BuildPlan& plan, const BuildRequest& request, const BuildEvents& events, BuildReport& report) {
  if (!plan.sdist.file_name.empty()) {
    auto project = project_of(plan.sdist);
    auto directory = path::join(request.dest_dir, project);
    TRY_DO(write_sdist_tree(plan.sdist, directory));
    report.packages.push_back(
        {.logical = "meta", .file_name = project, .path = directory, .files = plan.sdist.files.size()});
  }
  for (auto& package : plan.packages) {
    TRY_DO(compress_payload(package, request, events));
    tell(events.packing, package.dist, package.input_bytes);
    auto directory = path::join(request.dest_dir, package.dist);
    TRY_DO(wheel::write_tree(package.wheel, directory, {request.profile, request.workers, events.progress}),
           "while writing " + directory);
    report.packages.push_back(described(package, package.dist, directory));
    report.input_bytes += package.input_bytes;
    tell(events.built, report.packages.back());
  }
  return {};
}

/// The directory holds what was planned: nobody removed a package while others were made.
Result<void> check_complete(const BuildReport& report) {
  for (const auto& package : report.packages) {
    auto file = sys::File::open_read(package.path);
    auto size = file ? file->size() : Result<std::uint64_t>(0);
    if (!file || !size || *size != package.size)
      return fail(ErrorKind::outcome_unknown, "S042", fmt::format("{} is not as it was written", package.path),
                  "something else writes to this directory: run the same command again when it is done");
  }
  return {};
}

Result<BuildReport> planned(BuildReport report, const BuildPlan& plan, bool trees) {
  if (!plan.sdist.file_name.empty()) {
    auto name = trees ? project_of(plan.sdist) : plan.sdist.file_name;
    report.packages.push_back({.logical = "meta", .file_name = std::move(name), .files = plan.sdist.files.size()});
  }
  for (const auto& p : plan.packages) {
    TRY(auto name, wheel::file_name_of(p.wheel));
    report.packages.push_back(described(p, trees ? p.dist : name, ""));
    report.input_bytes += p.input_bytes;
  }
  return report;
}

Result<void> refuse_leftovers(const BuildPlan& plan, const BuildRequest& request, const Recipe& recipe,
                              const std::string& dist_dir, Findings& findings) {
  Expected expected{recipe, request.version, {}};
  if (!plan.sdist.file_name.empty()) expected.file_names.push_back(plan.sdist.file_name);
  for (const auto& p : plan.packages) {
    TRY(auto name, wheel::file_name_of(p.wheel));
    expected.file_names.push_back(std::move(name));
  }
  return check_leftovers(dist_dir, expected, findings);
}

// The last package is finished by one thread while the other cores rest, so it is a small one.
std::vector<PackagePlan*> largest_first(std::vector<PackagePlan>& packages) {
  std::vector<PackagePlan*> order;
  for (auto& package : packages) order.push_back(&package);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->input_bytes > b->input_bytes; });
  return order;
}

// Where a file without a name may lie before the packages' directory is made.
std::string nearest_directory(std::string path) {
  while (!sys::is_directory(path) && path != "/" && path != ".") path = path::dirname(path);
  return path;
}

} // namespace

Result<BuildReport> build(const BuildRequest& asked, const RecipeChoice& recipes, const Resources& resources,
                          const BuildEvents& events, bool plan_only) {
  auto request = asked;
  request.trees.spool_directory = nearest_directory(request.dest_dir);
  request.trees.workers = request.workers;
  request.trees.on_bytes = events.archive_bytes;
  BuildReport report;

  // 1. What is there.
  auto twins = request.from_build_tree ? artifact::Twins::packed_there : artifact::Twins::refused;
  TRY(auto catalogue, artifact::open_catalogue(request.artifact_dir, twins));
  tell(events.read, catalogue);
  TRY_DO(refuse_errors(catalogue.findings, fmt::format("the artifacts in {} are not in order", request.artifact_dir)));

  // 2. What each package will hold, as ropes over the artifacts' files: ELF edits are planned and proven here.
  ArtifactTrees trees(catalogue, request.trees);
  TRY(auto recipe, recipe_for(recipes, trees));
  report.recipe = recipe.name;
  TRY(auto plan, plan_build(request, recipe, trees, resources));
  TRY_DO(thin_packages(request, plan));
  tell(events.planned, plan);
  report.findings = catalogue.findings;
  report.findings.insert(report.findings.end(), plan.findings.begin(), plan.findings.end());
  report.unused = plan.unused;

  // 3. Whether it may be built.
  TRY_DO(refuse_errors(plan.findings, "the packages cannot be built from these artifacts"));
  auto dist_dir = path::join(request.dest_dir, "dist");
  if (!request.trees_only) TRY_DO(refuse_leftovers(plan, request, recipe, dist_dir, report.findings));
  tell(events.checked, report.findings);
  if (plan_only) return planned(std::move(report), plan, request.trees_only);
  if (request.trees_only) {
    TRY_DO(write_trees(plan, request, events, report));
    return report;
  }

  // 4. Bytes move, once: from the artifacts into the packages.
  TRY_DO(sys::make_directories(dist_dir));
  auto marker = path::join(dist_dir, dist::k_being_built);
  TRY(auto ours, sys::FileLock::try_acquire(marker)); // the file stays when we are killed, the lock does not
  if (!ours)
    return fail(ErrorKind::precondition_failed, "S043", fmt::format("another build writes to {}", dist_dir),
                "wait until it has finished, or name another --dest-dir");
  if (recipe.meta()) {
    TRY(auto sdist, write_sdist(plan.sdist, dist_dir));
    tell(events.built, sdist);
    report.packages.push_back(std::move(sdist));
  }
  Packer packer(request, events, dist_dir);
  for (auto* package : largest_first(plan.packages)) {
    TRY_DO(sys::check_interrupted());
    TRY_DO(compress_payload(*package, request, events));
    TRY_DO(packer.write(*package, report));
  }
  TRY_DO(packer.finish(report));

  // 5. All that was planned is there.
  TRY_DO(check_complete(report));
  TRY_DO(sys::remove_file(marker));
  for (const auto& p : report.packages) {
    report.input_bytes += p.input_bytes;
    report.output_bytes += p.size;
  }
  return report;
}

} // namespace quarry::sdk
