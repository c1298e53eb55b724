"""devel: the development files are there, every file of the other packages among them, and no link leads nowhere."""

from __future__ import annotations

import filecmp
import functools
import os
from collections.abc import Iterator
from pathlib import Path

from .. import _devel, _device, _dist_info, _packages
from . import _base, _child
from ._case import Case, Failed, Skipped

# Enough to see what kind of file is missing.
NAMES_SHOWN_MAX = 5


def cases() -> Iterator[Case]:
    if not _packages.is_installed("devel"):
        yield Case("devel.installed", _not_installed)
        return
    yield Case("devel.expand", _expand)
    for name, below in (("root", ""), ("bin", "bin"), ("cmake", "lib/cmake")):
        yield Case(f"devel.path.{name}", functools.partial(_path, name, below))
    yield Case("devel.links", _links)
    for logical in ("core", "libraries"):
        for package in _mirrored(logical):
            yield Case(f"devel.mirror.{package.platform_name}", functools.partial(_mirror, package))


def _mirrored(logical: str) -> list[_packages.Package]:
    """The packages that devel mirrors: of those that there are for several families, the one in use."""
    packages = _base.installed(logical)
    if not _packages.installed_families(logical):
        return packages
    used = _packages.libraries_family(logical)
    return [each for each in packages if each.dist_info.THIS_TARGET_FAMILY == used] or packages


def _not_installed() -> None:
    raise Skipped(f"{_dist_info.ALL_PACKAGES['devel']['dist']} is not installed")


def _expand() -> None:
    root = _devel.get_devel_root()
    if not any(root.iterdir()):
        raise Failed(f"{root} is empty")


def _path(name: str, below: str) -> None:
    root = _devel.get_devel_root()
    done = _child.command_line("path", "--" + name)
    _base.expect_success(done)
    printed = Path(done.answer.strip())
    if printed != root / below:
        raise Failed(f"{root / below} was expected, {printed} was printed")
    if name == "cmake" and not printed.is_dir():
        raise Skipped(f"no package of this release comes with CMake files: there is no {printed}")
    if not printed.is_dir():
        raise Failed(f"{printed} does not exist")


def _links() -> None:
    root = _devel.get_devel_root()
    site = os.path.realpath(root.parent)
    for directory, names, files in os.walk(root):
        for path in (os.path.join(directory, name) for name in names + files):
            if not os.path.islink(path):
                continue
            if not os.path.exists(path):
                raise Failed(f"{path} leads nowhere: {os.readlink(path)}")
            if not os.path.realpath(path).startswith(site + os.sep):
                raise Failed(f"{path} leads out of {site}")


def _mirror(package: _packages.Package) -> None:
    root = _devel.get_devel_root()
    passed_over = _device.laid_by_others(package.site)
    expected = (path for path in files_of(package.platform) if package.platform / path not in passed_over)
    wrong = [path for path in expected if not _same(package.platform / path, root / path)]
    if wrong:
        shown = ", ".join(path.as_posix() for path in wrong[:NAMES_SHOWN_MAX])
        raise Failed(f"{len(wrong)} files of {package.dist} are missing or differ in {root}: {shown}")


def files_of(top: Path) -> Iterator[Path]:
    for path in sorted(top.rglob("*")):
        passing = {"__pycache__", _device.LISTS} & set(path.parts)
        if path.is_file() and not passing and path.relative_to(top).as_posix() != "__init__.py":
            yield path.relative_to(top)


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and (os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False))
