#include "sdk/split.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "gpu/kpack_manifest.hpp"
#include "gpu/target.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::sdk {

namespace {
constexpr std::string_view k_manifest = "share/therock/therock_manifest.json";
constexpr std::string_view k_dist_info = "share/therock/dist_info.json";
constexpr std::uint64_t k_document_max = 16u << 20; // a manifest of 2026 lists some hundred submodules in 100 kB
constexpr std::size_t k_artifacts_shown = 6;
constexpr std::string_view k_flag = "KPACK_SPLIT_ARTIFACTS", k_generic = "generic", k_lib = "lib";

Unexpected contradiction(std::string message) {
  return fail(ErrorKind::corrupt, "S059", std::move(message),
              "take all artifacts from one run; `quarry artifact list DIR` shows what each of them is for");
}

// As Python takes it, whose script reads the flag: false, null, 0 and what is empty are not set.
bool is_set(const Json& flag) {
  if (flag.is_boolean()) return flag.get<bool>();
  if (flag.is_number()) return flag != 0;
  return !flag.empty() && flag != "";
}

bool is_base(const artifact::Name& name) { return name.name == "base" && name.component == k_lib; }

/// A JSON object that the artifact `base` holds; nullopt without it.
Result<std::optional<Json>> document_of_base(ArtifactTrees& trees, std::string_view path) {
  for (const auto& name : trees.names()) {
    if (!is_base(name)) continue;
    TRY(const auto* files, trees.of(name));
    auto file = std::find_if(files->begin(), files->end(), [&](const ArtifactTrees::File& f) {
      return f.path == path && f.entry.type == sys::EntryType::file;
    });
    if (file == files->end()) continue;
    TRY(auto text, file->entry.data.read_all(k_document_max), "while reading " + file->entry.place);
    TRY(auto document, json::parse({text, file->entry.place}));
    if (!document.is_object())
      return fail(ErrorKind::corrupt, "B002", fmt::format("{} is not a JSON object", file->entry.place),
                  "fetch the artifact again");
    return std::optional(std::move(document));
  }
  return std::nullopt;
}

/// What the manifest says; nullopt without a manifest or a flag in it.
Result<std::optional<bool>> declared(ArtifactTrees& trees) {
  TRY(auto manifest, document_of_base(trees, k_manifest));
  if (!manifest) return std::nullopt;
  auto flags = manifest->find("flags");
  if (flags == manifest->end() || !flags->is_object()) return std::optional(false);
  auto split = flags->find(std::string(k_flag));
  return std::optional(split != flags->end() && is_set(*split));
}

bool is_file(const ArtifactTrees::File& file) { return file.entry.type == sys::EntryType::file; }

// Written by the tool that splits: `.kpack/NAME_COMPONENT.kpm` next to the host's libraries, `…_TARGET.kpack` for the
// code.
bool is_split_code(const ArtifactTrees::File& file) {
  return is_file(file) && path::basename(path::dirname(file.path)) == ".kpack" &&
         (file.path.ends_with(".kpm") || file.path.ends_with(".kpack"));
}

bool is_library(const ArtifactTrees::File& file) {
  auto name = path::basename(file.path);
  return is_file(file) && (name.ends_with(".dll") || name.ends_with(".so") || name.find(".so.") != name.npos);
}

template <class Test> const ArtifactTrees::File* first(const std::vector<ArtifactTrees::File>& files, Test test) {
  auto it = std::find_if(files.begin(), files.end(), test);
  return it == files.end() ? nullptr : &*it;
}

/// The same artifact for all targets.
bool has_generic(const std::vector<artifact::Name>& names, const artifact::Name& of) {
  artifact::Name generic{of.name, of.component, std::string(k_generic)};
  return std::find(names.begin(), names.end(), generic) != names.end();
}

bool is_of_target(const artifact::Name& name) { return name.component == k_lib && name.target != k_generic; }

// "gfx94X-dcgpu"; "gfx942" and "gfx11-generic" are targets.
bool is_family(std::string_view target) {
  return gpu::known_processor(target) != target && target.find_first_of("X-") != target.npos;
}

Result<void> check_whole(const ArtifactTrees& trees) {
  for (const auto& [name, files] : trees.all_read())
    if (const auto* code = first(files, is_split_code))
      return contradiction(fmt::format("{} holds {}, device code that was split off its library, and the artifacts are "
                                       "not split by GPU target",
                                       name.text(), code->path));
  return {};
}

/// Nothing but the manifest says so: every artifact is for a family, and none holds code that was split off.
bool is_split_by_manifest_alone(const ArtifactTrees& trees, const Choice& choice) {
  return std::ranges::all_of(choice.families, is_family) &&
         std::ranges::none_of(trees.all_read(), [](const auto& read) { return first(read.second, is_split_code); });
}

Result<void> check_split(const ArtifactTrees& trees, const Choice& choice) {
  if (!choice.families.empty() && is_split_by_manifest_alone(trees, choice))
    return contradiction(fmt::format("{} says that device code is split by GPU target ({}), and no artifact is: they "
                                     "are for the family {}",
                                     k_manifest, k_flag, text::join(choice.families, ", ")));
  auto family = std::find_if(choice.families.begin(), choice.families.end(), is_family);
  if (family != choice.families.end())
    return contradiction(
        fmt::format("artifacts for the family {} are with artifacts that are split by GPU target", *family));
  for (const auto& name : choice.artifacts) {
    if (!is_of_target(name) || has_generic(trees.names(), name)) continue;
    auto files = trees.all_read().find(name);
    if (files == trees.all_read().end()) continue;
    if (const auto* library = first(files->second, is_library))
      return contradiction(fmt::format("{} holds the library {} and there is no {}_{}_generic, though the artifacts "
                                       "are split by GPU target",
                                       name.text(), library->path, name.name, name.component));
  }
  return {};
}

std::vector<std::string> listed_targets(const Json& document) {
  auto listed = document.find("dist_amdgpu_targets");
  if (listed == document.end()) return {};
  if (listed->is_string()) return text::split_any(listed->get<std::string>(), ";, ");
  std::vector<std::string> targets;
  if (listed->is_array())
    for (const auto& each : *listed)
      if (each.is_string()) targets.push_back(each.get<std::string>());
  return targets;
}

/// The manifest of device code that was split off the artifact's libraries; "" if it has none.
Result<std::string> manifest_in(ArtifactTrees& trees, const artifact::Name& name) {
  TRY(const auto* files, trees.of(name));
  const auto* file =
      first(*files, [](const ArtifactTrees::File& f) { return is_split_code(f) && f.path.ends_with(".kpm"); });
  if (!file || file->entry.data.size() > k_document_max) return std::string();
  return file->entry.data.read_all(k_document_max);
}

/// S061 for each target whose archives the manifests beside the host's libraries do not name.
Result<void> check_manifests(ArtifactTrees& trees, const Choice& choice, Findings& findings) {
  std::map<std::string, std::vector<std::string>> unknown; // of a target: artifacts
  std::map<std::string, std::set<std::string>> known;
  for (const auto& name : choice.artifacts) {
    if (name.target == k_generic || !has_generic(trees.names(), name)) continue;
    TRY(const auto* files, trees.of(name));
    if (!first(*files, is_split_code)) continue;
    TRY(auto manifest, manifest_in(trees, {name.name, name.component, std::string(k_generic)}));
    auto targets = gpu::targets_in_manifest(manifest);
    std::string target(name.target_base());
    if (!targets || targets->contains(target)) continue;
    unknown[target].push_back(name.text());
    known[target].merge(*targets);
  }
  for (const auto& [target, artifacts] : unknown)
    findings.push_back({"S061", Severity::error, target,
                        fmt::format("{} holds device code, and the host's libraries were built for {}",
                                    text::first(artifacts, k_artifacts_shown),
                                    text::join(std::vector(known[target].begin(), known[target].end()), ", ")),
                        "take all artifacts from one run, or omit the target from the list of families"});
  return {};
}

} // namespace

