"""The libraries that can be asked for by a short name. Data: one row per library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    package: str  # logical name of the package that holds it
    so: str  # pattern of the file name on Linux, empty: not on Linux
    dll: str = ""  # pattern of the file name on Windows, empty: not on Windows
    directory: str = "lib"  # below the platform directory, on Linux; on Windows it is always `bin`
    optional: bool = False  # a release may come without it; preloading then passes it over


WINDOWS_DIRECTORY = "bin"

LIBRARIES: dict[str, Library] = {
    # core
    "amd_comgr": Library("core", "libamd_comgr.so*", "amd_comgr*.dll"),
    "amdhip64": Library("core", "libamdhip64.so*", "amdhip64*.dll"),
    "hiprtc": Library("core", "libhiprtc.so*", "hiprtc0*.dll"),  # the 0 keeps hiprtc-builtins out
    "roctx64": Library("core", "libroctx64.so*"),
    "roctracer64": Library("core", "libroctracer64.so*"),
    "rocprofiler-sdk-roctx": Library("core", "librocprofiler-sdk-roctx.so*"),
    "rocm-openblas": Library("core", "librocm-openblas.so*", "rocm-openblas*.dll", "lib/host-math/lib"),
    "rocm_sysdeps_liblzma": Library("core", "librocm_sysdeps_liblzma.so.*", "", "lib/rocm_sysdeps/lib"),
    "amd_smi": Library("core", "libamd_smi.so*", optional=True),
    "hipfile": Library("core", "libhipfile.so*", optional=True),
    "rocdecode": Library("core", "librocdecode.so*", optional=True),
    "rocdxg": Library("core", "librocdxg*.so*", optional=True),
    "rocjpeg": Library("core", "librocjpeg.so*", optional=True),
    "rocm_kpack": Library("core", "librocm_kpack.so*", "rocm_kpack*.dll", optional=True),
    "rocm_smi64": Library("core", "librocm_smi64.so*", optional=True),
    "rocprofiler-sdk": Library("core", "librocprofiler-sdk.so*", optional=True),
    # libraries
    "hipblas": Library("libraries", "libhipblas.so*", "*hipblas*.dll"),
    "hipblaslt": Library("libraries", "libhipblaslt.so*", "*hipblaslt*.dll"),
    "hipfft": Library("libraries", "libhipfft.so*", "hipfft*.dll"),
    "hiprand": Library("libraries", "libhiprand.so*", "hiprand*.dll"),
    "hipsolver": Library("libraries", "libhipsolver.so*", "hipsolver*.dll"),
    "hipsparse": Library("libraries", "libhipsparse.so*", "hipsparse*.dll"),
    "hipsparselt": Library("libraries", "libhipsparselt.so*"),
    "miopen": Library("libraries", "libMIOpen.so*", "MIOpen*.dll"),
    "rccl": Library("libraries", "librccl.so*"),
    "hipdnn": Library("libraries", "libhipdnn_backend.so*", "hipdnn_backend*.dll", optional=True),
    "origami": Library("libraries", "liborigami.so*", "origami*.dll", optional=True),
    "rpp": Library("libraries", "librpp.so*", optional=True),
}
