"""The development files of the ROCm SDK. `rocm_sdk` finds them, and unpacks them at first use."""

from ._dist_info import __version__

__all__ = ["__version__"]
