"""The payload of the devel package: a tar whose members are checked, all of them, before anything is written."""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from ._errors import RocmSdkError

PAYLOAD_NAMES = ("_devel.tar", "_devel.tar.xz", "_devel.tar.zst")
# As in every reader of this format: what Linux can create, and five times the largest SDK seen.
ENTRIES_MAX = 1_000_000
PATH_BYTES_MAX = 4096
_CHUNK_BYTES = 1 << 20
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\\]" if sys.platform != "win32" else r'[\x00-\x1f\x7f\\:*?"<>|]')


class PayloadError(RocmSdkError):
    """The payload cannot be read, or must not be unpacked."""


@dataclass
class Plan:
    """What unpacking will create, by path below the top directory."""

    directories: list[str] = field(default_factory=list)
    files: list[tuple[str, tarfile.TarInfo]] = field(default_factory=list)
    sibling_links: list[tuple[str, str, str]] = field(default_factory=list)  # path, link text, target below site-packages
    own_links: list[tuple[str, str]] = field(default_factory=list)  # path, link text

    def paths(self) -> list[str]:
        """Everything but directories."""
        links = [link[0] for link in self.sibling_links] + [link[0] for link in self.own_links]
        return sorted([path for path, _ in self.files] + links)

    def bytes(self) -> int:
        return sum(member.size for _, member in self.files)

    def leads_into(self, top: str) -> bool:
        """Whether a link leads into this directory of site-packages."""
        return any(target.startswith(top + "/") for _, _, target in self.sibling_links)

    def with_other_sibling(self, old: str, new: str, paths: list[str]) -> Plan:
        """The same with links to `paths` below `new` where there were links into `old`; what is there otherwise stays."""
        kept = [link for link in self.sibling_links if not link[2].startswith(old + "/")]
        taken = {path for path, *_ in [*self.files, *kept, *self.own_links]}
        free = (path for path in paths if path not in taken and not any(up.as_posix() in taken for up in PurePosixPath(path).parents))
        links = [(path, "../" * (path.count("/") + 1) + f"{new}/{path}", f"{new}/{path}") for path in free]
        return Plan(self.directories, self.files, kept + links, self.own_links)


def is_safe(path: str) -> bool:
    """Whether a relative path with `/` stays below the directory that it is joined to, on this system."""
    return _safe(path.split("/"))


def find(directory: Path) -> Path | None:
    """The payload in the devel package, None once it has been unpacked."""
    return next((path for name in PAYLOAD_NAMES if (path := directory / name).exists()), None)


@contextmanager
def opened(path: Path) -> Iterator[tarfile.TarFile]:
    """The payload, its end verified. Raises PayloadError."""
    try:
        with path.open("rb") as raw, _decompressed(path, raw) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            _read_to_the_end(path, tar)
            yield tar
    except (tarfile.TarError, EOFError) as error:
        raise _corrupt(path, str(error)) from None


def plan(tar: tarfile.TarFile, top: str) -> Plan:
    """Sorts the members by what they become. Raises PayloadError for one that must not be unpacked.

    Members lie below `top`, no name twice, none below a file or a link. A link leads down, after as many `..` as keep it
    inside site-packages: then no path through any of them can lead out.
    """
    result = Plan()
    kinds: dict[str, str] = {}
    for member in tar:
        path = _relative(member, top)
        if path == "." and member.isdir():
            continue
        kind = "directory" if member.isdir() else "link" if member.issym() else "file" if member.isreg() else "other"
        if kind == "other" or path in kinds:
            raise _refused(member.name, "it is listed twice" if path in kinds else "it is not a file, directory or symbolic link")
        kinds[path] = kind
        if kind == "directory":
            result.directories.append(path)
        elif kind == "file":
            result.files.append((path, member))
        else:
            _add_link(result, member, path, top)
    _refuse_below_others(kinds)
    return result


