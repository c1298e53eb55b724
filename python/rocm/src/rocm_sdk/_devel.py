"""Unpacking the development files.

Wheels cannot carry links, and as copies the files would fill the disk twice. So `rocm-sdk-devel` carries a tar of a link
farm over its sibling packages, unpacked at first use. Promises, whenever the process is killed and by whatever:

- The presence of the tar means "not, or not completely, unpacked"; the next call starts over and completes.
- The tree appears under its name complete, by one rename.
- RECORD lists every file and link before it exists, so that uninstalling removes everything at any moment.

The steps are in _expand(), in the order that makes this true. One process at a time does them; others wait and find it done.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import shutil
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

from . import _device, _dist_info, _lock, _packages, _payload, _record
from ._errors import PackageMissing, RocmSdkError
from ._record import Row

# Launchers that must run in the package which holds the compiler stay symbolic links on Linux.
KEPT_AS_LINKS = "bin/amd*"
# Where hard links are refused, a copy does: another file system, a foreign owner's file, too many links, no such thing.
_NO_HARD_LINK = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
# Without long paths a directory of Windows may have 247 characters, a file 259; one that is refused has at least that many.
_WINDOWS_LONG = 248
_CHUNK_BYTES = 1 << 20


@dataclass
class Expansion:
    """The development files in place. left_out: links of the payload that lead nowhere; known when they were just unpacked."""

    root: Path
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Where the parts of the installed devel package are."""

    package: _packages.Package
    record: Path

    @property
    def root(self) -> Path:
        return self.package.platform

    @property
    def partial(self) -> Path:
        return self.root.with_name(self.root.name + ".partial")


def get_devel_root() -> Path:
    """The top of the development files, unpacked first if need be. Raises as ensure_expanded()."""
    return ensure_expanded().root


def ensure_expanded() -> Expansion:
    """Unpacks the development files unless that is done, and links the device code that is installed into them.

    Safe to call from many processes at once.

    Raises PackageMissing without the devel package or one that it links to, RocmSdkError if site-packages is read-only or
    full or the payload is damaged; then nothing has changed.
    """
    place = _place()
    try:
        expansion = _unpacked(place)
        _device.warn(_device.reconcile(place.root, _hard_link))
        return expansion
    except OSError as error:
        _explain(place, error)


def _unpacked(place: Place) -> Expansion:
    if _payload.find(place.package.pure) is None:
        return _expanded(place)
    with _lock.exclusive(_lock_file(place)):
        payload = _payload.find(place.package.pure)
        if payload:
            return _expand(place, payload)
        _finish(place)
        return Expansion(place.root)


def _place() -> Place:
    package = _packages.locate("devel")
    version = _dist_info.__version__
    own = package.dist_info.__version__
    if own != version:
        hint = f'pip install "rocm[devel]=={version}"'
        raise RocmSdkError(f"rocm is {version}, but {package.dist} is {own}: they must be of one release", hint)
    stem = package.dist.replace("-", "_")
    found = sorted(package.site.glob(f"{stem}-*.dist-info/RECORD"))
    if len(found) != 1:
        raise RocmSdkError(
            f"{package.site} has {len(found)} RECORD files of {package.dist}, and must have one", _reinstall(package)
        )
    return Place(package, found[0])


def _expanded(place: Place) -> Expansion:
    """Nothing is left to unpack. Completes the last step if a process was killed just before it."""
    if not place.root.is_dir():
        raise RocmSdkError(f"{place.root} is missing, and there is nothing to unpack it from", _reinstall(place.package))
    if b"/_devel.tar" in place.record.read_bytes() and os.access(place.record.parent, os.W_OK):
        with _lock.exclusive(_lock_file(place)):
            _finish(place)
    return Expansion(place.root)


def _lock_file(place: Place) -> Path:
    """A file beside RECORD that is there as long as the package is, and that nobody writes or replaces."""
    return place.record.with_name("METADATA")


def _reinstall(package: _packages.Package) -> str:
    return f"pip install --force-reinstall --no-deps {package.dist}=={_dist_info.__version__}"


# --- the steps -------------------------------------------------------------------------------------------------------------------


def _expand(place: Place, payload: Path) -> Expansion:
    _check_writable(place)
    rows = _record.read(place.record)
    _check_payload(place, payload, rows)
    with _payload.opened(payload) as tar:
        plan = _for_used_families(_payload.plan(tar, place.root.name))
        _check_siblings(place, plan)
        _check_space(place, plan)
        base = _base_rows(place, rows)
        _record.announce_temporary(place.record)
        try:
            _remove_tree(place.partial)
            _record.replace(place.record, base + _planned_rows(place, plan))
            created, left_out = _unpack(place, tar, plan)
            _remove_tree(place.root)
        except BaseException:
            _withdraw(place, rows=base)
            raise
        os.rename(place.partial, place.root)
    _record.replace(place.record, base + created + [_temporary_row(place)])
    payload.unlink()
    _finish(place)
    return Expansion(place.root, left_out)


