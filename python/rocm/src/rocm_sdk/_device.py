"""Device code in the development files.

A package of device code (`rocm-sdk-device-gfx942`) lays its files into the libraries' directory and lists them in
`.devel_links/gfx942.json`. Development files that are unpacked get each as a hard link, whenever such a package came: before they
were unpacked or after. Promises, whenever the process is killed:

- RECORD of the device package lists each link before it exists, so that its uninstallation removes it, in any order of packages.
- A link that is there is left alone; one that is missing is made again at the next call.
- The file `.rocm-sdk-device-gfx942`, which the package has right in the libraries' directory, is linked as well: pip removes a
  directory with the last package that has a file right in it, so none stays behind, empty, whatever is uninstalled first.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import _dist_info, _lock, _payload, _record
from ._errors import RocmSdkError
from ._record import Row

LISTS = ".devel_links"


@dataclass(frozen=True)
class Device:
    """An installed package of device code."""

    dist: str
    version: str
    record: Path

    @property
    def site(self) -> Path:
        return self.record.parent.parent

    @property
    def target(self) -> str:
        before, _, after = _dist_info.DEVICE_PACKAGE.partition("{family}")
        return self.dist.removeprefix(before).removesuffix(after)


def installed(site: Path) -> list[Device]:
    """The packages of device code in this directory, of whatever version, sorted."""
    pattern = getattr(_dist_info, "DEVICE_PACKAGE", "")
    if not pattern:
        return []
    stem = pattern.format(family="*").replace("-", "_")
    found = []
    for record in sorted(site.glob(f"{stem}-*.dist-info/RECORD")):
        name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
        found.append(Device(name.replace("_", "-"), version, record))
    return found


def of_this_release(site: Path) -> list[Device]:
    return [device for device in installed(site) if _release(device.version) == _release(_dist_info.__version__)]


def others(site: Path) -> list[Device]:
    """Those of another release: their files were not made for these libraries."""
    return [device for device in installed(site) if _release(device.version) != _release(_dist_info.__version__)]


def laid_by_others(site: Path) -> set[Path]:
    """What those of another release lay into the libraries: it says nothing about the libraries of this one."""
    return {site / row.path for device in others(site) for row in _record.read(device.record)}


def of_unknown_targets(site: Path) -> list[Device]:
    """Those of this release for a GPU target that it was not built for: another build of the same version made them."""
    known = {each.lower().replace("_", "-") for each in _dist_info.AVAILABLE_TARGET_FAMILIES}
    return [device for device in of_this_release(site) if device.target not in known]


def _release(version: str) -> str:
    """Without the number of a post-release: it repairs a package, and what it was built from is the same."""
    return re.sub(r"\.post\d+", "", version, count=1)


def reconcile(root: Path, hard_link: Callable[[Path, Path], None]) -> list[str]:
    """Links into the unpacked development files at `root` whatever device code is installed and is not there yet.

    Returns sentences about packages that were passed over, about those for targets that this release was not built for, when
    they are linked, and about a directory that cannot be written to: the files that are
    unpacked can be used then. Raises OSError when a link cannot be made for another reason, RocmSdkError for a list that must not be
    followed.
    """
    sentences = []
    unknown = of_unknown_targets(root.parent)
    for device in of_this_release(root.parent):
        pending = _pending(device, root)
        if not pending:
            continue
        if device in unknown:
            built_for = ", ".join(_dist_info.AVAILABLE_TARGET_FAMILIES)
            sentences.append(f"{device.dist} is of another build: rocm {_dist_info.__version__} was built for {built_for}")
        try:
            with _lock.exclusive(device.record.with_name("METADATA")):
                _link(device, root, hard_link)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            sentences.append(f"the device code of {device.dist} is not linked into {root}, which cannot be written to: {error}")
    return sentences + [
        f"{device.dist} {device.version} is passed over: this SDK is {_dist_info.__version__}" for device in others(root.parent)
    ]


def files(device: Device) -> Iterator[tuple[str, Path]]:
    """Path below the development files, and the file that belongs there."""
    for row in _record.read(device.record):
        directory, name = os.path.split(row.path)
        if name == f".{device.dist}" and "/" not in directory:
            yield name, device.site / row.path
        if os.path.basename(directory) != LISTS or not name.endswith(".json"):
            continue
        top = device.site / os.path.dirname(directory)
        for path in _listed(device, device.site / row.path):
            yield path, top / path


def _listed(device: Device, file: Path) -> list[str]:
    try:
        links = json.loads(file.read_text(encoding="utf-8"))["links"]
        paths = [each["relpath"] for each in links]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        raise RocmSdkError(f"{file} is damaged", _reinstall(device)) from None
    for path in paths:
        if not isinstance(path, str) or not _payload.is_safe(path):
            raise RocmSdkError(f"{file} names {path!r}, which may lead out of the development files", _reinstall(device))
    return paths


def _reinstall(device: Device) -> str:
    return f"pip install --force-reinstall --no-deps {device.dist}=={device.version}"


def _pending(device: Device, root: Path) -> list[tuple[str, Path]]:
    """The files whose links are not there, or not in RECORD."""
    rows = {row.path for row in _record.read(device.record)}
    return [
        (path, source)
        for path, source in files(device)
        if source.is_file() and not (f"{root.name}/{path}" in rows and _is_there(source, root / path))
    ]


def _is_there(source: Path, path: Path) -> bool:
    """A hard link, or where there are none a copy, which keeps size and time."""
    if path.is_symlink() or not path.is_file():
        return False
    one, other = source.stat(), path.stat()
    return os.path.samestat(one, other) or (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _link(device: Device, root: Path, hard_link: Callable[[Path, Path], None]) -> None:
    pending = _pending(device, root)  # another process may have done it
    rows = _record.read(device.record)
    known = {row.path for row in rows}
    of_devel = _rows_of_devel(root) - known
    for path, _ in pending:
        _refuse_replacing(device, root, path, of_devel)
    added = [Row(f"{root.name}/{path}") for path, _ in pending if f"{root.name}/{path}" not in known]
    if added:
        _record.announce_temporary(device.record)
        _record.replace(device.record, rows + added)
    for path, source in pending:
        target = root / path
        if _is_there(source, target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink() or target.exists():
            target.unlink()
        hard_link(source, target)


def _refuse_replacing(device: Device, root: Path, path: str, of_devel: set[str]) -> None:
    """A directory, or a file that this package did not bring, is left as it is."""
    target = root / path
    if target.is_dir() and not target.is_symlink():
        raise RocmSdkError(f"{device.dist} has the file {path}, and {target} is a directory", _reinstall(device))
    if f"{root.name}/{path}" in of_devel:
        raise RocmSdkError(f"{device.dist} has the file {path}, and {target} belongs to the development files", _reinstall(device))


def _rows_of_devel(root: Path) -> set[str]:
    found: set[str] = set()
    for record in root.parent.glob("rocm_sdk_devel-*.dist-info/RECORD"):
        found |= {row.path for row in _record.read(record)}
    return found


def warn(sentences: list[str]) -> None:
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)