def _add_link(result: Plan, member: tarfile.TarInfo, path: str, top: str) -> None:
    target = _link_target(member, f"{top}/{path}")
    if target == top or target.startswith(top + "/"):
        result.own_links.append((path, member.linkname))
    else:
        result.sibling_links.append((path, member.linkname, target))


def _relative(member: tarfile.TarInfo, top: str) -> str:
    parts = member.name.rstrip("/").split("/")
    if parts[0] != top or not _safe(parts) or len(member.name.encode("utf-8", "surrogatepass")) > PATH_BYTES_MAX:
        raise _refused(member.name, f"it is not below {top}")
    if len(parts) == 1 and not member.isdir():
        raise _refused(member.name, "the top is not a directory")
    return "/".join(parts[1:]) or "."


def _link_target(member: tarfile.TarInfo, path: str) -> str:
    """Where the link at `path` leads, below site-packages."""
    parts = member.linkname.split("/")
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    directory = path.split("/")[:-1]
    if ups >= len(parts) or ups > len(directory) or not _safe(parts[ups:]):
        raise _refused(member.name, f"its link {member.linkname} may lead out of site-packages")
    return "/".join(directory[: len(directory) - ups] + parts[ups:])


def _safe(parts: list[str]) -> bool:
    return all(part not in ("", ".", "..") and not _FORBIDDEN.search(part) and _encodable(part) for part in parts)


def _encodable(part: str) -> bool:
    try:
        return bool(part.encode())
    except UnicodeEncodeError:
        return False


def _refuse_below_others(kinds: dict[str, str]) -> None:
    for path in kinds:
        for parent in PurePosixPath(path).parents:
            if kinds.get(parent.as_posix(), "directory") != "directory":
                raise _refused(path, f"it lies below {parent}, which is a {kinds[parent.as_posix()]}")


@contextmanager
def _decompressed(path: Path, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    if path.suffix == ".tar":
        yield raw
    elif path.suffix == ".xz":
        try:
            import lzma
        except ImportError:
            raise PayloadError(f"{path} needs xz, and this Python was built without it", "use another build of Python") from None
        try:
            with lzma.open(raw) as stream:
                yield stream
        except lzma.LZMAError as error:
            raise _corrupt(path, str(error)) from None
    else:
        try:
            from compression import zstd
        except ImportError:
            version = ".".join(map(str, sys.version_info[:2]))
            raise PayloadError(
                f"{path} needs zstd, which Python has from 3.14 on; this is {version}",
                "use a newer Python, or a release whose devel package is compressed otherwise",
            ) from None
        try:
            with zstd.open(raw) as stream:
                yield stream
        except zstd.ZstdError as error:
            raise _corrupt(path, str(error)) from None


def _read_to_the_end(path: Path, tar: tarfile.TarFile) -> None:
    """Reads all headers. tarfile takes a damaged header after the first for the end, so the real end is looked for."""
    for count, _ in enumerate(tar, start=1):
        if count > ENTRIES_MAX:
            raise PayloadError(f"{path} has more than {ENTRIES_MAX} members")
    stream = tar.fileobj
    assert stream is not None
    stream.seek(tar.offset)
    if stream.read(2 * tarfile.BLOCKSIZE) != bytes(2 * tarfile.BLOCKSIZE):
        raise _corrupt(path, f"there is no end mark at {tar.offset}")
    while rest := stream.read(_CHUNK_BYTES):  # to the last byte: only there a compressed stream tells whether it was whole
        if rest.strip(b"\0"):
            raise _corrupt(path, "there is more after its end")


def _corrupt(path: Path, reason: str) -> PayloadError:
    return PayloadError(f"{path} is damaged: {reason}", "pip install --force-reinstall --no-deps rocm-sdk-devel")


def _refused(name: str, reason: str) -> PayloadError:
    return PayloadError(f"the devel package holds {name!r}, which must not be unpacked: {reason}")