def _finish(place: Place) -> None:
    """Drops the rows of what is no longer there: the payload and RECORD's own temporary file."""
    stale = _stale_rows(place)
    if stale:
        _record.replace(place.record, [row for row in _record.read(place.record) if row.path not in stale])


def _stale_rows(place: Place) -> set[str]:
    module = place.package.module
    passing = {f"{module}/{name}" for name in _payload.PAYLOAD_NAMES} | {_temporary_row(place).path}
    return {row.path for row in _record.read(place.record) if row.path in passing}


def _withdraw(place: Place, rows: list[Row]) -> None:
    """After an error: everything as it was. What fails here is listed in RECORD still, and the next call removes it."""
    try:
        _remove_tree(place.partial)
        _record.replace(place.record, rows)
    except OSError:
        pass


def _base_rows(place: Place, rows: Iterable[Row]) -> list[Row]:
    """The rows without those that unpacking adds, whether an earlier try got as far as that or not."""
    added = (f"{place.root.name}/", f"{place.partial.name}/")
    return [row for row in rows if not row.path.startswith(added) and row != _temporary_row(place)]


def _planned_rows(place: Place, plan: _payload.Plan) -> list[Row]:
    """Everything under both names that it will have, and the temporary file of RECORD."""
    tops = (place.partial.name, place.root.name)
    rows = [Row(f"{top}/{path}") for top in tops for path in plan.paths()]
    return rows + [_temporary_row(place)]


def _temporary_row(place: Place) -> Row:
    return Row(_site_path(place, _record.temporary(place.record)))


def _site_path(place: Place, path: Path) -> str:
    return path.relative_to(place.package.site).as_posix()


# --- checks before anything changes ----------------------------------------------------------------------------------------------


def _check_writable(place: Place) -> None:
    for path in (place.package.site, place.package.pure, place.record.parent, place.record):
        if not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _check_payload(place: Place, payload: Path, rows: Iterable[Row]) -> None:
    """Installers do not compare files with RECORD, and a truncated tar would unpack without an error."""
    stated = next((row.digest for row in rows if row.path == _site_path(place, payload)), "")
    if not stated.startswith("sha256="):
        return
    digest = hashlib.sha256()
    with payload.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    if _row_digest(digest) != stated:
        raise _payload.PayloadError(f"{payload} is damaged: its sha256 is not the one in RECORD", _reinstall(place.package))


def _for_used_families(plan: _payload.Plan) -> _payload.Plan:
    """A payload is made over the libraries of one family; here it leads into those that this environment uses."""
    for logical, entry in _dist_info.ALL_PACKAGES.items():
        installed = _packages.installed_families(logical)
        if not installed:
            continue
        used = _packages.libraries_family(logical)
        tops = (_packages.names(entry, family)[2] for family in _dist_info.AVAILABLE_TARGET_FAMILIES if family != used)
        made_for = next((top for top in tops if plan.leads_into(top)), None)
        if made_for and used in installed:
            package = _packages.locate(logical, used)
            plan = plan.with_other_sibling(made_for, package.platform_name, _files_below(package.platform))
    return plan


def _files_below(top: Path) -> list[str]:
    found = (path.relative_to(top) for path in top.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.suffix != ".pyc")


def _check_siblings(place: Place, plan: _payload.Plan) -> None:
    missing = [target for _, _, target in plan.sibling_links if not (place.package.site / target).exists()]
    if not missing:
        return
    top = missing[0].split("/")[0]
    version = _dist_info.__version__
    if (place.package.site / top).exists():
        text = f"{len(missing)} files are missing in {place.package.site}, the first is {missing[0]}"
        raise RocmSdkError(text, f'pip install --force-reinstall "rocm[libraries,devel]=={version}"')
    extras = "libraries,devel" if "libraries" in top else "devel"
    text = f"the development files need {top}, which is not installed in {place.package.site}"
    raise PackageMissing(text, f'pip install "rocm[{extras}]=={version}"', top)


def _check_space(place: Place, plan: _payload.Plan) -> None:
    free = shutil.disk_usage(place.package.site).free
    if plan.bytes() > free:
        raise OSError(errno.ENOSPC, f"{plan.bytes()} bytes are needed, {free} are free", str(place.package.site))


