"""What the payload may hold. Everything is checked before anything is written."""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
from pathlib import Path

import pytest

TOP = "_rocm_sdk_devel"


@pytest.fixture
def payload(sdk):
    from rocm_sdk import _payload

    return _payload


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def tar(*members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for each in members:
            archive.addfile(each, io.BytesIO(bytes(each.size)))
    return buffer.getvalue()


def plan(payload, tmp_path: Path, *members: tarfile.TarInfo):
    path = tmp_path / "_devel.tar"
    path.write_bytes(tar(*members))
    with payload.opened(path) as archive:
        return payload.plan(archive, TOP)


def test_members_by_what_they_become(payload, tmp_path: Path) -> None:
    found = plan(
        payload, tmp_path,
        member(TOP, tarfile.DIRTYPE), member(f"{TOP}/lib", tarfile.DIRTYPE), member(f"{TOP}/lib/a.so.1"),
        member(f"{TOP}/lib/a.so", tarfile.SYMTYPE, "a.so.1"), member(f"{TOP}/up", tarfile.SYMTYPE, "../_rocm_sdk_core/bin/x"),
        member(f"{TOP}/lib/cross", tarfile.SYMTYPE, "../include/dir"),
    )  # fmt: skip
    assert found.directories == ["lib"]
    assert [path for path, _ in found.files] == ["lib/a.so.1"]
    assert found.own_links == [("lib/a.so", "a.so.1"), ("lib/cross", "../include/dir")]
    assert found.sibling_links == [("up", "../_rocm_sdk_core/bin/x", "_rocm_sdk_core/bin/x")]
    assert found.paths() == ["lib/a.so", "lib/a.so.1", "lib/cross", "up"]


SYM = tarfile.SYMTYPE
HOSTILE = {
    "another top": [member("other/x")],
    "the top alone as a file": [member(TOP)],
    "absolute": [member(f"/{TOP}/x")],
    "parent": [member(f"{TOP}/../x")],
    "parent inside": [member(f"{TOP}/a/../x")],
    "dot": [member(f"{TOP}/./x")],
    "empty component": [member(f"{TOP}//x")],
    "backslash": [member(f"{TOP}/a\\..\\x")],
    "control character": [member(f"{TOP}/a\nb")],
    "name too long": [member(f"{TOP}/" + "d/" * 3000 + "x")],
    "twice": [member(f"{TOP}/x"), member(f"{TOP}/x")],
    "file and directory": [member(f"{TOP}/x"), member(f"{TOP}/x", tarfile.DIRTYPE)],
    "below a file": [member(f"{TOP}/x"), member(f"{TOP}/x/y")],
    "below a link": [member(f"{TOP}/x", SYM, "lib"), member(f"{TOP}/x/y")],
    "below a link that comes later": [member(f"{TOP}/x/y"), member(f"{TOP}/x", SYM, "../_rocm_sdk_core")],
    "link absolute": [member(f"{TOP}/x", SYM, "/etc/passwd")],
    "link out": [member(f"{TOP}/x", SYM, "../../etc/passwd")],
    "link out by one": [member(f"{TOP}/a/x", SYM, "../../../x")],
    "link to site-packages": [member(f"{TOP}/x", SYM, "..")],
    "link with a parent in the middle": [member(f"{TOP}/x", SYM, "lib/../../_rocm_sdk_core")],
    "link to nothing": [member(f"{TOP}/x", SYM, "")],
    "link with a dot": [member(f"{TOP}/x", SYM, "./y")],
    "hard link": [member(f"{TOP}/x"), member(f"{TOP}/y", tarfile.LNKTYPE, f"{TOP}/x")],
    "fifo": [member(f"{TOP}/x", tarfile.FIFOTYPE)],
    "device": [member(f"{TOP}/x", tarfile.CHRTYPE)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refused(payload, tmp_path: Path, name: str) -> None:
    with pytest.raises(payload.PayloadError, match="must not be unpacked"):
        plan(payload, tmp_path, *HOSTILE[name])


@pytest.mark.skipif(sys.platform == "win32", reason="colons are refused there")
def test_odd_names_that_are_fine(payload, tmp_path: Path) -> None:
    names = [f"{TOP}/a b", f'{TOP}/ä,"c"', f"{TOP}/...", f"{TOP}/x:y", f"{TOP}/" + "n" * 200]
    assert len(plan(payload, tmp_path, *map(member, names)).files) == len(names)


def big(size: int) -> tarfile.TarInfo:
    found = member(f"{TOP}/big")
    found.size = size
    return found


DAMAGE = {
    "empty": lambda data: b"",
    "no tar": lambda data: b"x" * 2000,
    "header of the second member": lambda data: data[:1024] + b"\xff" * 512 + data[1536:],
    "cut at a member": lambda data: data[:1024],
    "cut inside a header": lambda data: data[:1300],
    "cut inside a file": lambda data: data[:4000],
    "one end block": lambda data: data[: 512 + 512 + 512 + 10240 + 512],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_not_the_end(payload, tmp_path: Path, name: str) -> None:
    small = member(f"{TOP}/small")
    small.size = 5
    path = tmp_path / "_devel.tar"
    path.write_bytes(DAMAGE[name](tar(small, big(10240))))
    with pytest.raises(payload.PayloadError, match="damaged"):
        with payload.opened(path):
            pass


def test_xz(payload, tmp_path: Path) -> None:
    path = tmp_path / "_devel.tar.xz"
    whole = lzma.compress(tar(member(f"{TOP}/x"), big(100_000)))
    path.write_bytes(whole)
    with payload.opened(path) as archive:
        assert [name for name, _ in payload.plan(archive, TOP).files] == ["x", "big"]
    for damaged in (whole[:-20], whole[:50] + b"\x00\x01\x02" + whole[53:], b"no xz"):
        path.write_bytes(damaged)
        with pytest.raises(payload.PayloadError, match="damaged"):
            with payload.opened(path):
                pass


def test_zstd_needs_a_python_that_has_it(payload, tmp_path: Path) -> None:
    path = tmp_path / "_devel.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\x00")
    message = "damaged" if sys.version_info >= (3, 14) else "needs zstd, which Python has from 3.14 on"
    with pytest.raises(payload.PayloadError, match=message):
        with payload.opened(path):
            pass


def test_which_payload(payload, tmp_path: Path) -> None:
    assert payload.find(tmp_path) is None
    (tmp_path / "_devel.tar.xz").touch()
    assert payload.find(tmp_path) == tmp_path / "_devel.tar.xz"
