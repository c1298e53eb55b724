"""`quarry wheel check` and `quarry wheel inspect` on wheels with libraries that gcc makes."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import small_windows_artifacts  # noqa: E402
from support.native_wheels import library, wheel  # noqa: E402
from support.quarry import ROOT, good, quarry, refused  # noqa: E402

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


def with_record(made: Path, digest: str | None) -> Path:
    """The wheel with this digest of each file in RECORD; None: without RECORD."""
    with zipfile.ZipFile(made) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    record = next(name for name in files if name.endswith("/RECORD"))
    files[record] = "".join(f"{name},{digest if name != record else ''},\n" for name in files).encode()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            if digest is not None or name != record:
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    return made


@pytest.mark.parametrize("digest", ["", "sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
def test_files_are_looked_at_whatever_record_says(tmp_path, digest):
    made = with_record(wheel(tmp_path, "x", {"x/l.so": library(tmp_path / "l", "l.so", "-Wl,-rpath,/opt/rocm/lib")}), digest)
    assert {"W003", "Q104"} <= codes(made)
    assert quarry("wheel", "inspect", "--json", made).json["policy"]["tag"] == "manylinux_2_5_x86_64"


def test_a_record_without_digests_can_be_accepted(tmp_path):
    made = with_record(wheel(tmp_path, "x", {"x/l.so": library(tmp_path / "l", "l.so")}), "")
    done = quarry("wheel", "check", made)
    assert done.code == 6 and "[W003]" in done.err and "manylinux_2_5_x86_64 holds" in done.out, done
    known = tmp_path / "known.json"
    known.write_text(quarry("wheel", "check", "--json", made).out)
    assert "manylinux_2_5_x86_64 holds" in good("wheel", "check", made, "--baseline", known).out
    own = tmp_path / "own.toml"
    own.write_text('schema = "quarry.suppressions/1"\n[[suppress]]\ncode = "W003"\nreason = "another project makes it"\nowner = "build"\nuntil = "2099-01-01"\n')
    good("wheel", "check", made, "--suppressions", own)
    other = with_record(wheel(tmp_path, "y", {"y/l.so": library(tmp_path / "m", "l.so")}, "py3-none-any"), "")
    refused("Q107", 1, "wheel", "check", other, "--suppressions", own)


def test_a_wheel_whose_files_were_not_looked_at_is_never_accepted(tmp_path):
    made = with_record(wheel(tmp_path, "x", {"x/l.so": library(tmp_path / "l", "l.so")}), None)
    assert "Q255" not in codes(made)
    known = tmp_path / "known.json"
    known.write_text(quarry("wheel", "check", "--json", made).out)
    done = quarry("wheel", "check", made, "--baseline", known)
    assert done.code == 6 and "no verdict, because" in done.out and "neither suppressed nor" in done.out
    assert "no verdict, because" in quarry("wheel", "inspect", made).out


SUPPRESS_W003 = 'schema = "quarry.suppressions/1"\n[[suppress]]\ncode = "W003"\nreason = "another project makes it"\nowner = "build"\nuntil = "2099-01-01"\n'


def test_what_is_accepted_hides_no_file_that_record_lacks(tmp_path):
    made = with_record(wheel(tmp_path, "x", {f"x/{number:03}.py": b"one = 1\n" for number in range(150)}), "")
    own = tmp_path / "own.toml"
    own.write_text(SUPPRESS_W003)
    good("wheel", "check", made, "--suppressions", own)
    known = tmp_path / "known.json"
    known.write_text(quarry("wheel", "check", "--json", made).out)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("zz/evil.py", b"one = 2\n")
    for words in (["--suppressions", own], ["--baseline", known]):
        done = quarry("wheel", "check", made, *words)
        assert done.code == 6 and "[W002]" in done.err and "zz/evil.py" in done.err, done


def test_a_record_with_more_defects_than_are_listed_is_never_accepted(tmp_path):
    made = with_record(wheel(tmp_path, "x", {f"x/{number}.py": b"" for number in range(10_001)}), "")
    own = tmp_path / "own.toml"
    own.write_text(SUPPRESS_W003)
    done = quarry("wheel", "check", made, "--suppressions", own)
    assert done.code == 6 and "too many defects" in done.out, done


def test_a_member_that_cannot_be_inflated_is_never_accepted(tmp_path):
    made = wheel(tmp_path, "x", {"x/l.so": library(tmp_path / "l", "l.so")})
    data = bytearray(made.read_bytes())
    at = data.index(b"PK\x01\x02")
    for start in (14, at + 16):  # the CRC of the first member, in both of its headers
        data[start] ^= 1
    made.write_bytes(data)
    known = tmp_path / "known.json"
    known.write_text(quarry("wheel", "check", "--json", made).out)
    done = quarry("wheel", "check", made, "--baseline", known, "--json")
    assert done.code == 6 and done.json["files"][0]["policy"]["tag"] is None, done
    assert "no verdict, because" in quarry("wheel", "check", made, "--baseline", known).out


def test_newer_symbols_than_the_tag_promises(tmp_path):
    source = "#include <pthread.h>\nint one(void) { return pthread_create(0, 0, 0, 0); }\n"  # a symbol of GLIBC_2.34
    new = {"x/l.so": library(tmp_path / "l", "l.so", "-Wl,-z,relro", "-lc", source=source)}
    old = wheel(tmp_path, "old", new)
    done = refused("Q101", 1, "wheel", "check", old)
    assert "GLIBC_2.34 (x/l.so)" in done.err and "quarry wheel retag --platform-tag manylinux_2_34_x86_64" in done.err
    assert "Q101" not in codes(wheel(tmp_path, "new", new, "py3-none-manylinux_2_34_x86_64"))
    assert "Q101" not in codes(wheel(tmp_path, "none", new, "py3-none-linux_x86_64"))


def test_a_library_that_the_run_path_misses(tmp_path):
    held = library(tmp_path / "b", "libb.so")
    source = "int one(void); int two(void) { return one() + 1; }\n"
    user = lambda *flags: library(tmp_path / "u", "libu.so", str(tmp_path / "b/libb.so"), "-Wl,--no-as-needed", *flags, source=source)  # noqa: E731
    missed = quarry("wheel", "check", wheel(tmp_path, "missed", {"x/libu.so": user(), "x/lib/libb.so": held}))
    assert "[Q103]" in missed.err and "x/lib/libb.so (x/libu.so)" in missed.err
    assert not {"Q102", "Q103"} & codes(wheel(tmp_path, "found", {"x/libu.so": user("-Wl,-rpath,$ORIGIN/lib"), "x/lib/libb.so": held}))


def test_private_symbols_of_libz(tmp_path):
    library(tmp_path / "z", "libz.so.1", source="int inflate_fast(void) { return 1; } int inflate(void) { return 2; }\n")
    user = lambda symbol: library(tmp_path / "u", "libu.so", str(tmp_path / "z/libz.so.1"), source=f"int {symbol}(void); int two(void) {{ return {symbol}() + 1; }}\n")  # noqa: E731
    hidden = wheel(tmp_path, "hidden", {"x/libu.so": user("inflate_fast")})
    assert "inflate_fast (x/libu.so)" in refused("Q110", 1, "wheel", "check", hidden).err
    assert good("wheel", "inspect", "--json", hidden).json["policy"]["tag"] == "linux_x86_64"
    assert not {"Q102", "Q110"} & codes(wheel(tmp_path, "public", {"x/libu.so": user("inflate")}))


def test_text_relocations(tmp_path):
    in_code = 'int a; __asm__(".text\\n.quad a\\n");\n'
    assert "Q111" in codes(wheel(tmp_path, "code", {"x/l.so": library(tmp_path / "c", "l.so", "-Wl,-z,notext", source=in_code)}))
    in_data = 'int a; __asm__(".data\\n.quad a\\n");\n'
    assert "Q111" not in codes(wheel(tmp_path, "data", {"x/l.so": library(tmp_path / "d", "l.so", source=in_data)}))


MEBIBYTE = 1 << 20


@pytest.mark.parametrize(("size", "found"), [(MEBIBYTE, True), (MEBIBYTE - 1, False)])
def test_debug_information(tmp_path, size, found):
    source = f'int one(void) {{ return 1; }} __asm__(".section .debug_info\\n.zero {size}\\n");\n'
    debug = library(tmp_path / "g", "l.so", "-g0", source=source)
    assert ("Q113" in codes(wheel(tmp_path, "debug", {"x/l.so": debug}))) == found


def test_the_same_content_several_times(tmp_path):
    data = bytes(range(256)) * 4096
    several = quarry("wheel", "check", wheel(tmp_path, "twice", {"x/liba.so.1": data, "x/liba.so": data}, "py3-none-any"))
    assert "[Q114]" in several.err and "1.05 MB" in several.err
    assert "Q114" not in codes(wheel(tmp_path, "less", {"x/a": data[:-1], "x/b": data[:-1]}, "py3-none-any"))
    assert "Q114" not in codes(wheel(tmp_path, "other", {"x/a": data, "x/b": data[::-1]}, "py3-none-any"))


@pytest.mark.skipif(not small_windows_artifacts.available(), reason="needs gcc-mingw-w64-x86-64 (tools/setup --test)")
def test_a_dll_that_is_nowhere(tmp_path):
    windows = "py3-none-win_amd64"
    small_windows_artifacts.compile_dll(tmp_path / "other.dll", "other", f"-Wl,--out-implib,{tmp_path / 'other.lib'}")
    program = [small_windows_artifacts.COMPILER, "-s", "-x", "c", "-", "-o", tmp_path / "user.exe", f"-L{tmp_path}", "-l:other.lib"]
    subprocess.run(program, input=b"const char *other(void); int main(void) { return other() == 0; }\n", check=True)
    user, other = {"x/user.exe": (tmp_path / "user.exe").read_bytes()}, {"y/Other.DLL": (tmp_path / "other.dll").read_bytes()}
    top, base = wheel(tmp_path, "top", user, windows), wheel(tmp_path, "base", other, windows)
    nowhere = quarry("wheel", "check", top)
    assert "[Q116]" in nowhere.err and "other.dll (x/user.exe)" in nowhere.err and "kernel32" not in nowhere.err.lower()
    assert "Q116" not in codes(top, base)
    for name in ("other.dll", "OTHER.DLL", "Oth*"):  # as Windows, which does not tell them apart
        assert "Q116" not in codes(top, "--allow-library", name)
    assert "Q116" not in codes(wheel(tmp_path, "both", user | other, windows))


def test_warnings_fail_with_strict(tmp_path):
    pure = wheel(tmp_path, "pure", {"x/l.so": library(tmp_path / "p", "l.so", "-Wl,-rpath,/opt")})
    assert quarry("wheel", "check", pure).code == 0
    assert quarry("wheel", "check", "--strict", pure).code == 1


def fields(value: object) -> set[str]:
    """Keys of all objects, but for those whose keys are data."""
    if isinstance(value, dict):
        return set(value) | {key for name, one in value.items() if name != "versions" for key in fields(one)}
    return {key for one in value for key in fields(one)} if isinstance(value, list) else set()


def test_the_documents_are_described(tmp_path):
    linked = library(tmp_path / "l", "l.so", "-lc", source="#include <pthread.h>\nint one(void) { return pthread_create(0, 0, 0, 0); }\n")
    one = wheel(tmp_path, "one", {"x/l.so": linked})
    page = (ROOT / "docs/formats/wheel-check.md").read_text()
    for command in ("check", "inspect"):
        document = quarry("wheel", command, "--json", one).json
        assert f"## `{document['schema']}`" in page
        assert not [key for key in fields(document) - {"schema"} if f"`{key}`" not in page]


def test_wrong_input(tmp_path):
    refused("W022", 2, "wheel", "check", __file__)
    refused("W022", 3, "wheel", "check", tmp_path)


def test_wheels_of_one_name_are_told_apart(tmp_path):
    files = {"x/l.so": library(tmp_path / "l", "l.so", "-Wl,-rpath,/opt/rocm/lib")}
    (tmp_path / "b").mkdir()
    one, two = wheel(tmp_path, "x", files), wheel(tmp_path / "b", "x", {**files, "x/more": b"more"})
    found = quarry("wheel", "check", "--json", one, two).json["findings"]
    places = {code: {each["place"] for each in found if each["code"] == code} for code in ("Q104", "Q241")}
    assert places["Q104"] == {str(one), str(two)} and places["Q241"] == {str(two)}
    assert {each["place"] for each in quarry("wheel", "check", "--json", one).json["findings"] if each["code"] == "Q104"} == {one.name}


def test_wheels_of_one_name_compete_unless_they_are_one(tmp_path):
    """Their digests decide, also where no document shows them."""
    (tmp_path / "b").mkdir()
    one, other = wheel(tmp_path, "x", {"x/a": b"a"}), wheel(tmp_path / "b", "x", {"x/a": b"b"})
    copy = tmp_path / "c" / one.name
    copy.parent.mkdir()
    shutil.copy(one, copy)
    assert "Q241" in quarry("wheel", "check", one, other).err
    assert "Q241" not in quarry("wheel", "check", one, copy).err


def test_documents_hold_the_digest_of_the_file(tmp_path):
    one = wheel(tmp_path, "x", {"x/a": b"a"})
    digest = hashlib.sha256(one.read_bytes()).hexdigest()
    for words in (("check", "--json"), ("check", "--format", "json"), ("verify", "--json")):
        assert json.loads(quarry("wheel", *words, one).out)["files"][0]["sha256"] == digest
    assert quarry("wheel", "inspect", "--json", one).json["sha256"] == digest


def test_a_damaged_library_is_one_finding(tmp_path):
    data = library(tmp_path / "l", "l.so", "-Wl,-z,relro")
    done = quarry("wheel", "check", "--json", wheel(tmp_path, "x", {"x/l.so": data[: len(data) // 2]}))
    assert [each["code"] for each in done.json["findings"] if each["severity"] == "error"] == ["E001"]


def test_other_tags_in_wheel_are_said_from_the_side_that_has_them(tmp_path):
    made = wheel(tmp_path, "x", {"x/a.py": b"a = 1\n"}, "py3-none-any", "true")
    more = made.rename(tmp_path / "x-1.0-py2.py3-none-any.whl")
    (found,) = [each for each in quarry("wheel", "check", "--json", more).json["findings"] if each["code"] == "W012"]
    assert found["message"] == "the file name has tags that WHEEL lacks: py2-none-any"


def test_a_library_for_a_big_endian_machine(tmp_path):
    data = bytearray(library(tmp_path / "l", "l.so"))
    data[5] = 2  # EI_DATA
    made = wheel(tmp_path, "x", {"x/l.so": bytes(data), "x/m.so": bytes(data)}, "py3-none-manylinux_2_28_s390x")
    done = good("wheel", "check", made)
    assert "for s390x: no table says what holds" in done.out
    assert "big-endian" not in done.err or done.err.count("big-endian") == 1, "equal findings are one"