# --- unpacking -------------------------------------------------------------------------------------------------------------------


def _unpack(place: Place, tar: tarfile.TarFile, plan: _payload.Plan) -> tuple[list[Row], list[str]]:
    """Creates everything below the partial directory. Returns the rows under the final name, and the links left out."""
    top = place.partial
    top.mkdir()
    stated = _sibling_rows(place)
    rows: list[Row] = []
    for path, member in plan.files:
        rows.append(Row(path, *_write_file(top / path, tar, member)))
    for path, text, target in plan.sibling_links:
        rows.append(_place_sibling(place, top / path, path, text, target, stated))
    for path in plan.directories:
        (top / path).mkdir(parents=True, exist_ok=True)
    placed, left_out = _place_links(top, plan.own_links)
    rows += [Row(path) for path in placed]
    return [row._replace(path=f"{place.root.name}/{row.path}") for row in sorted(rows)], left_out


def _write_file(path: Path, tar: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[str, str]:
    """Writes one file; returns digest and size as RECORD says them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None
    digest = hashlib.sha256()
    mode = 0o777 if member.mode & 0o111 else 0o666  # the umask applies, as for every file that an installer writes
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as target:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            target.write(chunk)
        if target.tell() != member.size:
            raise _payload.PayloadError(f"{member.name} is cut short in the payload of {path.parent}")
    return _row_digest(digest), str(member.size)


def _place_sibling(place: Place, path: Path, relative: str, text: str, target: str, stated: dict[str, Row]) -> Row:
    """A file of a sibling package becomes a hard link to it: a program that asks where it is must be told "in devel"."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = place.package.site / target
    if source.is_dir() or _stays_a_link(relative):
        _link(path, text)
        return Row(relative)
    _hard_link(source, path)
    return stated.get(target, Row(relative))._replace(path=relative)


def _stays_a_link(path: str) -> bool:
    return sys.platform != "win32" and fnmatchcase(path, KEPT_AS_LINKS) and path.count("/") == KEPT_AS_LINKS.count("/")


def _place_links(top: Path, links: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Links inside the tree, each once its target exists: pip does not remove a link that leads nowhere."""
    waiting = dict(links)
    for path in waiting:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
    placed: list[str] = []
    while ready := [path for path, text in waiting.items() if (top / path).parent.joinpath(text).exists()]:
        for path in ready:
            _link(top / path, waiting.pop(path))
        placed += ready
    return placed, sorted(waiting)


def _link(path: Path, text: str) -> None:
    target = path.parent / text
    if sys.platform != "win32":
        path.symlink_to(text)
    elif target.is_dir():
        _link_directory_on_windows(path, text, target)
    else:
        _hard_link(target.resolve(), path)


def _link_directory_on_windows(path: Path, text: str, target: Path) -> None:
    try:
        path.symlink_to(text.replace("/", "\\"), target_is_directory=True)
    except OSError:  # needs a privilege; a junction does not
        import _winapi

        _winapi.CreateJunction(str(target.resolve()), str(path))


def _hard_link(source: Path, path: Path) -> None:
    try:
        os.link(source, path)
    except OSError as error:
        if error.errno not in _NO_HARD_LINK:
            raise
        shutil.copy2(source, path)


def _sibling_rows(place: Place) -> dict[str, Row]:
    """What the RECORD files of the sibling packages say, by path."""
    records = [path for path in place.package.site.glob("rocm_*.dist-info/RECORD") if path != place.record]
    return {row.path: row for record in records for row in _record.read(record)}


def _row_digest(digest: hashlib._Hash) -> str:
    return "sha256=" + base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


# --- the outside -----------------------------------------------------------------------------------------------------------------


def _remove_tree(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _explain(place: Place, error: OSError) -> NoReturn:
    site = place.package.site
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    longest = max(names, key=len, default="")
    if sys.platform == "win32" and len(longest) >= _WINDOWS_LONG:
        message = f"cannot unpack the development files: {longest} has {len(longest)} characters, more than this Windows takes"
        raise RocmSdkError(message, "make the environment in a shorter directory, or enable long paths (LongPathsEnabled)") from error
    if error.errno in _READ_ONLY:
        message = f"cannot unpack the development files: {error.filename or site} is not writable"
        raise RocmSdkError(message, f"run `rocm-sdk init` once as the owner of {site}") from error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message = f"cannot unpack the development files: no space left on the file system of {site} ({error.strerror})"
        raise RocmSdkError(message, "free some space and run `rocm-sdk init` again") from error
    raise RocmSdkError(f"cannot unpack the development files: {error}") from error
