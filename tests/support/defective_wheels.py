"""Wheels with one defect each, and which clients refuse them."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import struct
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from . import static_server
from .clients import client

CLIENTS = ("pip", "uv", "installer")


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@dataclass
class Draft:
    """A wheel before it is packed: sound until a field is changed."""

    name: str = "foo"
    version: str = "1.0"
    tag: str = "py3-none-any"
    build: str = ""
    metadata_version: str = "2.1"
    metadata: list[str] = field(default_factory=list)  # more lines
    body: str = ""
    metadata_text: str | None = None  # the whole file
    wheel: list[str] | None = None  # all lines of WHEEL
    files: dict[str, str] = field(default_factory=lambda: {"foo.py": "def main(): pass\n"})
    info_files: dict[str, str] = field(default_factory=dict)  # more files of dist-info
    without: tuple[str, ...] = ()  # files of dist-info that are missing
    dist_info: str = ""
    record: dict[str, str | None] = field(default_factory=dict)  # path -> its line in RECORD; None: no line
    record_more: str = ""
    entries: list[tuple[str, str]] = field(default_factory=list)  # more members, that RECORD lists as well

    def file_name(self) -> str:
        return "-".join(part for part in (self.name, self.version, self.build, self.tag) if part) + ".whl"

    def _wheel(self) -> str:
        if self.wheel is not None:
            return "".join(line + "\n" for line in self.wheel)
        python, abi, platforms = self.tag.split("-")
        tags = [f"Tag: {p}-{a}-{q}" for p in python.split(".") for a in abi.split(".") for q in platforms.split(".")]
        pure = "true" if platforms == "any" else "false"
        return "\n".join(["Wheel-Version: 1.0", "Generator: tests", f"Root-Is-Purelib: {pure}", *tags, *([f"Build: {self.build}"] if self.build else []), ""])

    def members(self) -> list[tuple[str, bytes]]:
        info = self.dist_info or f"{self.name}-{self.version}.dist-info"
        head = [f"Metadata-Version: {self.metadata_version}", f"Name: {self.name}", f"Version: {self.version}", *self.metadata]
        text = self.metadata_text if self.metadata_text is not None else "".join(line + "\n" for line in head) + (f"\n{self.body}\n" if self.body else "")
        own = {"METADATA": text, "WHEEL": self._wheel(), **self.info_files}
        listed = [(path, data.encode()) for path, data in [*self.files.items(), *self.entries]]
        listed += [(f"{info}/{path}", data.encode(errors="surrogateescape")) for path, data in own.items() if path not in self.without]
        rows = {path: f"{path},{digest(data)},{len(data)}" for path, data in listed} | {f"{info}/RECORD": f"{info}/RECORD,,"} | self.record
        record = "".join(row + "\n" for row in rows.values() if row is not None) + self.record_more
        return [*listed, *([] if "RECORD" in self.without else [(f"{info}/RECORD", record.encode())])]

    def save(self, place: Path, file_name: str = "") -> Path:
        place.mkdir(parents=True, exist_ok=True)
        path = place / (file_name or self.file_name())
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in self.members():
                entry = zipfile.ZipInfo("placeholder", (1980, 1, 1, 0, 0, 0))
                entry.filename = member  # as given: ZipInfo() would cut it at a NUL
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, data)
        return path


def changed(path: Path, change) -> Path:
    """The file with its bytes changed by `change`."""
    path.write_bytes(change(bytearray(path.read_bytes())))
    return path


def with_descriptors(path: Path) -> Path:
    """Packed as for a pipe: the sizes follow the data."""

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = bytearray()

        def writable(self):
            return True

        def write(self, data):
            self.data += data
            return len(data)

    with zipfile.ZipFile(path) as source:
        members = [(entry, source.read(entry)) for entry in source.infolist()]
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        for entry, data in members:
            fresh = zipfile.ZipInfo(entry.filename, entry.date_time)
            fresh.external_attr = entry.external_attr
            archive.writestr(fresh, data)
    path.write_bytes(bytes(pipe.data))
    return path


def end_record(data: bytearray) -> int:
    return data.rindex(b"PK\x05\x06")


def central_directory(data: bytearray) -> int:
    return struct.unpack_from("<I", data, end_record(data) + 16)[0]


def refused_by_client(name: str, wheel: Path, place: Path, resolve: bool = False) -> bool:
    """Whether the client refuses to install the wheel: `installer` the file, pip the file and uv from an index, where it reads
    strictly. `resolve`: both from an index and with dependencies, so that they read all of METADATA."""
    target, project = place / f"{name}-target", re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
    if name == "installer":
        return client("installer").python("-m", "installer", "--destdir", target, wheel).returncode != 0
    if name == "pip" and not resolve:
        return client("pip-newest").run("install", "--no-index", "--no-deps", "--no-compile", "--target", target, wheel).returncode != 0
    site = place / "site"
    (site / "simple" / project).mkdir(parents=True, exist_ok=True)
    (site / "simple" / project / "index.html").write_text(f'<a href="../../files/{wheel.name.replace("+", "%2B")}">{wheel.name}</a>\n')
    (site / "files").mkdir(exist_ok=True)
    (site / "files" / wheel.name).write_bytes(wheel.read_bytes())
    dependencies = [] if resolve else ["--no-deps"]
    with static_server.serve(site) as (url, _):
        if name == "pip":
            return client("pip-newest").run("install", "--no-cache-dir", "--index-url", f"{url}/simple/", "--target", target, *dependencies, project).returncode != 0
        words = ["--no-cache", "--python", sys.executable, "--target", target, "--default-index", f"{url}/simple/", *dependencies]
        return client("uv").run("pip", "install", *words, project).returncode != 0


PACKAGING = """
import sys
from packaging.metadata import Metadata
Metadata.from_email(open(sys.argv[1], "rb").read())
"""


def refused_by_packaging(wheel: Path, place: Path) -> bool:
    """Whether `packaging.metadata` refuses METADATA. PyPI reads it with that module."""
    with zipfile.ZipFile(wheel) as archive:
        (place / "METADATA").write_bytes(archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))))
    return client("twine").python("-c", PACKAGING, place / "METADATA").returncode != 0
