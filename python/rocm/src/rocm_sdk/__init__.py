"""The ROCm SDK in a Python environment: find its libraries, load them, check its version.

    import rocm_sdk
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hipblas"], check_version="7.2.*")

The command `rocm-sdk` (also `python -m rocm_sdk`) shows paths and runs the packaged tests.
"""

from ._dist_info import __version__
from ._errors import RocmSdkError
from ._process import find_libraries, initialize_process, preload_libraries

__all__ = ["RocmSdkError", "__version__", "find_libraries", "initialize_process", "preload_libraries"]
