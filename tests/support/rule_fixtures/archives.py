"""The archive, dist-info and RECORD: Z and W."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from .. import static_server
from ..defective_wheels import Draft, central_directory, changed, digest, end_record, with_descriptors
from . import Make, Pair, Words, run

MAIN = "def main(): pass\n"
PURE, TAG = "Root-Is-Purelib: true", "Tag: py3-none-any"
NAME = "foo-1.0-py3-none-any.whl"


def check(wheel: Draft | Callable[[Path], Path]) -> Make:
    return lambda place: run("wheel", "check", wheel.save(place) if isinstance(wheel, Draft) else wheel(place))


def files(**more: str) -> Draft:
    return Draft(files={"foo.py": MAIN, **more})


def scripts(text: str) -> Draft:
    return Draft(info_files={"entry_points.txt": "[console_scripts]\n" + text})


def licensed(*fields: str, files: tuple[str, ...] = ()) -> Draft:
    return Draft(metadata_version="2.4", metadata=list(fields), info_files={f"licenses/{name}": "text" for name in files})


def bytes_changed(change) -> Make:
    return check(lambda place: changed(Draft().save(place), change))


def rewritten(change: Callable[[zipfile.ZipInfo], None]) -> Make:
    """The sound wheel, written again with each entry changed."""

    def made(place: Path) -> Path:
        path = Draft().save(place)
        with zipfile.ZipFile(path) as source:
            members = [(entry, source.read(entry)) for entry in source.infolist()]
        with zipfile.ZipFile(path, "w") as target:
            for entry, data in members:
                change(entry)
                target.writestr(entry, data)
        return path

    return check(made)


def setting(name: str, value) -> Callable[[zipfile.ZipInfo], None]:
    return lambda entry: setattr(entry, name, value)


def put(offset: Callable[[bytearray], int] | int, form: str, value) -> Callable[[bytearray], bytearray]:
    def change(data: bytearray) -> bytearray:
        struct.pack_into(form, data, offset if isinstance(offset, int) else offset(data), value)
        return data

    return change


def entries_of(data: bytearray) -> list[bytes]:
    """The records of the central directory."""
    at, entries = central_directory(data), []
    while data[at : at + 4] == b"PK\x01\x02":
        size = 46 + sum(struct.unpack_from("<HHH", data, at + 28))
        entries.append(bytes(data[at : at + size]))
        at += size
    return entries


def with_entries(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytearray], bytearray]:
    def changed_directory(data: bytearray) -> bytearray:
        entries = change(entries_of(data))
        begin, end = central_directory(data), end_record(data)
        out = data[:begin] + b"".join(entries) + data[end:]
        struct.pack_into("<HHI", out, end_record(out) + 8, len(entries), len(entries), sum(map(len, entries)))
        return out

    return changed_directory


def without_padding_or_with(padding: bytes) -> Callable[[bytearray], bytearray]:
    """Bytes between the last entry and the central directory."""

    def change(data: bytearray) -> bytearray:
        begin = central_directory(data)
        out = data[:begin] + padding + data[begin:]
        struct.pack_into("<I", out, end_record(out) + 16, begin + len(padding))
        return out

    return change


def with_comment(comment: bytes) -> Callable[[bytearray], bytearray]:
    return lambda data: data[:-2] + struct.pack("<H", len(comment)) + comment


def with_entry_comment(data: bytearray) -> bytearray:
    def commented(entries: list[bytes]) -> list[bytes]:
        first = bytearray(entries[0])
        struct.pack_into("<H", first, 32, 4)
        return [bytes(first) + b"note", *entries[1:]]

    return with_entries(commented)(data)


def of_zeros(size: int) -> Make:
    """A deflated wheel of a few 100 kB that becomes `size` bytes."""

    def made(place: Path) -> Path:
        with zipfile.ZipFile(place / NAME, "w") as target:
            for name, data in Draft(files={"foo.py": "\0" * size}).members():
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
                target.writestr(entry, data, compresslevel=9)
        return place / NAME

    return check(made)


def tree(place: Path) -> Path:
    """An unpacked wheel, ready for `wheel pack`."""
    from ..quarry import good

    good("wheel", "unpack", Draft().save(place), "-d", place / "tree")
    return place / "tree/foo-1.0"


def packed(change: Callable[[Path], None]) -> Make:
    def made(place: Path) -> Words:
        root = tree(place)
        change(root)
        return run("wheel", "pack", root, "-d", place / "out")

    return made


def unpacked(wheel: Draft, twice: bool = False) -> Make:
    def made(place: Path) -> Words:
        if twice:
            tree(place)
        return run("wheel", "unpack", wheel.save(place), "-d", place / "tree")

    return made


def served(suffix: str, page: bytes = b"") -> Make:
    """`wheel metadata` of a server's answer: a wheel, or `page` in its place."""

    def made(place: Path) -> Words:
        path = Draft().save(place)
        if page:
            path.write_bytes(page)
        server = static_server.serve(place)
        url, _ = server.__enter__()
        return Words(("wheel", "metadata", f"{url}/{NAME}{suffix}"), variables=(("NO_PROXY", "127.0.0.1"), ("QUARRY_ALLOW_PLAIN_HTTP", "1")), beside=Closing(server))

    return made