Result<Form> form_of(ArtifactTrees& trees) {
  TRY(auto flag, declared(trees));
  if (flag) return *flag ? Form::split : Form::whole;
  for (const auto& name : trees.names()) {
    if (!is_of_target(name) || !has_generic(trees.names(), name)) continue;
    TRY(const auto* files, trees.of(name));
    if (first(*files, is_split_code)) return Form::split;
    if (first(*files, is_file) && !first(*files, is_library)) return Form::split;
  }
  return Form::whole;
}

Result<void> check_form(const ArtifactTrees& trees, Form form, const Choice& choice) {
  return form == Form::split ? check_split(trees, choice) : check_whole(trees);
}

Result<void> check_targets_known(ArtifactTrees& trees, const Choice& choice, Chosen chosen, Findings& findings) {
  TRY(auto document, document_of_base(trees, k_dist_info));
  auto known = document ? listed_targets(*document) : std::vector<std::string>();
  for (auto& target : known) target = std::string(artifact::target_base(target));
  if (known.empty()) return check_manifests(trees, choice, findings);
  for (const auto& target : choice.families)
    if (std::find(known.begin(), known.end(), target) == known.end())
      findings.push_back({"S061", Severity::error, target,
                          fmt::format("there are artifacts for it, and the build was for {}", text::join(known, ", ")),
                          "take all artifacts from one run, or omit the target from the list of families"});
  if (chosen == Chosen::by_request) return {};
  std::erase_if(known, [&](const auto& target) { return std::ranges::binary_search(choice.families, target); });
  if (!known.empty())
    findings.push_back({"S063", Severity::warning, text::join(known, ", "),
                        "the build was for these targets, too, and no artifact here is, so they get no package",
                        "fetch the artifacts of the whole run; or say which families are wanted: "
                        "--linux-amdgpu-families, --windows-amdgpu-families"});
  return {};
}

void check_same_artifacts(const Choice& choice, Findings& findings) {
  std::map<std::string, std::set<std::string>> targets_of; // of "blas_lib"
  for (const auto& name : choice.artifacts)
    if (name.target != k_generic)
      targets_of[fmt::format("{}_{}", name.name, name.component)].emplace(name.target_base());
  for (const auto& target : choice.families) {
    std::vector<std::string> missing;
    for (const auto& [artifact, targets] : targets_of)
      if (!targets.contains(target)) missing.push_back(artifact);
    if (!missing.empty())
      findings.push_back({"S063", Severity::warning, target,
                          fmt::format("other targets have device code in {}, and this one has none there",
                                      text::first(missing, k_artifacts_shown)),
                          "fetch the artifacts again if a job of this target failed or had not ended; nothing, if the "
                          "build makes no such code for it"});
  }
}

} // namespace quarry::sdk
