"""Finding and loading the SDK's libraries in this process."""

from __future__ import annotations

import ctypes
import difflib
import fnmatch
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from . import _dist_info, _packages
from ._errors import RocmSdkError
from ._registry import LIBRARIES, WINDOWS_DIRECTORY, Library

PRELOAD_VARIABLE = "ROCM_SDK_PRELOAD_LIBRARIES"

# Kept for the life of the process: what is loaded stays loaded, and a directory stays on the search path (Windows).
_loaded: dict[Path, ctypes.CDLL] = {}
_search_directories: dict[Path, object] = {}


class LibraryMissing(RocmSdkError, FileNotFoundError):
    """The package is installed, the library is not in it."""

    def __str__(self) -> str:
        return str(self.args[0])


def find_libraries(*shortnames: str) -> list[Path]:
    """The path of each library, in the order asked for.

    Raises ModuleNotFoundError for an unknown name and for a library whose package is not installed (naming the package and
    the command that installs it), FileNotFoundError for one that its package does not hold.
    """
    return [_find(name) for name in shortnames]


def preload_libraries(*shortnames: str) -> None:
    """Loads each library for the whole process, in the order given. Raises as find_libraries(), and OSError if loading fails.

    A library that a release may come without is passed over where it is absent.
    """
    for name in shortnames:
        try:
            path = _find(name)
        except LibraryMissing:
            if LIBRARIES[name].optional:
                continue
            raise
        _load(path)


def initialize_process(
    preload_shortnames: Iterable[str] | None = None,
    check_version: str | None = None,
    fail_on_version_mismatch: bool = False,
) -> None:
    """Makes this process ready for the SDK; frameworks call it before they load anything of their own.

    check_version: the exact version or a pattern such as "7.2.*" that the SDK must have; a mismatch is a warning, or with
    `fail_on_version_mismatch` a RocmSdkError. Then loads `preload_shortnames` and after them the libraries that the
    environment variable ROCM_SDK_PRELOAD_LIBRARIES names (separated by commas or semicolons).
    """
    if check_version is not None:
        _check_version(check_version, fail_on_version_mismatch)
    names = list(preload_shortnames or ()) + names_in(os.environ.get(PRELOAD_VARIABLE, ""))
    preload_libraries(*dict.fromkeys(names))


def names_in(text: str) -> list[str]:
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


def candidates(library: Library, package: _packages.Package) -> list[Path]:
    """The files of `package` that the library's pattern matches, sorted; the first one is the library."""
    windows = sys.platform == "win32"
    pattern = library.dll if windows else library.so
    directory = package.platform / (WINDOWS_DIRECTORY if windows else library.directory)
    return sorted(directory.glob(pattern)) if pattern else []


def dll_directories(path: Path) -> list[Path]:
    """Where Windows must look for what the DLL at `path` needs: beside it, and in core. Empty on other systems."""
    if sys.platform != "win32":
        return []  # its run path says it
    directories = [path.parent]
    if _packages.is_installed("core"):
        directories.append(_packages.locate("core").platform / WINDOWS_DIRECTORY)
    return [each for each in dict.fromkeys(directories) if each.is_dir()]


def _find(name: str) -> Path:
    library = LIBRARIES.get(name)
    if library is None:
        near = difflib.get_close_matches(name, LIBRARIES, n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(LIBRARIES))}"
        raise ModuleNotFoundError(f"no ROCm library is called {name!r}; {advice}", name=name)
    package = _packages.locate(library.package)
    found = candidates(library, package)
    if not found:
        raise LibraryMissing(f"the ROCm library {name!r} is not in {package.dist} {_dist_info.__version__} ({package.platform})")
    return found[0]


def _load(path: Path) -> None:
    if path in _loaded:
        return
    for directory in dll_directories(path):
        if directory not in _search_directories:
            _search_directories[directory] = os.add_dll_directory(str(directory))
    _loaded[path] = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def _check_version(wanted: str, fail: bool) -> None:
    actual = _dist_info.__version__
    if actual == wanted or fnmatch.fnmatchcase(actual, wanted):
        return
    message = f"ROCm SDK {actual} is installed, {wanted} was asked for"
    if fail:
        raise RocmSdkError(message, f'pip install "rocm=={wanted}"')
    warnings.warn(message, RuntimeWarning, stacklevel=3)
