"""The development files of the ROCm SDK, unpacked at first use by `rocm-sdk init` or `rocm-sdk path`. `rocm_sdk` finds the files."""

from ._dist_info import __version__

__all__ = ["__version__"]
