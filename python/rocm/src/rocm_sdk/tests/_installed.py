"""What is installed here, as digests of the files themselves: whoever has the packages can tell whether it was these that were tested."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from .. import _device, _dist_info, _packages, _payload, _record
from . import _base

_CHUNK_BYTES = 1 << 20
# What installers write into a dist-info directory besides the package's own files.
_INSTALLER_FILES = {"RECORD", "RECORD.new", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}


_known: dict[tuple[int, ...], tuple[str, int]] = {}


def sha256(path: Path) -> tuple[str, int] | None:
    """Digest in hex and size of a file, through links; None if it is not there. One file under several names is read once."""
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            key = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
            if key not in _known:
                _known[key] = _digest(file)
            return _known[key]
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(file: IO[bytes]) -> tuple[str, int]:
    digest = hashlib.sha256()
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def differs(path: Path, row: _record.Row) -> bool:
    """Whether the file is another than RECORD says; a row that says nothing is right, and so is one in another spelling."""
    if not row.digest.startswith("sha256="):
        return False
    wanted = base64.urlsafe_b64decode(row.digest[7:] + "=" * (-len(row.digest[7:]) % 4)).hex()
    found = sha256(path)
    return found is not None and found[0] != wanted


def find_record(site: Path, dist: str) -> list[Path]:
    """The RECORD files of a distribution; one, if everything is in order."""
    stem = normalized(dist).replace("-", "_") + "-"
    found = site.glob("*.dist-info/RECORD")
    return [path for path in found if normalized(path.parent.name.partition("-")[0]).replace("-", "_") + "-" == stem]


def distributions() -> list[dict[str, Any]]:
    """The packages of this release, each with what tells its files from any others; docs/formats/test-report.md."""
    site = Path(__file__).resolve().parents[2]
    found = [_describe(site, "rocm", None)]
    for logical in _dist_info.ALL_PACKAGES:
        found += [_describe(package.site, package.dist, package) for package in _base.installed(logical)]
    found += [_describe_device(device) for device in _device.of_this_release(site)]
    return [each for each in found if each]


def _describe_device(device: _device.Device) -> dict[str, Any]:
    """Without the links into the development files, which its RECORD lists once they are unpacked."""
    rows = (row.path for row in _record.read(device.record) if _is_own(row, device.record))
    about = {"project": normalized(device.dist), "version": metadata.PathDistribution(device.record.parent).version}
    return {**about, "content_sha256": _content(device.site, rows)}


def others(ours: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    """What else is in the environment, by name."""
    known = {each["project"] for each in ours}
    found = {normalized(each.metadata["Name"] or ""): each.version for each in metadata.distributions()}
    return [{"project": name, "version": found[name]} for name in sorted(found) if name and name not in known]


def _describe(site: Path, dist: str, package: _packages.Package | None) -> dict[str, Any] | None:
    records = find_record(site, dist)
    if len(records) != 1:  # from a source tree, or broken: the test of its RECORD says so
        return None
    record = records[0]
    rows = [row for row in _record.read(record) if _is_own(row, record)]
    version = metadata.PathDistribution(record.parent).version
    about: dict[str, Any] = {"project": normalized(dist), "version": version}
    if package is None:  # built on this machine from its sdist, so that no wheel elsewhere has its digest
        about["files"] = [[row.path, *(sha256(site / row.path) or ("", 0))] for row in rows]
    if package is not None and package.logical == "devel":
        tops = (package.platform_name + "/", package.platform_name + ".partial/")
        payloads = {f"{package.module}/{name}" for name in _payload.PAYLOAD_NAMES}
        _describe_devel(package, rows, tops[0], payloads, about)
        rows = [row for row in rows if not row.path.startswith(tops) and row.path not in payloads]
    about["content_sha256"] = _content(site, (row.path for row in rows))
    return about


def _describe_devel(
    package: _packages.Package, rows: list[_record.Row], top: str, payloads: set[str], about: dict[str, Any]
) -> None:
    """The payload, or what it was unpacked to: its files, without those that are links to other packages."""
    payload = next((sha256(package.site / row.path) for row in rows if row.path in payloads), None)
    if payload:
        about["payload_sha256"] = payload[0]
        return
    siblings = [each.platform for logical in ("core", "libraries") for each in _base.installed(logical)]
    below = (row.path[len(top) :] for row in rows if row.path.startswith(top))
    # Each package has an __init__.py of its own at the top; any other file that a sibling has too is a link to it.
    own = sorted(path for path in below if path == "__init__.py" or not any((each / path).is_file() for each in siblings))
    about["expanded_sha256"] = _content(package.platform, own)


def _is_own(row: _record.Row, record: Path) -> bool:
    parts = row.path.split("/")
    in_info = parts[0] == record.parent.name and len(parts) == 2 and parts[1] in _INSTALLER_FILES
    return bool(row.digest) and parts[0] != ".." and "__pycache__" not in parts and not in_info


def _content(top: Path, paths: Iterable[str]) -> str:
    """One digest over `path,sha256,size` of all files, sorted by path."""
    return hashlib.sha256("".join(_lines(top, paths)).encode("utf-8", "surrogatepass")).hexdigest()


def _lines(top: Path, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths, key=lambda each: each.encode("utf-8", "surrogatepass")):  # as the bytes sort
        found = sha256(top / path)
        yield f"{path},{found[0]},{found[1]}\n" if found else f"{path},missing,\n"


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
