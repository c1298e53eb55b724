"""`quarry wheel check` and `quarry wheel inspect` on wheels with libraries that gcc makes."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import good, quarry, refused  # noqa: E402

ONE = "int one(void) { return 1; }\n"


def library(place: Path, name: str, *flags: str, source: str = ONE) -> bytes:
    place.mkdir(exist_ok=True)
    (place / "source.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{name}", str(place / "source.c"), "-o", str(place / name), *flags], check=True)
    return (place / name).read_bytes()


def wheel(place: Path, name: str, files: dict[str, bytes], tag: str = "py3-none-manylinux_2_28_x86_64", pure: str = "false") -> Path:
    info = f"{name}-1.0.dist-info"
    members = dict(files)
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode()
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in members.items()) + f"{info}/RECORD,,\n"
    path = place / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in [*members.items(), (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def codes(*words: str | Path) -> set[str]:
    return {one["code"] for one in quarry("wheel", "check", "--json", *words).json["findings"]}


def test_a_good_wheel_has_no_findings(tmp_path):
    sound = wheel(tmp_path, "sound", {"sound/liba.so": library(tmp_path / "a", "liba.so", "-Wl,-z,relro", source="int a; int *b = &a;\n")})
    assert codes(sound) == set()
    assert "no errors or warnings" in good("wheel", "check", sound).out
    assert good("wheel", "inspect", "--json", sound).json["policy"]["tag"] == "manylinux_2_5_x86_64"


def test_libraries_are_looked_for_in_all_wheels(tmp_path):
    data = library(tmp_path / "b", "libb.so")
    user = library(tmp_path / "u", "libu.so", str(tmp_path / "b/libb.so"), "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN/../base", source="int one(void); int two(void) { return one() + 1; }\n")
    base, top = wheel(tmp_path, "base", {"base/libb.so": data}), wheel(tmp_path, "top", {"top/libu.so": user})
    refused("Q102", 1, "wheel", "check", top)
    assert "Q102" not in codes(top, base) and "Q103" not in codes(top, base)
    assert "Q102" not in codes(top, "--allow-library", "libb.so*")
    assert good("wheel", "inspect", "--json", base).json["elf"][0]["soname"] == "libb.so"


def test_rules(tmp_path):
    plain = library(tmp_path / "p", "libp.so")
    rows = {
        "Q104": {"x/l.so": library(tmp_path / "4", "l.so", "-Wl,-rpath,/opt/rocm/lib")},
        "Q105": {"x/l.so": library(tmp_path / "5", "l.so", "-Wl,-rpath,lib")},
        "Q109": {"x/l.so": library(tmp_path / "9", "l.so", "-Wl,-z,x86-64-v3")},
        "Q112": {"x/l.so": library(tmp_path / "12", "l.so", "-Wl,-z,norelro")},
        "Q115": {"x/l.cpython-39-x86_64-linux-gnu.so": plain},
    }
    for code, files in rows.items():
        (tmp_path / code).mkdir()
        assert code in codes(wheel(tmp_path / code, "x", files)), code
    assert "Q106" in codes(wheel(tmp_path, "arm", {"x/l.so": plain}, "py3-none-manylinux_2_28_aarch64"))
    assert "Q107" in codes(wheel(tmp_path, "all", {"x/l.so": plain}, "py3-none-any"))
    assert "Q108" in codes(wheel(tmp_path, "pure", {"x/l.so": plain}, pure="true"))


def test_warnings_fail_with_strict(tmp_path):
    pure = wheel(tmp_path, "pure", {"x/l.so": library(tmp_path / "p", "l.so", "-Wl,-rpath,/opt")})
    assert quarry("wheel", "check", pure).code == 0
    assert quarry("wheel", "check", "--strict", pure).code == 1


def test_wrong_input(tmp_path):
    refused("W022", 2, "wheel", "check", __file__)
    refused("W022", 3, "wheel", "check", tmp_path)
