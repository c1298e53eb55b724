#include "trial/machine.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include <fmt/core.h>

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
} // namespace

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
      {"driver", driver_version()}};
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

} // namespace quarry::trial
