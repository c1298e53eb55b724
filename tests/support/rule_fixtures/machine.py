"""Machine code: E017 and J001 on a command line, Q1, and the tables of platforms (their data files are read from a repository)."""

from __future__ import annotations

import functools
import re
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..defective_wheels import Draft
from ..native_wheels import ONE, library, wheel
from ..quarry import ROOT
from . import Make, Pair, Words, run

LINUX, MUSL = "py3-none-manylinux_2_28_x86_64", "py3-none-musllinux_1_2_x86_64"
RELRO = ("-Wl,-z,relro",)
CALLS_ONE = "int one(void); int two(void) { return one() + 1; }\n"
PTHREAD = "#include <pthread.h>\nint one(void) { return pthread_create(0, 0, 0, 0); }\n"
MEBIBYTE = 1 << 20


@functools.cache
def made(name: str, *flags: str, source: str = ONE) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        return library(Path(place), name, *flags, source=source)


@functools.cache
def user_of(held: str, *flags: str, source: str = CALLS_ONE, provides: str = ONE) -> bytes:
    """A library that needs `held`."""
    with tempfile.TemporaryDirectory() as place:
        library(Path(place), held, source=provides)
        return library(Path(place) / "user", "libu.so", f"{place}/{held}", "-Wl,--no-as-needed", *flags, source=source)


def check(files: Callable[[], dict[str, bytes]], *words: str, tag: str = LINUX, pure: str = "false") -> Make:
    return lambda place: run("wheel", "check", wheel(place, "x", files(), tag, pure), *words)


def one_library(*flags: str, source: str = ONE, tag: str = LINUX, pure: str = "false") -> Make:
    return check(lambda: {"x/l.so": made("l.so", *flags, source=source)}, tag=tag, pure=pure)


def debug(size: int) -> Make:
    return one_library("-g0", source=f'int one(void) {{ return 1; }} __asm__(".section .debug_info\\n.zero {size}\\n");\n')


def with_system(number: int) -> bytes:
    """A library with another EI_OSABI: 9 is FreeBSD, 3 GNU."""
    data = made("l.so", *RELRO)
    return data[:7] + bytes([number]) + data[8:]


def needing_musl(tag: str) -> Make:
    return check(lambda: {"x/l.so": user_of("libc.musl-x86_64.so.1")}, tag=tag)


def pe(imports: str, cut: int = 0) -> bytes:
    """The smallest DLL for x86-64: one section with an import table; `cut` bytes are missing at its end."""
    name = imports.encode() + b"\0"
    raw = (struct.pack("<5I", 0, 0, 0, 0x1028, 0x1028) + bytes(20) + name).ljust(512, b"\0")
    optional = bytearray(240)
    struct.pack_into("<H", optional, 0, 0x20B)
    struct.pack_into("<I", optional, 60, 512)
    struct.pack_into("<I", optional, 108, 16)
    struct.pack_into("<II", optional, 120, 0x1000, 40)
    coff = struct.pack("<4sHHIIIHH", b"PE\0\0", 0x8664, 1, 0, 0, 0, 240, 0x2022)
    section = struct.pack("<8s4I16x", b".rdata", 512, 0x1000, 512, 512)
    data = (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + coff + bytes(optional) + section).ljust(512, b"\0") + raw
    return data[: len(data) - cut]


def dll(imports: str, cut: int = 0) -> Make:
    return check(lambda: {"x/y.dll": pe(imports, cut)}, tag="py3-none-win_amd64")


def edit(*words: str) -> Make:
    def in_place(place: Path) -> Words:
        (place / "l.so").write_bytes(made("l.so"))
        return run("elf", "edit", place / "l.so", *words, "--output", place / "m.so")

    return in_place


def with_table(name: str, old: str, new: str, command: Callable[[Path], tuple[str | Path, ...]]) -> Make:
    """`command` in a repository whose data/`name` has `new` in place of the first `old`."""

    def in_repository(place: Path) -> Words:
        (place / ".git").mkdir()
        shutil.copytree(ROOT / "data", place / "data")
        text = (ROOT / "data" / name).read_text()
        assert old in text, f"data/{name} does not hold {old!r}"
        (place / "data" / name).write_text(text.replace(old, new, 1))
        return Words(command(place), cwd=place)

    return in_repository


def table_pair(name: str, old: str, new: str, command: Callable[[Path], tuple[str | Path, ...]] | None = None) -> Pair:
    use = command or (lambda place: ("wheel", "check", Draft().save(place)))
    comment = re.match(r"#.*\n", (ROOT / "data" / name).read_text())[0]
    return Pair(with_table(name, old, new, use), with_table(name, comment, "# Another comment.\n", use))


