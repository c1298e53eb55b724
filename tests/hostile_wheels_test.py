"""Wheels that were made to cost time or memory, or to lie: each gets a finding or an error with a code, within bounds."""

from __future__ import annotations

import base64
import hashlib
import struct
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.measured import measured  # noqa: E402
from support.quarry import PROGRAM, clean_environment  # noqa: E402

SECONDS = 60  # a bound, not a measurement: the slowest of these takes 2 seconds of a processor and 260 MB
MEMORY = 1_000_000_000


def wheel(place: Path, files: dict[str, bytes]) -> Path:
    info = "x-1.dist-info"
    members = {**files, f"{info}/METADATA": b"Metadata-Version: 2.1\nName: x\nVersion: 1\n", f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"}
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in members.items()) + f"{info}/RECORD,,\n"
    path = place / "x-1-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, data in [*members.items(), (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def checked(path: Path) -> tuple[int, str]:
    """The exit code and all that was said, within the bounds."""
    done = measured(PROGRAM, "wheel", "check", path, environment=clean_environment())
    assert done.seconds < SECONDS and done.peak < MEMORY, (done.seconds, done.peak)
    return done.code, done.said


def test_memory_of_the_tests_does_not_count():
    ours = bytearray(300_000_000)
    ours[::4096] = bytes(len(range(0, len(ours), 4096))).replace(b"\0", b"\1")
    assert measured(PROGRAM, "--version", environment=clean_environment()).peak < 100_000_000


def section(name: int, kind: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)


def elf(sections: list[bytes], names_index: int, body: bytes = b"", count: int | None = None) -> bytes:
    """An x86-64 library that has sections and nothing to load; more than 65,279 sections are counted in section 0."""
    number = len(sections) if count is None else count
    in_header = number if number < 0xFF00 else 0
    if not in_header:
        sections = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, number, names_index, 0, 0, 0), *sections[1:]]
    head = b"\177ELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64, in_header, names_index if in_header else 0xFFFF)
    return head + body + b"".join(sections)


NOTHING = section(0, 0, 0, 0)


def test_an_elf_file_of_a_hundred_thousand_sections(tmp_path):
    names = b"\0.debug_info\0"
    many = [NOTHING, section(0, 3, 64, len(names)), *[section(1, 1, 64, 1)] * 100_000]
    code, said = checked(wheel(tmp_path, {"x/l.so": elf(many, 1, names)}))
    assert code == 1 and "E112" in said and "overlap" in said


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("more sections than the file has", elf([NOTHING], 0, count=200_000)),
        ("a number of sections beyond the bound", elf([NOTHING], 0, count=1 << 31)),
        ("names outside the file", elf([NOTHING, section(1 << 31, 3, 1 << 62, 1 << 62)], 1)),
        ("names that wrap", elf([NOTHING, section(1, 3, (1 << 64) - 8, 16)], 1)),
        ("names of a section that is missing", elf([NOTHING, section(1, 1, 64, 0)], 7)),
    ],
)
def test_bad_tables_of_sections(tmp_path, what, data):
    code, said = checked(wheel(tmp_path, {"x/l.so": data}))
    assert code == 1 and ("[E001]" in said or "[E112]" in said), (what, said)


def test_a_wheel_of_two_hundred_thousand_entries(tmp_path):
    code, said = checked(wheel(tmp_path, {f"x/{number}": b"" for number in range(200_000)}))
    assert code == 0 and "no errors or warnings" in said, said[-300:]


@pytest.mark.parametrize("count", [1 << 63, (1 << 64) - 1, 1 << 32])
def test_a_bundle_that_lies_about_its_entries(tmp_path, count):
    code, said = checked(wheel(tmp_path, {"x/k.hsaco": b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", count) + bytes(8192)}))
    assert code == 1 and "[G101]" in said, said
