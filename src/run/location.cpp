#include "run/location.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::run {

namespace {
Unexpected nowhere(std::string_view why, std::string_view hint) {
  return fail(ErrorKind::not_found, "L026", std::string(why), std::string(hint));
}

std::string below(std::string directory, std::string_view name) {
  while (directory.ends_with('/')) directory.pop_back();
  if (name.empty()) return directory;
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

Result<void> check_name(std::string_view name) {
  if (name.empty()) return {};
  for (const auto& part : text::split(name, '/')) TRY_DO(check_component({part, "name"}));
  return {};
}

PackageForm form_of(Era era) {
  return era == Era::feb ? PackageForm::feb : era == Era::aug ? PackageForm::aug : PackageForm::quarry;
}

/// pytorch and jax: directories of their own with us, the common python/ in August, nowhere in February.
Result<std::string> area_of(Output output, Era era) {
  if (output != Output::pytorch && output != Output::jax) return "python";
  std::string area = output == Output::jax ? "jax" : "pytorch";
  if (era == Era::feb)
    return nowhere(fmt::format("in February 2026 no run kept its {} wheels", area),
                   "they went to the release index; use --era aug or omit --era");
  return era == Era::aug ? "python" : area;
}

Result<std::string> package_key(const Layout& layout, const Wanted& wanted) {
  TRY(auto area, area_of(wanted.output, wanted.era));
  TRY(auto packages, layout.packages(area, wanted.group, form_of(wanted.era)));
  if (wanted.output == Output::python_dist) return below(packages.dist, wanted.name);
  if (wanted.output != Output::python_index) return below(packages.root, wanted.name);
  if (wanted.era == Era::quarry) return below(packages.simple, wanted.name);
  if (wanted.name.empty()) return packages.index_html;
  return nowhere(fmt::format("in {} the index is one page for all projects", to_string(wanted.era)),
                 "omit --name: the page is index.html");
}

Result<std::string> key_of(const Layout& layout, const Wanted& wanted) {
  auto grouped = [&](std::string_view directory) {
    return below(below(layout.prefix() + std::string(directory), wanted.group), wanted.name);
  };
  TRY_DO(check_group(wanted.group));
  switch (wanted.output) {
  case Output::run:
  case Output::artifact: return below(layout.prefix(), wanted.name);
  case Output::log: return grouped("logs");
  case Output::manifest: return grouped("manifests");
  case Output::tarball: return below(layout.prefix() + "tarballs", wanted.name);
  case Output::python_deps:
    if (wanted.era == Era::quarry) return below("python-deps/simple", wanted.name);
    return nowhere(fmt::format("{} has no index of dependencies of its own", to_string(wanted.era)),
                   "dependencies are next to the packages of the release index");
  default: return package_key(layout, wanted);
  }
}

/// February's tarballs went straight to the release's own bucket, prereleases below v3/.
Result<Location> feb_tarball(const Origin& origin, const Wanted& wanted) {
  auto type = origin.release_type;
  if (type.empty() || type == "ci")
    return nowhere("in February 2026 only releases kept tarballs", "name one with --release-type");
  auto bucket = wanted.bucket.empty() ? fmt::format("therock-{}-tarball", type) : wanted.bucket;
  return Location{bucket, below(type == "prerelease" ? "v3/tarball" : "", wanted.name)};
}
} // namespace

const std::vector<std::string>& output_names() {
  static const std::vector<std::string> k_names = {"run",     "artifact", "log",         "manifest",
                                                   "tarball", "python",   "python-dist", "python-index",
                                                   "pytorch", "jax",      "python-deps"};
  return k_names;
}

Result<Output> parse_output(std::string_view name) {
  const auto& names = output_names();
  auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Output>(found - names.begin());
  return fail(ErrorKind::invalid_argument, "L024", fmt::format("{:?} is not an output of a run", std::string(name)),
              fmt::format("choose one of: {}", text::join(names, ", ")));
}

std::string Location::s3_uri() const { return fmt::format("s3://{}/{}", bucket, key); }
std::string Location::https_url() const {
  return fmt::format("https://{}.s3.amazonaws.com/{}", bucket, text::percent_encode(key));
}
std::string Location::local_path(std::string_view staging) const {
  return staging.empty() ? key : path::join(staging, key);
}

Result<Located> locate(const Origin& origin, Wanted wanted) {
  TRY(auto bucket, choose_bucket(origin, wanted.era, wanted.bucket));
  wanted.run.external_repo = bucket.external_repo;
  TRY(auto layout, Layout::create(wanted.run));
  TRY_DO(check_name(wanted.name));
  Located located{{bucket.name, ""}, bucket.external_repo, below(layout.prefix(), ""), std::move(bucket.reasons)};
  if (wanted.era == Era::feb && wanted.output == Output::tarball) {
    TRY(located.location, feb_tarball(origin, wanted));
  } else {
    TRY(located.location.key, key_of(layout, wanted));
  }
  return located;
}

} // namespace quarry::run