class Closing:
    """A context that is open already."""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return self.context.__exit__(*error)


def derived(wheel: Draft) -> Make:
    return lambda place: run("wheel", "verify", wheel.save(place / "new"), "--derived-from", Draft().save(place))


def on_wheel(*words: str) -> Make:
    """`wheel VERB …` on the sound wheel, into another directory."""
    return lambda place: run("wheel", words[0], Draft().save(place), *words[1:], "-d", place / "out")


def first_entry(data: bytearray) -> int:
    return central_directory(data)


SOUND = check(Draft())
PAIRS = {
    "Z001": Pair(check(Draft(entries=[("foo.py", MAIN)])), check(Draft(entries=[("bar.py", MAIN)]))),
    "Z002": Pair(bytes_changed(with_entries(lambda entries: entries[1:])), bytes_changed(with_entries(lambda entries: entries))),
    "Z003": Pair(bytes_changed(put(30, "6s", b"bar.py")), bytes_changed(put(30, "6s", b"foo.py"))),
    "Z004": Pair(bytes_changed(put(22, "<I", 5)), bytes_changed(put(22, "<I", len(MAIN)))),
    "Z005": Pair(bytes_changed(lambda data: data.replace(b"main()", b"mein()")), SOUND),
    "Z006": Pair(check(lambda place: with_descriptors(Draft().save(place))), SOUND),
    "Z007": Pair(rewritten(setting("extra", b"\xfe\xca\xff\x00x")), rewritten(setting("extra", b"\xfe\xca\x01\x00x"))),
    "Z008": Pair(bytes_changed(lambda data: b"#!/bin/sh\n" + data), SOUND),
    "Z009": Pair(bytes_changed(lambda data: data + b"trailing"), bytes_changed(with_comment(b"trailing"))),
    "Z010": Pair(bytes_changed(with_entry_comment), bytes_changed(with_comment(b"note"))),
    "Z011": Pair(bytes_changed(with_comment(b"\x01\x02PK")), bytes_changed(with_comment(b"PK"))),
    "Z012": Pair(bytes_changed(without_padding_or_with(b"hidden")), bytes_changed(without_padding_or_with(b""))),
    "Z013": Pair(check(files(**{"a\u200bb": "x"})), check(files(**{"a b": "x"}))),
    "Z014": Pair(check(files(**{"../foo.txt": "x"})), check(files(**{"a/..foo.txt": "x"}))),
    "Z015": Pair(rewritten(setting("compress_type", zipfile.ZIP_LZMA)), rewritten(setting("compress_type", zipfile.ZIP_DEFLATED))),
    "Z016": Pair(of_zeros(300_000_000), of_zeros(260_000_000)),
    "Z017": Pair(check(files(**{"a/B.txt": "x", "a/b.txt": "y"})), check(files(**{"a/B.txt": "x", "a/c.txt": "y"}))),
    "Z018": Pair(check(files(**{"a": "x", "a/b.txt": "y"})), check(files(**{"a.txt": "x", "a/b.txt": "y"}))),
    "Z019": Pair(bytes_changed(put(lambda data: first_entry(data) + 38, "<I", 0o120777 << 16)), bytes_changed(put(lambda data: first_entry(data) + 38, "<I", 0o100755 << 16))),
    "Z021": Pair(bytes_changed(with_entries(lambda entries: entries[::-1])), bytes_changed(with_entries(lambda entries: entries))),
    # System 1 is the Amiga, 19 macOS.
    "Z022": Pair(bytes_changed(put(lambda data: first_entry(data) + 5, "B", 1)), bytes_changed(put(lambda data: first_entry(data) + 5, "B", 19))),
    "Q260": Pair(rewritten(setting("external_attr", 0o755 << 16)), rewritten(setting("external_attr", 0o100755 << 16))),
    "W001": Pair(check(Draft(without=("RECORD",))), SOUND),
    "W002": Pair(check(Draft(record={"foo.py": None})), SOUND),
    "W003": Pair(check(Draft(record={"foo.py": f"foo.py,{digest(b'x')},{len(MAIN)}"})), check(Draft(record={"foo.py": f"foo.py,{digest(MAIN.encode())},{len(MAIN)}"}))),
    "W004": Pair(check(Draft(record={"foo-1.0.dist-info/RECORD": f"foo-1.0.dist-info/RECORD,{digest(b'x')},1"})), SOUND),
    "W005": Pair(check(Draft(wheel=["Wheel-Version: 2.0", PURE, TAG])), check(Draft(wheel=["Wheel-Version: 1.0", PURE, TAG]))),
    "W006": Pair(check(Draft(dist_info="bar-1.0.dist-info")), check(Draft(dist_info="foo-1.0.dist-info"))),
    "W007": Pair(check(Draft(metadata_text="Metadata-Version: 2.1\nName: foo\nVersion: 2.0\n")), check(Draft(metadata_text="Metadata-Version: 2.1\nName: foo\nVersion: 1.0\n"))),
    "W008": Pair(check(licensed("License-File: LICENSE")), check(licensed("License-File: LICENSE", files=("LICENSE",)))),
    "W009": Pair(check(scripts("foo = foo\n")), check(scripts("foo = foo:main\n"))),
    "W010": Pair(unpacked(Draft(record={"foo.py": None})), unpacked(Draft())),
    "W011": Pair(check(Draft(info_files={"INSTALLER": "pip\n"})), check(Draft(info_files={"INSTALLERS": "pip\n"}))),
    "W012": Pair(check(Draft(wheel=["Wheel-Version: 1.0", PURE, TAG, "Build: 1"])), check(Draft(build="1"))),
    "W013": Pair(packed(lambda root: (root / "bar.py").symlink_to("foo.py")), packed(lambda root: (root / "bar.py").write_text(MAIN) and None)),
    "W015": Pair(unpacked(Draft(), twice=True), unpacked(Draft())),
    "W016": Pair(served("", b"<!DOCTYPE html><title>Sign in</title>"), served("")),
    "W017": Pair(served("?signature=x"), served("")),
    "W018": Pair(check(files(**{"foo-1.0.data/purelib/foo.py": "x = 1\n"})), check(files(**{"foo-1.0.data/purelib/bar.py": "x = 1\n"}))),
    "W019": Pair(check(files(**{"foo-1.0.data/purelib/bar-1.0.dist-info/METADATA": "x"})), check(files(**{"foo/_vendor/bar-1.0.dist-info/METADATA": "x"}))),
    "W020": Pair(check(files(**{"foo-1.0.data/scripts/python": "#!python\n"})), check(files(**{"foo-1.0.data/scripts/pythonista": "#!python\n"}))),
    "W021": Pair(check(files(**{"a/aux.py": "x"})), check(files(**{"a/auxiliary.py": "x"}))),
    "W022": Pair(lambda place: run("wheel", "check", Draft().save(place, "foo-1.0.zip")), SOUND),
    "W023": Pair(on_wheel("retag", "--platform-tag=-linux_x86_64"), on_wheel("retag", "--platform-tag=linux_x86_64")),
    "W024": Pair(derived(Draft(files={"foo.py": "x = 1\n"})), derived(Draft(metadata=["Summary: the files are the same"]))),
    "W025": Pair(lambda place: run("wheel", "thin", Draft().save(place), "--targets", "gfx942", "-d", place), on_wheel("thin", "--targets", "gfx942")),
    "W026": Pair(on_wheel("edit", "--set", "Name=bar"), on_wheel("edit", "--set", "Summary=bar")),
}
