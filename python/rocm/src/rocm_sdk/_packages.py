"""Where the packages of this release are installed."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from . import _dist_info, _families
from ._errors import PackageMissing, RocmSdkError

try:  # Written by the build backend; absent when the package runs from its source tree.
    from ._install_info import TARGET_FAMILY as _FAMILY_AT_INSTALL
except ImportError:
    _FAMILY_AT_INSTALL = ""


@dataclass(frozen=True)
class Package:
    """One installed package: the importable part and, beside it, the directory with the files of the platform."""

    logical: str
    dist: str
    module: str
    site: Path
    platform_name: str

    @property
    def pure(self) -> Path:
        return self.site / self.module

    @property
    def platform(self) -> Path:
        return self.site / self.platform_name

    @property
    def dist_info(self) -> ModuleType:
        return importlib.import_module(self.module + "._dist_info")


def locate(logical: str, family: str | None = None) -> Package:
    """The installed package `logical` ("core", "libraries", "devel"). Raises PackageMissing.

    `family` chooses among packages that exist once per family; without it libraries_family() does.
    """
    entry = entry_of(logical)
    if "{family}" in entry["dist"] and family is None:
        family = libraries_family(logical)
    package = _find(logical, family)
    if package is None:
        raise _missing(logical, family)
    return package


def is_installed(logical: str, family: str | None = None) -> bool:
    """Without a family: whether it is installed for any."""
    if "{family}" in entry_of(logical)["dist"] and family is None:
        return bool(installed_families(logical))
    return _find(logical, family) is not None


def installed_families(logical: str = "libraries") -> list[str]:
    """The families for which `logical` is installed; none for a package that is the same for all."""
    entry = _dist_info.ALL_PACKAGES.get(logical)
    if entry is None or "{family}" not in entry["dist"]:
        return []
    return [family for family in _dist_info.AVAILABLE_TARGET_FAMILIES if _find(logical, family)]


def _find(logical: str, family: str | None) -> Package | None:
    dist, module, platform_name = names(entry_of(logical), family)
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:  # no origin: a directory that an uninstallation left behind
        return None
    return Package(logical, dist, module, Path(spec.origin).resolve().parent.parent, platform_name)


def entry_of(logical: str) -> dict[str, Any]:
    try:
        return _dist_info.ALL_PACKAGES[logical]
    except KeyError:
        known = ", ".join(_dist_info.ALL_PACKAGES)
        raise RocmSdkError(f"this release has no package {logical!r}; it has {known}") from None


def names(entry: dict[str, Any], family: str | None) -> tuple[str, str, str]:
    """Distribution, importable package and platform directory of an entry for a family."""
    plain = family or ""
    identifier = plain.replace("-", "_")
    platform_name = entry["platform"].format(family=identifier) + _dist_info.PY_PACKAGE_SUFFIX_NONCE
    return entry["dist"].format(family=plain), entry["pure"].format(family=identifier), platform_name


def libraries_family(logical: str = "libraries") -> str:
    """The family whose libraries this process uses.

    What the environment names; else the only family installed; else, of several, what resolve() says for this machine.
    """
    if not os.environ.get(_families.FAMILY_VARIABLE, "").strip():
        installed = installed_families(logical)
        if len(installed) == 1:
            return installed[0]
    return resolved_family()


def resolved_family() -> str:
    """The family for this machine: environment, GPUs found, what was resolved at installation, the release's default."""
    return _families.resolve(_dist_info, os.environ, detected_targets, _FAMILY_AT_INSTALL or None)


@functools.cache
def detected_targets() -> list[str]:
    """The GPUs of this machine; asked once per process."""
    return _families.detect_targets()


def _missing(logical: str, family: str | None) -> PackageMissing:
    entry, version = entry_of(logical), _dist_info.__version__
    dist, module, _ = names(entry, family)
    wanted = f"{dist}=={version}" if entry["required"] else f'"rocm[{logical}]=={version}"'
    others = installed_families(logical)
    beside = f" (installed: {', '.join(others)})" if others else ""
    return PackageMissing(f"the package {dist} {version} is not installed{beside}", f"pip install {wanted}", module)
