#include "sdk/split.hpp"

#include "base/json.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::sdk {

namespace {
constexpr std::string_view k_manifest = "share/therock/therock_manifest.json";
constexpr std::uint64_t k_manifest_max = 16u << 20; // one of 2026 lists some hundred submodules in 100 kB
constexpr std::string_view k_flag = "KPACK_SPLIT_ARTIFACTS";

Unexpected refused(const std::string& artifact, const std::string& why) {
  return fail(ErrorKind::unsupported, "S053",
              fmt::format("the artifacts are split by GPU target: {} of {}; Quarry packages whole families only", why,
                          artifact),
              fmt::format("take artifacts of a run that was built with {}=OFF, or package this run with TheRock's "
                          "build_python_packages.py",
                          k_flag));
}

// As Python takes it, whose script reads the flag: false, null, 0 and what is empty are not set.
bool is_set(const Json& flag) {
  if (flag.is_boolean()) return flag.get<bool>();
  if (flag.is_number()) return flag != 0;
  return !flag.empty() && flag != "";
}

Result<void> check_manifest(const ArtifactTrees::File& file) {
  TRY(auto text, file.entry.data.read_all(k_manifest_max), "while reading " + file.entry.place);
  TRY(auto manifest, json::parse(text, file.entry.place));
  if (!manifest.is_object())
    return fail(ErrorKind::corrupt, "B002", fmt::format("{} is not a JSON object", file.entry.place),
                "fetch the artifact again");
  auto flags = manifest.find("flags");
  if (flags == manifest.end() || !flags->is_object()) return {};
  auto split = flags->find(std::string(k_flag));
  if (split == flags->end() || !is_set(*split)) return {};
  return refused(file.entry.artifact, fmt::format("flags.{} is {} in {}", k_flag, split->dump(), k_manifest));
}

// Written by the tool that splits: `.kpack/NAME_COMPONENT.kpm` beside the host libraries, `…_TARGET.kpack` beside them.
bool is_split_code(const std::string& path) {
  auto directory = path::basename(path::dirname(path));
  return directory == ".kpack" && (path.ends_with(".kpm") || path.ends_with(".kpack"));
}

Result<void> check(const std::vector<ArtifactTrees::File>& files) {
  for (const auto& file : files) {
    if (file.entry.type != sys::EntryType::file) continue;
    if (file.path == k_manifest) TRY_DO(check_manifest(file));
    if (is_split_code(file.path)) return refused(file.entry.artifact, fmt::format("the file {}", file.path));
  }
  return {};
}
} // namespace

Result<void> refuse_split(ArtifactTrees& trees) {
  for (const auto& name : trees.names()) {
    if (name.name != "base" || name.component != "lib") continue;
    TRY(const auto* files, trees.of(name));
    TRY_DO(check(*files));
  }
  for (const auto& [name, files] : trees.all_read()) TRY_DO(check(files));
  return {};
}

} // namespace quarry::sdk
