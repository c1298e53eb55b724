"""GPU code: bundles, libraries and wheels with the smallest code objects that are read. G1."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from ..defective_wheels import Draft
from ..native_wheels import wheel
from . import Make, Pair, Words, run

# e_flags: EF_AMDGPU_MACH_*, with xnack (0x100 any, 0x300 on) and sramecc (0x400 any) where the processor has them.
FLAGS = {"gfx942": 0x54C, "gfx90a": 0x53F, "gfx90a:xnack+": 0x73F, "gfx1030": 0x36, "gfx1200": 0x48, "gfx1201": 0x4E, "unknown": 0xFE}
LINUX = "py3-none-linux_x86_64"


def code(target: str) -> bytes:
    """A code object without code: its header."""
    head = b"\x7fELF\2\1\1\x40\2".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, FLAGS[target], 64, 56, 0, 64, 0, 0)
    return head.ljust(200, b"c")


def aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4096)


def bundle(*targets: str, labels: tuple[str, ...] = ()) -> bytes:
    """An offload bundle; `labels` may name other targets than the code is for."""
    entries = [("host-x86_64-unknown-linux--", b"")] + [(f"hipv4-amdgcn-amd-amdhsa--{label}", code(target)) for label, target in zip(labels or targets, targets)]
    table, payloads = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), b""
    for name, payload in entries:
        table += struct.pack("<QQQ", 4096 + len(payloads), len(payload), len(name)) + name.encode()
        payloads = aligned(payloads + payload)
    return aligned(table) + payloads


def library(place: Path, name: str, fatbin: bytes, record: int = 0x48495046) -> Path:
    """A shared library with bundles in .hip_fatbin and one record: HIPF, or HIPK for code that moved to a .kpack file."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "fatbin").write_bytes(fatbin)
    source = f'.section .hip_fatbin,"a",@progbits\n.p2align 12\nbundle: .incbin "{place}/fatbin"\n'
    source += f'.section .hipFatBinSegment,"aw",@progbits\n.long {record}, 1\n.quad bundle, 0\n.section .note.GNU-stack,"",@progbits\n'
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", place / name], input=source.encode(), check=True)
    (place / "fatbin").unlink()
    return place / name


def listing(files: dict[str, bytes], *words: str) -> Make:
    def made(place: Path) -> Words:
        for name, data in files.items():
            (place / name).write_bytes(data)
        return run("gpu", "list", *(place / name for name in files), *words)

    return made


def two_libraries(second: int) -> Make:
    return lambda place: run("gpu", "list", library(place, "liba.so", bundle("gfx942"), 0x4B504948), library(place, "libb.so", bundle("gfx942"), second))


def picture(name: str) -> Make:
    def made(place: Path) -> Words:
        (place / "x.hipfb").write_bytes(bundle("gfx942"))
        return run("gpu", "list", place / "x.hipfb", "--treemap", place / name)

    return made


def whole_wheel(data: bytes = b"") -> Make:
    def made(place: Path) -> Words:
        path = Draft().save(place)
        if data:
            path.write_bytes(data)
        return run("gpu", "list", path)

    return made


def thin(targets: str, label: str = "gfx1030") -> Make:
    """`wheel thin` of a library with code for gfx942, and code that is labelled `label`."""

    def made(place: Path) -> Words:
        fat = bundle("gfx942", "gfx1030" if label == "gfx1030" else "unknown", labels=("gfx942", label))
        path = wheel(place, "x", {"x/l.so": library(place, "l.so", fat).read_bytes()}, LINUX)
        return run("wheel", "thin", path, "--targets", targets, "-d", place / "out")

    return made


def check_file(data: bytes) -> Make:
    """A wheel with a file that is named like a code object."""
    return lambda place: run("wheel", "check", wheel(place, "x", {"x/kernel.hsaco": data}, LINUX))


def doubled(*targets: str) -> Make:
    return listing({"x.hipfb": bundle(*targets)})


FAMILY = ("--amdgpu-family", "gfx120X-all")
PAIRS = {
    "G101": Pair(listing({"x.hipfb": bundle("gfx942")[:4200]}), listing({"x.hipfb": bundle("gfx942")})),
    "G102": Pair(listing({"x.hsaco": code("unknown")}), listing({"x.hsaco": code("gfx1030")})),
    "G103": Pair(listing({"x.hipfb": bundle("gfx1201")}, *FAMILY), listing({"x.hipfb": bundle("gfx1200", "gfx1201")}, *FAMILY)),
    "G104": Pair(listing({"x.hipfb": bundle("gfx1200", "gfx1201", "gfx942")}, *FAMILY), listing({"x.hipfb": bundle("gfx1200", "gfx1201")}, *FAMILY)),
    "G105": Pair(listing({"x.hipfb": bundle("gfx1200", "gfx1201"), "y.hipfb": bundle("gfx1201")}), listing({"x.hipfb": bundle("gfx1200", "gfx1201"), "y.hipfb": bundle("gfx1201", "gfx1200")})),
    "G106": Pair(listing({"x.hipfb": bundle("gfx90a", "gfx90a:xnack+")}), listing({"x.hipfb": bundle("gfx90a:xnack+")})),
    "G107": Pair(listing({"x.hipfb": bundle("gfx1030", labels=("gfx942",))}), listing({"x.hipfb": bundle("gfx1030", labels=("gfx1030",))})),
    "G108": Pair(two_libraries(0x48495046), two_libraries(0x4B504948)),
    "G110": Pair(whole_wheel(b"no archive"), whole_wheel()),
    "G112": Pair(picture("x.png"), picture("x.svg")),
    "G113": Pair(thin("gfx94x"), thin("gfx942")),
    "G114": Pair(thin("gfx1201"), thin("gfx1030")),
    "G117": Pair(check_file(bytes(200)), check_file(code("gfx942"))),
    "G118": Pair(doubled("gfx942", "gfx942"), doubled("gfx942", "gfx1030")),
    "G115": Pair(thin("gfx942", "amdgcnspirv"), thin("gfx942")),
}
