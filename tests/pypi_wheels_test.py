"""Wheels of PyPI: `quarry wheel check` says what was reviewed and nothing else, and `quarry gpu list` counts what LLVM's bundler unpacks.

The wheels are in tests/data/pypi-wheels.toml, the reviewed findings in tests/data/pypi-findings.toml; all wheels with QUARRY_LONG=1
(docs/campaigns.md), else the small ones."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.pypi_wheels import Recorded, fetched, recorded  # noqa: E402
from support.quarry import ROOT, good, quarry  # noqa: E402

WHEELS = [wheel for wheel in recorded() if wheel.usual or os.environ.get("QUARRY_LONG")]
BUNDLER = "clang-offload-bundler-19"
MAGIC, ALIGN = b"__CLANG_OFFLOAD_BUNDLE__", 4096


def reviewed() -> list[dict]:
    return tomllib.loads((ROOT / "tests/data/pypi-findings.toml").read_text())["finding"]


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.file)
def test_findings_are_those_that_were_reviewed(wheel: Recorded):
    rows = [row for row in reviewed() if fnmatchcase(wheel.file, row["wheel"])]
    said = quarry("wheel", "check", "--json", fetched(wheel))
    assert said.json and said.code in (0, 1, 6), said.err
    found = Counter(one["code"] for one in said.json["findings"])
    assert found == Counter({row["code"]: row.get("count", 1) for row in rows})
    for row in rows:
        messages = [one["place"] + ": " + one["message"] for one in said.json["findings"] if one["code"] == row["code"]]
        assert any(row["says"] in message for message in messages), (row["says"], messages)


def test_each_reviewed_finding_belongs_to_a_wheel_and_has_a_judgement():
    files = [wheel.file for wheel in recorded()]
    for row in reviewed():
        assert set(row) - {"count"} == {"wheel", "code", "says", "verdict", "reason"} and row["reason"], row
        assert row["verdict"] in ("defect", "by intent"), row
        assert any(fnmatchcase(file, row["wheel"]) for file in files), row


# Device code, as LLVM's own tool unpacks it


def sections(data: bytes) -> list[bytes]:
    """`.hip_fatbin` of an ELF library, `.hip_fat` of a DLL: found by name in the tables of the file."""
    if data[:4] == b"\177ELF":
        at, (size, count, names) = int.from_bytes(data[40:48], "little"), struct.unpack("<HHH", data[58:64])
        heads = [struct.unpack("<IIQQQQIIQQ", data[at + i * size : at + (i + 1) * size]) for i in range(count)]
        text = heads[names][4] if heads else 0
        name = lambda head: data[text + head[0] : data.index(b"\0", text + head[0])]  # noqa: E731
        return [data[head[4] : head[4] + head[5]] for head in heads if name(head) == b".hip_fatbin"]
    if data[:2] != b"MZ":
        return []
    at = int.from_bytes(data[60:64], "little")
    count, optional = struct.unpack("<H", data[at + 6 : at + 8])[0], struct.unpack("<H", data[at + 20 : at + 22])[0]
    heads = [struct.unpack("<8sIIII", data[at + 24 + optional + 40 * i :][:24]) for i in range(count)]
    return [data[place : place + min(memory, stored)] for name, memory, _, stored, place in heads if name == b".hip_fat"]


def bundles(section: bytes) -> list[bytes]:
    """One file for the bundler each. It finds the end of a plain bundle by itself, and version 19 reads compressed bundles up to version 2:
    one of version 3 gets the shorter header, before the same stream."""
    out, at = [], 0
    while at < len(section):
        if section[at : at + 4] == b"CCOB":
            version, method = struct.unpack("<HH", section[at + 4 : at + 8])
            total, plain, digest = struct.unpack("<IIQ" if version == 2 else "<QQQ", section[at + 8 : at + (24 if version == 2 else 32)])
            assert version in (2, 3), version
            stream = section[at + (24 if version == 2 else 32) : at + total]
            out.append(struct.pack("<4sHHIIQ", b"CCOB", 2, method, 24 + len(stream), plain, digest) + stream)
        else:
            assert section[at:].startswith(MAGIC), at
            place, total = at + 32, 0
            for _ in range(int.from_bytes(section[at + 24 : at + 32], "little")):
                offset, size, length = struct.unpack("<QQQ", section[place : place + 24])
                place, total = place + 24 + length, max(total, offset + size)
            out.append(section[at : at + total])
        at += -(-total // ALIGN) * ALIGN
    return out


def unpacked(bundle: bytes, place: Path) -> list[tuple[str, int]]:
    """Targets and the bytes of their code; 0 for those that version 19 lists and cannot unpack, since it does not know them (gfx950)."""
    packed = place / "bundle"
    packed.write_bytes(bundle)
    run = lambda *words: subprocess.run([BUNDLER, "-type=o", f"-input={packed}", *words], check=True, capture_output=True, text=True).stdout  # noqa: E731
    names = [name for name in run("-list").split() if not name.startswith("host")]
    outputs = [place / str(number) for number in range(len(names))]
    run("-unbundle", "-allow-missing-bundles", f"-targets={','.join(names)}", *(f"-output={output}" for output in outputs))
    return [(name.split("amdhsa--")[-1], output.stat().st_size) for name, output in zip(names, outputs, strict=True)]


@pytest.mark.parametrize("wheel", [wheel for wheel in WHEELS if wheel.device_code], ids=lambda wheel: wheel.file)
def test_device_code_is_what_the_bundler_unpacks(wheel: Recorded, tmp_path):
    objects: dict[tuple[str, str], list[int]] = {}
    with zipfile.ZipFile(fetched(wheel)) as archive:
        for name in archive.namelist():
            if name.endswith((".so", ".dll")) or ".so." in name:
                for bundle in (one for section in sections(archive.read(name)) for one in bundles(section)):
                    for target, size in unpacked(bundle, tmp_path):
                        objects.setdefault((name, target), []).append(size)
    rows = [row for row in good("gpu", "list", "--json", fetched(wheel)).json["code_objects"] if row["target"].startswith("gfx")]
    listed = {(row["file"].split("!")[-1], row["target"]): (row["count"], row["bytes"]) for row in rows}
    assert {key: count for key, (count, _) in listed.items()} == {key: len(sizes) for key, sizes in objects.items()}
    known = {key: sum(sizes) for key, sizes in objects.items() if 0 not in sizes}
    assert {key: listed[key][1] for key in known} == known and known
