#include "trial/machine.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>
#include <vector>

namespace quarry::trial {

namespace {
constexpr const char* k_architecture =
#if defined(__aarch64__)
    "aarch64";
#else
    "x86_64";
#endif

std::string driver_version() {
  auto text = sys::read_file("/sys/module/amdgpu/version", 4096);
  return text ? std::string(text::trim(*text)) : "";
}
/// "gfx_target_version 90402" among lines of a name and a number.
std::uint64_t property(std::string_view text, std::string_view name) {
  for (const auto& line : text::lines(text)) {
    auto words = text::split(line, ' ');
    if (words.size() == 2 && words[0] == name) return text::parse_u64(words[1]).value_or(0);
  }
  return 0;
}

/// 90402 is gfx942, 90010 gfx90a: the driver writes major, minor and stepping as decimal pairs.
std::string target_of(std::uint64_t version) {
  return fmt::format("gfx{}{:x}{:x}", version / 10'000, version / 100 % 100, version % 100);
}

bool can_open(const std::string& path) { return sys::File::open_read(path).has_value(); }
} // namespace

std::string gpu_targets(const std::string& root) {
  constexpr std::uint64_t k_properties_bytes_max = 1u << 16; // a node has some 40 short lines
  auto nodes = sys::list_directory(path::join(root, "sys/class/kfd/kfd/topology/nodes"));
  if (!nodes || !can_open(path::join(root, "dev/kfd"))) return {};
  std::map<std::uint64_t, std::string> targets; // by the node's number: "10" comes after "9"
  for (const auto& node : *nodes) {
    auto number = text::parse_u64(node.path);
    auto properties = sys::read_file(path::join(root, "sys/class/kfd/kfd/topology/nodes/" + node.path + "/properties"),
                                     k_properties_bytes_max);
    auto version = properties ? property(*properties, "gfx_target_version") : 0; // 0: a CPU
    if (!number || version == 0) continue;
    auto render = property(*properties, "drm_render_minor");
    if (can_open(path::join(root, fmt::format("dev/dri/renderD{}", render)))) targets[*number] = target_of(version);
  }
  std::vector<std::string> found;
  for (const auto& [number, target] : targets) found.push_back(target);
  return text::join(found, " ");
}

std::map<std::string, std::string> machine_facts(const venv::Variables& variables) {
  bool gpu = sys::has_gpu_device();
  auto runner = variables.find("RUNNER_NAME");
  std::map<std::string, std::string> facts = {
      {"host", runner != variables.end() && !runner->second.empty() ? runner->second : sys::host_name()},
      {"host_class", fmt::format("{}, {} CPUs, {}", k_architecture, sys::cpu_count(), gpu ? "AMD GPU" : "no GPU")},
      {"cpu", sys::cpu_model()},
      {"memory", units::bytes(sys::memory_bytes())},
      {"kernel", sys::kernel_release()},
      {"os", sys::os_release()},
      {"gpu", gpu ? "AMD GPU driver present" : "none"},
      {"driver", driver_version()},
      {"gpu_targets", gpu_targets("/")}};
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

} // namespace quarry::trial
