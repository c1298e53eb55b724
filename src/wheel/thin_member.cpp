#include "wheel/thin_member.hpp"

#include "gpu/contents.hpp"
#include "gpu/names.hpp"
#include "gpu/thin.hpp"
#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::wheel {

namespace {

constexpr std::uint64_t k_head_of_code = 24; // what may_hold_code() looks at

struct CodeSum {
  std::uint64_t objects = 0, bytes = 0;
};

std::map<std::string, CodeSum> sums_of(const gpu::Contents& contents) {
  std::map<std::string, CodeSum> sums;
  for (const auto& object : contents.objects) {
    auto& sum = sums[object.target.str()];
    ++sum.objects;
    sum.bytes += object.bytes;
  }
  return sums;
}

CodeByTarget code_of(const gpu::Thinned& thinned, bool dropped, const std::vector<std::string>& devices) {
  CodeByTarget code;
  auto after = dropped ? std::map<std::string, CodeSum>() : sums_of(thinned.after);
  for (const auto& [target, sum] : sums_of(thinned.before)) {
    auto parsed = gpu::parse_target(target);
    const auto& kept = after[target];
    code.emplace(target, TargetCode{target, sum.objects, sum.bytes, sum.objects - kept.objects, sum.bytes - kept.bytes,
                                    !parsed || !gpu::is_unwanted(*parsed, devices)});
  }
  return code;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Programs choose these files by their names, so that one for a target of no interest is never opened.
bool may_be_dropped(std::string_view path, const ThinRules& rules) {
  return !rules.keep_loose_files && !ends_with_any(path, {".a", ".lib"});
}

/// The file is one code object or one kpack archive, and nobody asked for any of it.
bool is_unwanted_whole(const gpu::Contents& contents, const ThinRules& rules) {
  return !contents.objects.empty() && std::ranges::all_of(contents.objects, [&](const gpu::CodeObject& object) {
    bool whole = object.container == gpu::Container::elf || object.container == gpu::Container::kpack;
    return whole && gpu::is_unwanted(object.target, rules.devices);
  });
}

} // namespace

void add_code(CodeByTarget& into, const CodeByTarget& more) {
  for (const auto& [target, code] : more) {
    auto& sum = into.try_emplace(target, TargetCode{target, 0, 0, 0, 0, code.asked}).first->second;
    sum.objects += code.objects;
    sum.bytes += code.bytes;
    sum.removed_objects += code.removed_objects;
    sum.removed_bytes += code.removed_bytes;
  }
}

MemberLook look_at_path(const std::string& path, const ThinRules& rules) {
  MemberLook look;
  auto named = gpu::target_of_path(path);
  if (!named) return look;
  if (named->kernels == gpu::Kernels::unread) look.by_path.insert(named->target.processor);
  bool unwanted = gpu::is_unwanted(named->target, rules.devices);
  look.dropped = unwanted && may_be_dropped(path, rules);
  if (unwanted && !look.dropped)
    look.left.push_back(fmt::format("the file is for {} by its path", named->target.str()));
  return look;
}

Result<MemberLook> thin_member(const std::string& path, const content::Rope& content, const ThinRules& rules,
                               const std::shared_ptr<content::Spool>& spool) {
  auto look = look_at_path(path, rules);
  if (look.dropped) {
    TRY(auto head, content.slice(0, std::min(content.size(), k_head_of_code)).read_all(k_head_of_code));
    count_dropped(path, look, head);
    return look;
  }
  TRY(auto thinned, gpu::thin(content, names::printable(path), {rules.devices, rules.spool_directory, spool}));
  bool unwanted = is_unwanted_whole(thinned.before, rules);
  auto named = gpu::target_of_path(path);
  bool asked_by_path = named && !gpu::is_unwanted(named->target, rules.devices); // programs look for this name
  look.dropped =
      unwanted && !asked_by_path && may_be_dropped(path, rules) && ends_with_any(path, {".hsaco", ".co", ".kpack"});
  if (unwanted && !look.dropped && look.left.empty()) { // else the path said it
    auto code = thinned.before.objects.front().target.str();
    look.left.push_back(asked_by_path ? fmt::format("the file is for {} by its path, and its code is for {} (G107)",
                                                    named->target.str(), code)
                                      : fmt::format("the file is code for {} as a whole", code));
  }
  look.code = code_of(thinned, look.dropped, rules.devices);
  if (!thinned.before.objects.empty()) look.by_path.clear(); // the code says it, not the path
  for (const auto& object : thinned.before.objects) look.processors.insert(object.target.processor);
  if (!unwanted) std::ranges::move(thinned.left, std::back_inserter(look.left));
  if (thinned.changed) look.thinned = std::move(thinned.file);
  return look;
}

void count_dropped(const std::string& path, MemberLook& look, std::string_view head) {
  auto named = gpu::target_of_path(path);
  if (named && named->kernels == gpu::Kernels::read && gpu::may_hold_code(head))
    look.processors.insert(named->target.processor);
}

std::set<std::string> processors_of(std::span<const MemberLook> looks) {
  std::set<std::string> read, paths;
  for (const auto& look : looks) {
    read.insert(look.processors.begin(), look.processors.end());
    paths.insert(look.by_path.begin(), look.by_path.end());
  }
  if (std::ranges::all_of(read, [](const std::string& code) { return gpu::is_foreign({code}); })) read.merge(paths);
  return read;
}

std::vector<std::string> unserved(const std::vector<std::string>& devices, const std::set<std::string>& processors) {
  std::vector<std::string> missing;
  for (const auto& device : devices)
    if (std::ranges::none_of(processors, [&](const std::string& code) {
          return !gpu::is_foreign({code}) && !gpu::is_unwanted({code}, {device});
        }))
      missing.push_back(device);
  return missing;
}

} // namespace quarry::wheel
