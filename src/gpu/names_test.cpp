#include "gpu/names.hpp"

#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {

struct Case {
  std::string_view path, target, maker, unit;
};

TEST(Names, PathsWithATarget) {
  for (auto [path, target, maker, unit] : {
           Case{"lib/rocblas/library/TensileLibrary_Type_HH_Contraction_l_Alik_Bljk_Cijk_Dijk_fallback_gfx1030.hsaco",
                "gfx1030", "Tensile", "lib/rocblas/library/*"},
           Case{"lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+", "Tensile",
                "lib/rocblas/library/*"},
           Case{"lib/hipblaslt/library/gfx942/TensileManifest.txt", "gfx942", "Tensile", "lib/hipblaslt/library/*"},
           Case{"hipsparselt/library/Kernels.so-000-gfx11-generic.co", "gfx11-generic", "Tensile",
                "hipsparselt/library/*"},
           Case{"x.whl!a/rocblas/library/T_gfx9-4-generic.dat", "gfx9-4-generic", "Tensile",
                "x.whl!a/rocblas/library/*"},
           Case{"share/miopen/db/gfx90878.HIP.fdb.txt", "gfx908", "MIOpen", "share/miopen/db/*"},
           Case{"share/miopen/db/gfx1030_36.db.txt", "gfx1030", "MIOpen", "share/miopen/db/*"},
           Case{"share/miopen/db/gfx942130.db.txt", "gfx942", "MIOpen", "share/miopen/db/*"},
           Case{"lib/libMIOpenCKGroupedConv_gfx950.so", "gfx950", "MIOpen", "lib/libMIOpenCKGroupedConv_*.so"},
           Case{"lib/libdevice_conv_operations_gfx950_xnackp.a", "gfx950:xnack+", "CK",
                "lib/libdevice_conv_operations_*.a"},
           Case{"lib/device_conv_operations_gfx90a_sramecc__xnack_.lib", "gfx90a:sramecc-:xnack-", "CK",
                "lib/device_conv_operations_*.lib"},
           Case{"torch/lib/aotriton.images/amd-gfx11xx/flash/attn_fwd/k.aks2", "gfx11xx", "AOTriton",
                "torch/lib/aotriton.images/amd-*"},
           Case{"aotriton.images/amd-gfx90a_mod0/flash/k.aks2", "gfx90a", "AOTriton", "aotriton.images/amd-*_mod0"},
           Case{"lib/hipdnn_plugins/engines/arch_content/rocke/gfx942/k.bin", "gfx942", "hipDNN",
                "lib/hipdnn_plugins/engines/arch_content/rocke/*"},
           Case{".kpack/blas_lib_gfx1100.kpack", "gfx1100", "kpack", ".kpack/blas_lib_*.kpack"},
       }) {
    auto found = target_of_path(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->target.str(), target) << path;
    EXPECT_EQ(found->maker, maker) << path;
    EXPECT_EQ(found->unit, unit) << path;
  }
}

TEST(Names, WhichFilesHoldKernels) {
  for (std::string_view path : {"aotriton.images/amd-gfx90a/flash/k.aks2", "share/miopen/db/gfx942.kdb"})
    EXPECT_EQ(target_of_path(path)->kernels, Kernels::unread) << path;
  for (std::string_view path :
       {"lib/rocblas/library/K_gfx942.co", "lib/rocblas/library/K_gfx942.hsaco", ".kpack/blas_lib_gfx942.kpack",
        "lib/libMIOpenCKConv_gfx942.so", "lib/libMIOpenCKConv_gfx942.so.1", "lib/libdevice_conv_operations_gfx942.a"})
    EXPECT_EQ(target_of_path(path)->kernels, Kernels::read) << path;
  for (std::string_view path : {"lib/rocblas/library/T_gfx942.dat", "share/miopen/db/gfx942130.db.txt",
                                "share/miopen/db/gfx942.tn.model", "lib/hipblaslt/library/gfx942/TensileManifest.txt",
                                "lib/hipblaslt/library/gfx942/README", "aotriton.images/amd-gfx942/__signature__"})
    EXPECT_EQ(target_of_path(path)->kernels, Kernels::none) << path;
}

TEST(Names, PathsThatServeAllTargets) {
  for (std::string_view path :
       {"", "gfx942", "lib/libx_gfx942.so", "lib/rocblas/library/TensileLibrary_fallback.dat",
        "lib/rocblas/library/README_gfx942.txt", "share/miopen/db/gfx5.db.txt", "share/miopen/db/readme_gfx942.html",
        "lib/libMIOpenCKgfx.so", "lib/libMIOpenCKgfx942.so", "lib/libdevice_conv_operations.a",
        "aotriton.images/amd-gfx/x", "myaotriton.images/amd-gfx942/x", ".kpack/blas_lib_gfx94X-dcgpu.kpack",
        "lib/rocblas/library/gfx/x.txt", "aotriton.images/amd-gfx942", "aotriton.images/amd-gfx942_mod/x",
        "aotriton.images/amd-gfx942_x0/x"})
    EXPECT_FALSE(target_of_path(path)) << path;
}

} // namespace
} // namespace quarry::gpu
