#include "publish/placement.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include "publish/distribute.hpp"
#include "publish/foreign.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::publish {

namespace {
constexpr std::string_view k_by_project = "/{project}", k_product = "{product}";

/// The product that a project is of; empty for one that may be of any, such as a dependency.
std::string product_of_project(const std::string& project) {
  constexpr std::string_view k_pytorch[] = {"torch",  "torchaudio",          "torchvision",
                                            "triton", "pytorch-triton-rocm", "apex"};
  if (project == dist::k_sdk_project || project.starts_with("rocm-")) return "core";
  if (project.starts_with("jax")) return "jax";
  if (project.starts_with("amd-torch")) return "pytorch"; // the device code of one GPU target
  return std::find(std::begin(k_pytorch), std::end(k_pytorch), project) != std::end(k_pytorch) ? "pytorch" : "";
}

/// "core", "pytorch" or "jax": by the projects, else by the area of the run that the set lies in.
Result<std::string> product_of(const registry::SetRecord& set) {
  std::set<std::string> products;
  for (const auto& file : set.files)
    if (auto product = product_of_project(file.project); !product.empty()) products.insert(product);
  if (products.size() == 1) return *products.begin();
  if (products.size() > 1)
    return fail(ErrorKind::invalid_argument, "P041",
                fmt::format("the prefix asks for {{product}}, and the set of run {} holds packages of several: {}",
                            set.origin.run_id, text::join(std::vector(products.begin(), products.end()), ", ")),
                "publish each product as a set of its own, or use a prefix without {product}");
  for (const auto& part : text::split(set.directory, '/'))
    if (part == "pytorch" || part == "jax") return part;
  return std::string("core");
}
} // namespace

std::string Placement::key_of(const registry::FileRecord& file) const {
  return directory + "/" + (by_project ? file.project + "/" : "") + file.filename;
}

Result<Placement> placement_of(const std::string& prefix, const registry::SetRecord& set) {
  Placement placement;
  placement.by_project = prefix.ends_with(k_by_project);
  auto directory = placement.by_project ? prefix.substr(0, prefix.size() - k_by_project.size()) : prefix;
  if (directory.find(k_product) != directory.npos) {
    TRY(auto product, product_of(set));
    directory = text::replace_all(directory, k_product, product);
  }
  TRY(placement.directory, expand_prefix(directory, set.origin));
  return placement;
}

std::string package_at(std::string_view rest) {
  auto slash = rest.find('/');
  std::string name(slash == rest.npos ? rest : rest.substr(slash + 1));
  if (name.find('/') != name.npos || !is_package(name)) return "";
  if (slash == rest.npos) return name;
  auto parsed = dist::DistributionName::parse(name);
  return parsed && parsed->project.str() == rest.substr(0, slash) ? name : std::string();
}

} // namespace quarry::publish
