"""The profilers of the ROCm SDK. `rocm_sdk` finds the files."""

from ._dist_info import __version__

__all__ = ["__version__"]