PAIRS = {
    "E017": Pair(edit(), edit("--rpath", "$ORIGIN")),
    "J001": Pair(dll("kernel32.dll", cut=512), dll("kernel32.dll")),
    "M012": table_pair("manylinux.toml", "glibc =", "glib ="),
    "M015": table_pair("musllinux.toml", "[libc]", "[libcs]"),
    "Q007": table_pair("windows-libraries.toml", "libraries =", "library ="),
    "Q008": table_pair("refusals.toml", "[[consumer]]", "[[consumers]]"),
    "Q009": table_pair("windows-paths.toml", "file_max = 259", "file_max = 200"),
    "Q014": table_pair("metadata-values.toml", "classifiers = [", "classifier = ["),
    "Q101": Pair(one_library(*RELRO, "-lc", source=PTHREAD), one_library(*RELRO, "-lc", source=PTHREAD, tag="py3-none-manylinux_2_34_x86_64")),
    "Q102": Pair(check(lambda: {"x/l.so": user_of("libb.so", *RELRO)}), check(lambda: {"x/l.so": user_of("libb.so", *RELRO)}, "--allow-library", "libb.so")),
    "Q103": Pair(
        check(lambda: {"x/libu.so": user_of("libb.so", *RELRO), "x/lib/libb.so": made("libb.so", *RELRO)}),
        check(lambda: {"x/libu.so": user_of("libb.so", *RELRO, "-Wl,-rpath,$ORIGIN/lib"), "x/lib/libb.so": made("libb.so", *RELRO)}),
    ),
    "Q104": Pair(one_library("-Wl,-rpath,/opt/rocm/lib"), one_library("-Wl,-rpath,$ORIGIN/lib")),
    "Q105": Pair(one_library("-Wl,-rpath,lib"), one_library("-Wl,-rpath,$ORIGIN/lib")),
    "Q106": Pair(one_library(tag="py3-none-manylinux_2_28_aarch64"), one_library()),
    "Q107": Pair(one_library(tag="py3-none-any"), one_library()),
    "Q108": Pair(one_library(pure="true"), one_library()),
    "Q109": Pair(one_library("-Wl,-z,x86-64-v3"), one_library("-Wl,-z,x86-64-baseline")),
    "Q110": Pair(
        check(lambda: {"x/l.so": user_of("libz.so.1", source="int inflate_fast(void); int two(void) { return inflate_fast(); }\n", provides="int inflate_fast(void) { return 1; }\n")}),
        check(lambda: {"x/l.so": user_of("libz.so.1", source="int inflate(void); int two(void) { return inflate(); }\n", provides="int inflate(void) { return 1; }\n")}),
    ),
    "Q111": Pair(one_library("-Wl,-z,notext", source='int a; __asm__(".text\\n.quad a\\n");\n'), one_library("-Wl,-z,notext", source='int a; __asm__(".data\\n.quad a\\n");\n')),
    "Q112": Pair(one_library("-Wl,-z,norelro"), one_library(*RELRO, source="int a; int *b = &a;\n")),
    "Q113": Pair(debug(MEBIBYTE), debug(MEBIBYTE - 1)),
    "Q114": Pair(
        check(lambda: {"x/a": bytes(range(256)) * 4096, "x/b": bytes(range(256)) * 4096}, tag="py3-none-any"),
        check(lambda: {"x/a": bytes(range(256)) * 4096, "x/b": bytes(range(255, -1, -1)) * 4096}, tag="py3-none-any"),
    ),
    "Q115": Pair(
        check(lambda: {"x/l.cpython-39-x86_64-linux-gnu.so": made("l.so", *RELRO)}, tag="cp312-cp312-manylinux_2_28_x86_64"),
        check(lambda: {"x/l.cpython-312-x86_64-linux-gnu.so": made("l.so", *RELRO)}, tag="cp312-cp312-manylinux_2_28_x86_64"),
    ),
    "Q116": Pair(dll("nowhere.dll"), dll("kernel32.dll")),
    "Q117": Pair(needing_musl(LINUX), needing_musl(MUSL)),
    "Q119": Pair(one_library(*RELRO, tag="py3-none-manylinux_2_28"), one_library(*RELRO)),
    "Q120": Pair(check(lambda: {"x/l.so": with_system(9)}), check(lambda: {"x/l.so": with_system(3)})),
}
