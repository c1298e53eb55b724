"""uninstall: RECORD of each package lists every file that is there, and every file that it lists is there, unaltered."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from .. import _devel, _device, _dist_info, _packages, _record
from . import _base, _installed
from ._case import Case, Failed

NAMES_SHOWN_MAX = 5


def cases() -> Iterator[Case]:
    site = Path(__file__).resolve().parents[2]
    if any(site.glob("rocm-*.dist-info")):  # not when it runs from its source tree
        yield Case("uninstall.rocm", functools.partial(_complete, site, "rocm", ["rocm_sdk"]))
    for logical in _dist_info.ALL_PACKAGES:
        for package in _base.installed(logical):
            yield Case(f"uninstall.{package.dist}", functools.partial(_package, package))
    for device in _device.of_this_release(site):
        yield Case(f"uninstall.{device.dist}", functools.partial(_complete, site, device.dist, []))


def _package(package: _packages.Package) -> None:
    if package.logical == "devel":
        _devel.get_devel_root()
    _complete(package.site, package.dist, [package.module, package.platform_name])


def _complete(site: Path, dist: str, tops: list[str]) -> None:
    rows = {path: row for path, row in _rows(site, dist).items() if "__pycache__" not in path}  # those Python may renew
    laid_in = {row.path for device in _device.installed(site) for row in _record.read(device.record)}
    unlisted = sorted(path for top in tops for path in _present(site, top) if path not in rows and path not in laid_in)
    if unlisted:
        raise Failed(f"{len(unlisted)} files would stay behind: {_some(unlisted)}")
    gone = sorted(path for path, row in rows.items() if row.digest and not os.path.lexists(site / path))
    if gone:
        raise Failed(f"{len(gone)} files are gone: {_some(gone)}")
    changed = sorted(path for path, row in rows.items() if row.size and _size(site / path) != int(row.size))
    if changed:
        raise Failed(f"{len(changed)} files have another size than when they were installed: {_some(changed)}")
    altered = sorted(path for path, row in rows.items() if _installed.differs(site / path, row))
    if altered:
        raise Failed(f"{len(altered)} files are not what was installed: {_some(altered)}")


def _rows(site: Path, dist: str) -> dict[str, _record.Row]:
    found = _installed.find_record(site, dist)
    if len(found) != 1:
        raise Failed(f"{len(found)} RECORD files of {dist} are in {site}, one was expected")
    return {row.path: row for row in _record.read(found[0])}


def _present(site: Path, top: str) -> Iterator[str]:
    """Files, links and nothing that Python writes itself, relative to site-packages."""
    for directory, names, files in os.walk(site / top):
        links = [name for name in names if os.path.islink(os.path.join(directory, name))]
        if os.path.basename(directory) != "__pycache__":
            yield from (Path(directory, name).relative_to(site).as_posix() for name in files + links)


def _size(path: Path) -> int:
    return path.lstat().st_size


def _some(paths: list[str]) -> str:
    return ", ".join(paths[:NAMES_SHOWN_MAX]) + (", ..." if len(paths) > NAMES_SHOWN_MAX else "")
