#include "cli/compat/components.hpp"

#include "base/text.hpp"
#include <algorithm>

namespace quarry::cli::compat {

namespace {
using ComponentNames = std::vector<std::string>;

constexpr std::string_view k_base =
    "core-hipinfo_run core-runtime_run core-runtime_lib sysdeps_lib base_run base_lib amd-llvm_run amd-llvm_lib "
    "core-amdsmi_run core-amdsmi_lib core-hip_lib core-hip_dev core-ocl_lib core-ocl_dev rocprofiler-sdk_lib "
    "host-suite-sparse_lib";
constexpr std::string_view k_base_aug = "rocjitsu-hotswap_lib core-kpack_lib";
constexpr std::string_view k_debug = "amd-dbgapi rocgdb rocr-debug-agent rocr-debug-agent-tests gmp mpfr expat ncurses";
constexpr std::string_view k_cxx = "amd-llvm_dev amd-llvm_lib base_dev_generic";

void add(ComponentNames& to, std::string_view list) {
  for (auto& name : text::split_any(list, " "))
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(std::move(name));
}

bool has(const ComponentNames& flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

/// What two switches together need beyond what each of them does.
void add_for_pairs(ComponentNames& found, const ComponentNames& flags, bool tests) {
  if (has(flags, "--rocprofiler-systems") && tests) add(found, "rocprofiler-sdk_dev");
  if (has(flags, "--hipthreads") && has(flags, "--prim")) add(found, "prim_dev");
  if (has(flags, "--hipthreads") && has(flags, "--rand")) add(found, "rand_dev");
}
} // namespace

const std::vector<Component>& components() {
  constexpr bool k_aug_only = false;
  static const std::vector<Component> k_all = {
      {"--aqlprofile", "aqlprofile", "", "aqlprofile-tests"},
      {"--blas", "blas", ""},
      {"--debug-tools", k_debug, "rocgdb_run amd-llvm_dev", k_debug, "rocgdb_run"},
      {"--fft", "fft fftw3", ""},
      {"--fusilliprovider", "fusilliprovider", "", "", "", true, false},
      {"--hipblasltprovider", "hipblasltprovider", ""},
      {"--hipdnn", "hipdnn", ""},
      {"--hipdnn-integration-tests", "hipdnn-integration-tests", "hipdnn-integration-tests_run rand_lib", "", "",
       k_aug_only},
      {"--hipdnn-samples", "hipdnn-samples", ""},
      {"--hipfile", "hipfile sysdeps-util-linux", "", "", "", k_aug_only},
      {"--hipkernelprovider", "hipkernelprovider", "", "", "", k_aug_only},
      {"--hiptensor", "hiptensor", "", "", "", k_aug_only},
      {"--hipthreads", "hipthreads libhipcxx",
       "hipthreads_dev core-hip_run libhipcxx_dev amd-llvm_dev amd-llvm_lib base_dev_generic", "", "", k_aug_only},
      {"--iree-compiler", "iree-compiler", "", "", "", true, false},
      {"--kfdtest", "kfdtest", "amd-llvm_dev amd-llvm_lib", "", "", k_aug_only},
      {"--libhipcxx", "libhipcxx", k_cxx},
      {"--miopen", "miopen", "miopen_run rand_dev"},
      {"--miopenprovider", "miopenprovider", ""},
      {"--mirage", "mirage", "mirage_run", "", "", k_aug_only},
      {"--mpi", "openmpi", "openmpi_run openmpi_dev", "", "", k_aug_only},
      {"--prim", "prim", ""},
      {"--rand", "rand", ""},
      {"--rccl", "rccl", ""},
      {"--rocalution", "rocalution", "rocalution_dev", "", "", k_aug_only},
      {"--rocdecode", "sysdeps-amd-mesa rocdecode", "rocdecode_dev rocdecode_test base_dev amd-llvm_dev"},
      {"--rocjitsu", "rocjitsu", "rocjitsu_run", "", "", k_aug_only},
      {"--rocjpeg", "sysdeps-amd-mesa rocjpeg", "rocjpeg_dev rocjpeg_test base_dev amd-llvm_dev"},
      {"--rocprofiler-compute", "rocprofiler-compute", "rocprofiler-compute_run", "rocprofiler-compute"},
      {"--rocprofiler-sdk", "rocprofiler-sdk aqlprofile", "rocprofiler-sdk_run", "rocprofiler-sdk",
       "rocprofiler-sdk_run"},
      {"--rocprofiler-systems", "rocprofiler-systems", "rocprofiler-systems_run"},
      {"--rocprofiler-systems-examples", "", "rocprofiler-systems-examples_test", "", "", k_aug_only},
      {"--rocrtst", "rocrtst sysdeps-hwloc sysdeps-libpciaccess", ""},
      {"--rocshmem", "rocshmem openmpi", "rocshmem_run openmpi_run", "", "", k_aug_only},
      {"--rocwmma", "rocwmma", "rocwmma_dev"},
      {"--rpp", "rpp", "rpp_dev base_dev amd-llvm_dev", "", "", k_aug_only},
  };
  return k_all;
}

std::vector<std::string> expressions_of(const Component& component, bool tests, bool feb) {
  ComponentNames found;
  bool other = feb && (!component.feb_names.empty() || !component.feb_also.empty());
  for (const auto& name : text::split_any(other ? component.feb_names : component.names, " ")) {
    add(found, name + "_lib");
    if (tests) add(found, name + "_test");
  }
  add(found, other ? component.feb_also : component.also);
  return found;
}

std::vector<std::string> expressions(const std::vector<std::string>& flags, bool tests, bool base_only, bool feb) {
  ComponentNames found;
  if (flags.empty() && !base_only) return found;
  add(found, k_base);
  if (!feb) add(found, k_base_aug);
  if (base_only) return found;
  for (const auto& component : components())
    if (has(flags, component.flag))
      for (const auto& expression : expressions_of(component, tests, feb)) add(found, expression);
  if (!feb) add_for_pairs(found, flags, tests);
  return found;
}

} // namespace quarry::cli::compat
