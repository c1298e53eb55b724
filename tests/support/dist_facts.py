"""Facts about the packages of an SDK, and their comparison with facts that were recorded before.

facts(DIRECTORY) -> {project: {member: fact}}: native members, devel payload and console scripts. An ELF file is described by what
must survive an edit of its run path: type, dynamic entries, and the bytes of the sections that the program runs on."""

from __future__ import annotations

import fnmatch
import hashlib
import io
import lzma
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

SECTIONS = (".text", ".rodata", ".data", ".data.rel.ro", ".eh_frame", ".gcc_except_table", ".tdata", ".hip_fatbin", ".hipFatBinSegment")
LAUNCHER_BYTES_MAX = 65536


def short_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def describe(data: bytes, executable: bool) -> list:
    if not data.startswith(b"\x7fELF"):
        return ["file", short_digest(data), executable]
    elf = ELFFile(io.BytesIO(data))
    dynamic = elf.get_section_by_name(".dynamic")
    if executable and dynamic is None and len(data) < LAUNCHER_BYTES_MAX:
        return ["stub", executable]
    found: dict = {"type": elf["e_type"]}
    for tag in dynamic.iter_tags() if dynamic else ():
        if tag.entry.d_tag in ("DT_SONAME", "DT_RPATH", "DT_RUNPATH"):
            found[tag.entry.d_tag] = getattr(tag, tag.entry.d_tag[3:].lower())
        elif tag.entry.d_tag == "DT_NEEDED":
            found.setdefault("DT_NEEDED", []).append(tag.needed)
    for name in SECTIONS:
        section = elf.get_section_by_name(name)
        if section and section["sh_type"] != "SHT_NOBITS":
            found[name] = short_digest(section.data())
    return ["elf", found, executable]


def unpacked(name: str, raw: bytes) -> bytes:
    if name.endswith(".xz"):
        return lzma.decompress(raw)
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    return raw


def payload_facts(name: str, raw: bytes) -> dict:
    with tarfile.open(fileobj=io.BytesIO(unpacked(name, raw))) as tar:
        return {
            "devel:" + m.name.rstrip("/"): ["link", m.linkname] if m.issym() else describe(tar.extractfile(m).read(), bool(m.mode & 0o111))
            for m in tar
            if m.issym() or m.isreg()
        }


def wheel_facts(path: Path) -> dict:
    facts: dict = {}
    with zipfile.ZipFile(path) as wheel:
        for info in wheel.infolist():
            name = info.filename
            if re.search(r"_devel\.tar(\.\w+)?$", name):
                facts.update(payload_facts(name, wheel.read(name)))
            elif name.startswith("_") and not name.endswith("/__init__.py"):
                facts[name] = describe(wheel.read(name), bool(info.external_attr >> 16 & 0o111))
            elif name.endswith(".dist-info/entry_points.txt"):
                lines = wheel.read(name).decode().splitlines()
                facts.update({"script:" + line.split("=")[0].strip(): ["script"] for line in lines if "=" in line})
    return facts


def facts(directory: Path) -> dict:
    def project(path: Path) -> str:
        return re.sub(r"[-_.]+", "-", path.name.split("-")[0]).lower()

    found = {project(path): wheel_facts(path) for path in sorted(directory.glob("*.whl"))}
    found.update({project(path) + " (sdist)": {} for path in directory.glob("*.tar.gz")})
    return found


def differences(recorded: dict, ours: dict, allowed: list[tuple[str, str, str]]) -> tuple[int, list[str]]:
    """The members that agree, and what differs beyond `allowed` (project, member glob, reason); an unused line is a difference."""
    agree, bad, used = 0, [], set()
    for project in sorted(recorded.keys() | ours.keys()):
        left, right = recorded.get(project), ours.get(project)
        for member in sorted((left or {}).keys() | (right or {}).keys()) or [""]:
            a, b = (left or {}).get(member), (right or {}).get(member)
            if left is not None and right is not None and a == b:
                agree += 1
                continue
            line = next((i for i, (p, glob, _) in enumerate(allowed) if p == project and fnmatch.fnmatchcase(member, glob)), None)
            if line is None:
                bad.append(f"{project} {member}: {str(a)[:200]} | {str(b)[:200]}")
            else:
                used.add(line)
    bad += [f"allowed but never seen: {row}" for i, row in enumerate(allowed) if i not in used]
    return agree, bad


def read_allowed(path: Path, topic: str = "") -> list[tuple[str, str, str]]:
    """The rows about packages, or those of another topic, which begin with "#topic"."""
    marked = [line.rstrip("\n").split("\t") for line in path.open() if "\t" in line]
    return [(project, glob, reason) for project, glob, reason in marked if (project == f"#{topic}" if topic else not project.startswith("#"))]
