"""The run-time part of the ROCm SDK. The files are in the platform directory beside this package; `rocm_sdk` finds them."""

from ._dist_info import __version__

__all__ = ["__version__"]
