"""Defects of a wheel's container and metadata: `quarry wheel check` finds each, and says who refuses the wheel for it. What pip, uv
and `installer` do is tried; PyPI's answer to METADATA is that of the module `packaging.metadata`, which it uses."""

from __future__ import annotations

import platform
import struct
import sys
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.defective_wheels import CLIENTS, Draft, central_directory, changed, digest, end_record, refused_by_client, refused_by_packaging, with_descriptors  # noqa: E402
from support.quarry import ROOT, quarry, refused  # noqa: E402

MAIN = "def main(): pass\n"
FIRST = "Wheel-Version: 1.0"
PURE, TAG = "Root-Is-Purelib: true", "Tag: py3-none-any"


@dataclass
class Defect:
    code: str
    wheel: Draft | Callable[[Path], Path]
    resolve: bool = False  # pip and uv read the fields only when they resolve dependencies

    def save(self, place: Path) -> Path:
        return self.wheel.save(place) if isinstance(self.wheel, Draft) else self.wheel(place)


def archive(change) -> Callable[[Path], Path]:
    return lambda place: changed(Draft().save(place), change)


def with_files(**files: str) -> Draft:
    return Draft(files={"foo.py": "", **files})


def licensed(fields: list[str], *files: str) -> Draft:
    return Draft(metadata_version="2.4", metadata=fields, info_files={f"licenses/{name}": "text" for name in files})


def scripts(text: str, group: str = "[console_scripts]\n") -> Draft:
    return Draft(info_files={"entry_points.txt": group + text})


def with_entry_comment(data: bytearray) -> bytearray:
    entry = central_directory(data)
    name, extra = struct.unpack_from("<HH", data, entry + 28)
    at = entry + 46 + name + extra
    data[at:at] = b"note"
    struct.pack_into("<H", data, entry + 32, 4)
    end = end_record(data)
    struct.pack_into("<I", data, end + 12, struct.unpack_from("<I", data, end + 12)[0] + 4)
    return data


def with_other_byte(data: bytearray) -> bytearray:
    data[data.index(MAIN.encode())] ^= 1
    return data


def with_other_local_name(data: bytearray) -> bytearray:
    data[30:36] = b"bar.py"
    return data


def with_other_local_size(data: bytearray) -> bytearray:
    struct.pack_into("<I", data, 22, 5)
    return data


def with_mode(mode: int) -> Callable[[bytearray], bytearray]:
    def change(data: bytearray) -> bytearray:
        struct.pack_into("<I", data, central_directory(data) + 38, mode << 16)
        return data

    return change


def packed_with_lzma(place: Path) -> Path:
    path = Draft().save(place)
    with zipfile.ZipFile(path) as source:
        members = [(entry, source.read(entry)) for entry in source.infolist()]
    with zipfile.ZipFile(path, "w") as target:
        for entry, data in members:
            entry.compress_type = zipfile.ZIP_LZMA
            target.writestr(entry, data)
    return path


DEFECTS = {
    "a name twice": Defect("Z001", Draft(entries=[("foo.py", MAIN)])),
    "a name twice with other content": Defect("Z001", Draft(entries=[("foo.py", "x = 1\n")])),
    "other local name": Defect("Z003", archive(with_other_local_name)),
    "other local size": Defect("Z004", archive(with_other_local_size)),
    "damaged data": Defect("Z005", archive(with_other_byte)),
    "data descriptors": Defect("Z006", lambda place: with_descriptors(Draft().save(place))),
    "bytes before": Defect("Z008", archive(lambda data: b"#!/bin/sh\n" + data)),
    "bytes behind": Defect("Z009", archive(lambda data: data + b"trailing")),
    "entry comment": Defect("Z010", archive(with_entry_comment)),
    "archive comment": Defect("Z011", archive(lambda data: data[:-2] + struct.pack("<H", 4) + b"\x01\x02PK")),
    "control character": Defect("Z013", with_files(**{"a\x01b": "x"})),
    "another control character": Defect("Z013", with_files(**{"a\x1fb": "x"})),
    "invisible character": Defect("Z013", with_files(**{"a\u200bb": "x"})),
    "absolute name": Defect("Z014", with_files(**{"/nowhere/foo.txt": "x"})),
    "name that leads out": Defect("Z014", with_files(**{"../foo.txt": "x"})),
    "backslash": Defect("Z014", with_files(**{"a\\b.txt": "x"})),
    "lzma": Defect("Z015", packed_with_lzma),
    "case": Defect("Z017", with_files(**{"a/B.txt": "x", "a/b.txt": "y"})),
    "normalisation": Defect("Z017", with_files(**{"a/\u00e9.txt": "x", "a/e\u0301.txt": "y"})),
    "file and directory": Defect("Z018", with_files(**{"a": "x", "a/b.txt": "y"})),
    "link": Defect("Z019", archive(with_mode(0o120777))),
    "setuid": Defect("Z019", archive(with_mode(0o104755))),
    "device": Defect("Z019", archive(with_mode(0o020666))),
    "no RECORD": Defect("W001", Draft(without=("RECORD",))),
    "file without row": Defect("W002", Draft(record={"foo.py": None})),
    "row without file": Defect("W002", Draft(record_more="bar.py,sha256=abc,1\n")),
    "other digest": Defect("W003", Draft(record={"foo.py": f"foo.py,{digest(b'x')},{len(MAIN)}"})),
    "no digest": Defect("W003", Draft(record={"foo.py": "foo.py,,"})),
    "digest of RECORD": Defect("W004", Draft(record={"foo-1.0.dist-info/RECORD": f"foo-1.0.dist-info/RECORD,{digest(b'x')},1"})),
    "row of a signature": Defect("W004", Draft(record_more=f"foo-1.0.dist-info/RECORD.jws,{digest(b'x')},1\n")),
    "RECORD with an open quote": Defect("M008", Draft(record_more='"foo\n')),
    "wheel 2.0": Defect("W005", Draft(wheel=["Wheel-Version: 2.0", PURE, TAG])),
    "wheel 1.9": Defect("W005", Draft(wheel=["Wheel-Version: 1.9", PURE, TAG])),
    "dist-info of another project": Defect("W006", Draft(dist_info="bar-1.0.dist-info")),
    "dist-info of another version": Defect("W006", Draft(dist_info="foo-2.0.dist-info")),
    "two dist-info": Defect("W006", with_files(**{"bar-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: bar\nVersion: 1.0\n"})),
    "no METADATA": Defect("W006", Draft(without=("METADATA",))),
    "no WHEEL": Defect("W006", Draft(without=("WHEEL",))),
    "other name": Defect("W007", Draft(metadata_text="Metadata-Version: 2.1\nName: bar\nVersion: 1.0\n")),
    "other version": Defect("W007", Draft(metadata_text="Metadata-Version: 2.1\nName: foo\nVersion: 2.0\n")),
    "licence file outside in 2.1": Defect("W008", Draft(metadata=["License-File: ../LICENSE", "License-File: ../NOTICE"], info_files={"LICENSE": "MIT"}), resolve=True),
    "licence file that is missing": Defect("W008", Draft(metadata_version="2.4", metadata=["License-File: LICENSE"])),
    "entry point without =": Defect("W009", scripts("foo\n")),
    "script without function": Defect("W009", scripts("foo = foo\n")),
    "script with a blank in its function": Defect("W009", scripts("foo = foo:ma in\n")),
    "script twice": Defect("W009", scripts("foo = foo:main\nfoo = foo:main\n")),
    "script python": Defect("W009", scripts("python = foo:main\n")),
    "script with a slash": Defect("W009", scripts("a/b = foo:main\n")),
    "script that leads out": Defect("W009", scripts("../b = foo:main\n")),
    "script with a colon": Defect("W009", scripts("a:b = foo:main\n")),
    "entry point without group": Defect("W009", scripts("foo = foo:main\n", group="")),
    "plugin that is not an object": Defect("W009", scripts("foo = foo bar\n", group="[plugins]\n")),
    "unknown key of .data": Defect("W011", with_files(**{"foo-1.0.data/other/x": "x"})),
    ".data of another name": Defect("W011", with_files(**{"bar-1.0.data/data/x": "x"})),
    "INSTALLER": Defect("W011", Draft(info_files={"INSTALLER": "pip\n"})),
    "directory of scripts": Defect("W011", with_files(**{"foo-1.0.data/scripts/a/b": "#!python\n"})),
    "other tag in WHEEL": Defect("W012", Draft(wheel=[FIRST, PURE, "Tag: py3-none-linux_x86_64"])),
    "fewer tags in WHEEL": Defect("W012", Draft(tag="py2.py3-none-any", wheel=[FIRST, PURE, TAG])),
    "no tag in WHEEL": Defect("W012", Draft(wheel=[FIRST, PURE])),
    "other build in WHEEL": Defect("W012", Draft(wheel=[FIRST, PURE, TAG, "Build: 1"])),
    "Requires-Python": Defect("M005", Draft(metadata=["Requires-Python: >=3.x"]), resolve=True),
    "Requires-Dist": Defect("M010", Draft(metadata=["Requires-Dist: bar >= "]), resolve=True),
    "Provides-Extra": Defect("M011", Draft(metadata=["Provides-Extra: a b"]), resolve=True),
    "no Name": Defect("M006", Draft(metadata_text="Metadata-Version: 2.1\nVersion: 1.0\n")),
    "empty METADATA": Defect("M006", Draft(metadata_text="")),
    "METADATA in Latin-1": Defect("M006", Draft(metadata=["Summary: caf\udce9"]), resolve=True),
    "no Version": Defect("M006", Draft(metadata_text="Metadata-Version: 2.1\nName: foo\n")),
    "no Metadata-Version": Defect("M006", Draft(metadata_text="Name: foo\nVersion: 1.0\n"), resolve=True),
    "metadata 3.0": Defect("M006", Draft(metadata_version="3.0"), resolve=True),
    "Name twice": Defect("M006", Draft(metadata=["Name: foo"]), resolve=True),
    "no Wheel-Version": Defect("M007", Draft(wheel=[PURE, TAG])),
    "no Root-Is-Purelib": Defect("M007", Draft(wheel=[FIRST, TAG])),
    "Root-Is-Purelib: maybe": Defect("M007", Draft(wheel=[FIRST, "Root-Is-Purelib: maybe", TAG])),
    "metadata 2.0": Defect("Q201", Draft(metadata_version="2.0"), resolve=True),
    "metadata 2.9": Defect("Q201", Draft(metadata_version="2.9"), resolve=True),
    "License-Expression in 2.1": Defect("Q202", Draft(metadata=["License-Expression: MIT"])),
    "Dynamic in 2.1": Defect("Q202", Draft(metadata=["Dynamic: Summary"])),
    "Import-Name in 2.4": Defect("Q202", Draft(metadata_version="2.4", metadata=["Import-Name: foo"])),
    "unknown field": Defect("Q203", Draft(metadata=["Colour: blue"])),
    "licence file that is not listed": Defect("Q204", licensed(["License-File: LICENSE"], "LICENSE", "NOTICE")),
    "licence file outside": Defect("Q205", licensed(["License-File: ../LICENSE"])),
    "licence file as a pattern": Defect("Q205", licensed(["License-File: LICEN*"])),
    "licence file with a backslash": Defect("Q205", licensed(["License-File: a\\LICENSE"])),
    "licence in words": Defect("Q206", licensed(["License-Expression: MIT and also Apache"])),
    "licence that SPDX does not list": Defect("Q206", licensed(["License-Expression: MIT OR Apache"])),
    "exception in place of a licence": Defect("Q206", licensed(["License-Expression: LLVM-exception"])),
    "licence and expression": Defect("Q207", licensed(["License-Expression: MIT", "License: MIT"])),
    "classifier and expression": Defect("Q207", licensed(["License-Expression: MIT", "Classifier: License :: OSI Approved :: MIT License"])),
    "extra that is not declared": Defect("Q208", Draft(metadata=["Provides-Extra: y", "Requires-Dist: bar; 'x' == extra and python_version > '3'"]), resolve=True),
    "extra twice": Defect("Q209", Draft(metadata=["Provides-Extra: a_b", "Provides-Extra: a-b"]), resolve=True),
    "extra in another form": Defect("Q209", Draft(metadata_version="2.3", metadata=["Provides-Extra: A_b"]), resolve=True),
    "description in HTML": Defect("Q210", Draft(metadata=["Description-Content-Type: text/html"])),
    "description in Latin-1": Defect("Q210", Draft(metadata=["Description-Content-Type: text/plain; charset=latin-1"])),
    "description in another Markdown": Defect("Q210", Draft(metadata=["Description-Content-Type: text/markdown; variant=Other"])),
    "description without type": Defect("Q210", Draft(body="# Title")),
    "requirement by URL": Defect("Q211", Draft(metadata=["Requires-Dist: bar @ https://example.com/bar-1.0-py3-none-any.whl"])),
    "local version": Defect("Q212", Draft(version="1.0+local")),
    "unknown classifier": Defect("Q213", Draft(metadata=["Classifier: Programming Language :: Pithon"])),
    "deprecated classifier": Defect("Q213", Draft(metadata=["Classifier: Natural Language :: Ukranian"])),
    "long Summary": Defect("Q213", Draft(metadata=["Summary: " + 513 * "\u00e9"])),
    "Project-URL without label": Defect("Q213", Draft(metadata=["Project-URL: https://example.com"])),
    "Project-URL with a long label": Defect("Q213", Draft(metadata=[f"Project-URL: {33 * 'x'}, https://example.com"])),
    "dynamic Name": Defect("Q213", Draft(metadata_version="2.2", metadata=["Dynamic: Name"])),
    "old spelling": Defect("Q214", Draft(name="Foo.Bar")),
    "two spellings": Defect("Q214", Draft(name="foo_bar", dist_info="Foo.Bar-1.0.dist-info")),
    "linux_x86_64": Defect("Q215", Draft(tag="py3-none-linux_x86_64")),
    "two files for one place": Defect("W018", with_files(**{"foo-1.0.data/purelib/foo.py": "x"})),
    "script python below .data": Defect("W020", with_files(**{"foo-1.0.data/scripts/python": "x"})),
    "pyvenv.cfg": Defect("W020", with_files(**{"foo-1.0.data/data/pyvenv.cfg": "x"})),
    "script of a module that is missing": Defect("Q221", scripts("foo = foo.bar:main\n")),
    "script of a function that is missing": Defect("Q223", scripts("foo = foo:mian\n")),
    "compressed tags": Defect("Q222", Draft(tag="py2.py3-none-any", wheel=[FIRST, PURE, "Tag: py2.py3-none-any"])),
    "long path": Defect("Q231", with_files(**{f"a/{172 * 'x'}": "x"})),
    "name of a device": Defect("W021", with_files(**{"a/aux.py": "x"})),
    "character that Windows reserves": Defect("W021", with_files(**{"a/b?.txt": "x"})),
}


# What `packaging.metadata` refuses, and of these codes what PyPI alone refuses.
OF_PACKAGING = {"M005", "M006", "M010", "M011", "Q201", "Q202", "Q203", "Q205", "Q206", "Q210", "Q213"}
ONLY_PYPI = {"unknown classifier", "deprecated classifier", "long Summary", "Project-URL without label", "Project-URL with a long label"}

SOUND = {
    "everything of 2.5": Draft(
        metadata_version="2.5",
        metadata=[
            "Summary: " + 512 * "\u00e9", "License-Expression: MIT OR (Apache-2.0 WITH LLVM-exception)", "License-File: LICENSE", "License-File: third/NOTICE",
            "Classifier: Programming Language :: C++", "Classifier: Private :: Do Not Upload", "Project-URL: Source, https://example.com/a,b", "Requires-Python: >=3.9", "Provides-Extra: device-gfx942",
            "Requires-Dist: bar>=1,<2; extra == 'device_gfx942' and python_version >= '3.9'", "Requires-Dist: baz; 'linux' in sys_platform or extra != \"device-gfx942\"",
            "Description-Content-Type: text/markdown; charset=\"utf-8\"; variant=GFM", "Dynamic: Requires-Dist", "Import-Name: foo", "Import-Namespace: rocm",
        ],
        files={"foo.py": "def main(): pass\n", "rocm/foo/__init__.py": ""},
        body="# Title", info_files={"licenses/LICENSE": "text", "licenses/third/NOTICE": "text", "entry_points.txt": "[console_scripts]\nfoo = foo:main\n\n[plugins]\nfoo = foo\n"},
    ),
    "fields of 1.0": Draft(metadata_version="1.0", metadata=["Platform: any", "License: MIT", "Description: text"]),
    "two tags and a build": Draft(tag="py2.py3-none-any", build="2abc"),
    "names that differ in more than case": with_files(**{"a/B.txt": "x", "a/c.txt": "y"}),
}


def findings(*words: str | Path) -> list[dict]:
    return quarry("wheel", "check", "--json", *words).json["findings"]


def codes(*words: str | Path) -> set[str]:
    return {one["code"] for one in findings(*words)}


def test_a_sound_wheel(tmp_path):
    sound = Draft().save(tmp_path / "dist")
    assert findings(sound) == []
    assert not any(refused_by_client(name, sound, tmp_path / str(resolve), resolve) for name in CLIENTS for resolve in (False, True))
    assert not refused_by_packaging(sound, tmp_path)


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right(name, tmp_path):
    wheel = SOUND[name].save(tmp_path / "dist")
    assert [one for one in findings(wheel) if one["code"] != "Q210" or name != "fields of 1.0"] == []
    assert not refused_by_packaging(wheel, tmp_path)


def test_machines_that_pypi_has_no_wheels_for(tmp_path):
    for machine, found in (("loongarch64", {"Q215"}), ("riscv64", set())):
        wheel = Draft(tag=f"py3-none-manylinux_2_39_{machine}").save(tmp_path)
        assert {one["code"] for one in findings(wheel) if one["code"] == "Q215"} == found


@pytest.mark.parametrize("name", DEFECTS)
def test_who_refuses(name, tmp_path):
    defect = DEFECTS[name]
    wheel = defect.save(tmp_path / "dist")
    found = [one for one in findings(wheel) if one["code"] == defect.code]
    assert found and all(one["fix"] for one in found[:1]), findings(wheel)
    always, sometimes = set(found[0]["refused_by"]), set(found[0]["may_be_refused_by"])
    refusing = {one for one in CLIENTS if refused_by_client(one, wheel, tmp_path, defect.resolve)}
    assert always & set(CLIENTS) <= refusing <= always | sometimes, (refusing, always, sometimes)
    if defect.code in OF_PACKAGING and name not in ("description without type", *ONLY_PYPI):
        assert refused_by_packaging(wheel, tmp_path) and "PyPI" in always
    if defect.code in ("Q204", "Q208", "Q209") or name in ONLY_PYPI:
        assert not refused_by_packaging(wheel, tmp_path)


def test_both_forms_say_who_refuses(tmp_path):
    wheel = DEFECTS["a name twice"].save(tmp_path)
    done = quarry("wheel", "check", wheel)
    assert done.code == 6
    assert "\n  refused by: PyPI, installer; in some cases uv (uv if the contents differ)\n  hint: " in done.err
    document = quarry("wheel", "check", "--json", wheel).json
    assert document["findings"][0]["refused_by"] == ["PyPI", "installer"]
    assert [one["name"] for one in document["consumers"]] == ["PyPI", "pip", "uv", "installer"]
    assert "refused by: nobody: PyPI, pip, uv, installer take it" in quarry("wheel", "check", DEFECTS["case"].save(tmp_path / "other")).err


def test_the_table_names_the_versions_that_are_tried():
    table = tomllib.loads((ROOT / "data/refusals.toml").read_text())
    pins = dict(line.split("==") for line in (ROOT / "tests/requirements.txt").read_text().replace("  #", " #").split("\n") if "==" in line and "# client" in line)
    tried = {name: version.split()[0] for name, version in pins.items() if name in CLIENTS}
    said = {one["name"]: one["version"].split()[0].rstrip(",") for one in table["consumer"] if one["name"] in CLIENTS}
    assert said == tried


@dataclass
class Rivals:
    """Two wheels that compete, and which of them (0 or 1) each client installs; None: that depends on the order of the index."""

    code: str
    wheels: tuple[Draft, Draft]
    pip: int | None
    uv: int | None
    old_pip: int | None


RIVALS = {
    "a build number": Rivals("Q241", (Draft(), Draft(build="1")), 1, 1, 1),
    "numbers in their order": Rivals("Q241", (Draft(build="10"), Draft(build="9")), 0, 0, 0),
    "text behind the number": Rivals("Q241", (Draft(build="1a"), Draft(build="1b")), 1, 1, 1),
    "a build number with more tags": Rivals("Q241", (Draft(tag="py2.py3-none-any", build="2"), Draft()), 0, 0, 0),
    "spelling": Rivals("Q241", (Draft(name="Foo"), Draft()), None, None, None),
    "tags in common": Rivals("Q241", (Draft(tag="py2.py3-none-any"), Draft()), None, None, None),
    "spelling of the version": Rivals("Q241", (Draft(version="1.0"), Draft(version="1.0.0")), None, None, None),
    "linux and manylinux": Rivals("Q242", (Draft(tag="py3-none-linux_x86_64"), Draft(tag="py3-none-manylinux_2_17_x86_64")), 0, 1, 1),
    "linux and manylinux2014": Rivals("Q242", (Draft(tag="py3-none-manylinux2014_x86_64"), Draft(tag="py3-none-linux_x86_64", build="1")), 1, 0, 0),
}


def installed(name: str, wheels: list[Path], place: Path) -> str:
    """The content of which.txt of the wheel that the client takes from a page that lists them in this order."""
    (place / "simple/foo").mkdir(parents=True)
    (place / "simple/foo/index.html").write_text("".join(f'<a href="../../{one.name}">{one.name}</a>\n' for one in wheels))
    for one in wheels:
        (place / one.name).write_bytes(one.read_bytes())
    target = place / "target"
    with static_server.serve(place) as (url, _):
        if name == "uv":
            done = client("uv").run("pip", "install", "--no-cache", "--python", sys.executable, "--target", target, "--default-index", f"{url}/simple/", "foo")
        else:
            done = client(name).run("install", "--no-cache-dir", "--index-url", f"{url}/simple/", "--target", target, "foo")
    assert done.returncode == 0, done.stderr
    return (target / "which.txt").read_text()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86_64")
@pytest.mark.parametrize("name", RIVALS)
def test_which_of_two_wheels_is_installed(name, tmp_path):
    rivals = RIVALS[name]
    for number, draft in enumerate(rivals.wheels):
        draft.files = {"which.txt": str(number)}
    wheels = [draft.save(tmp_path / "dist") for draft in rivals.wheels]
    message = next(one["message"] for one in findings(tmp_path / "dist") if one["code"] == rivals.code)
    assert all(one.name in message or one.name in next(f["place"] for f in findings(tmp_path / "dist") if f["code"] == rivals.code) for one in wheels)
    if rivals.pip is None:
        assert "pip installs the one that the index lists last" in message
        for order in ([0, 1], [1, 0]):
            assert installed("pip-newest", [wheels[n] for n in order], tmp_path / f"pip{order[0]}") == str(order[1])
        return
    expected = [("pip-newest", rivals.pip), ("uv", rivals.uv), ("pip-oldest", rivals.old_pip)]
    for client_name, number in expected:
        assert installed(client_name, wheels, tmp_path / client_name) == str(number), client_name
    if rivals.code == "Q241":
        assert f"pip and uv install {wheels[rivals.pip].name}," in message
    else:
        assert f"pip 26 installs {wheels[rivals.pip].name}, uv and pip 22 install {wheels[rivals.uv].name}" in message


def test_the_first_match_of_a_pattern_is_named(tmp_path):
    first, second = Draft(build="1").save(tmp_path / "dist"), Draft(build="10").save(tmp_path / "dist")
    [finding] = [one for one in findings(tmp_path / "dist") if one["code"] == "Q241"]
    assert finding["severity"] == "error" and finding["message"].endswith(f"takes the first match takes {min(first.name, second.name)}")
    assert quarry("wheel", "check", tmp_path / "dist").code == 1


def test_one_name_in_two_directories(tmp_path):
    one, copy = Draft().save(tmp_path / "a"), Draft().save(tmp_path / "b")
    other = Draft(files={"foo.py": "x = 1\n"}).save(tmp_path / "c")
    assert findings(one, copy) == []
    assert codes(one, other) == {"Q241"}


def test_wheels_that_do_not_compete(tmp_path):
    for draft in (
        Draft(), Draft(version="1.1"), Draft(name="bar"), Draft(tag="py3-none-win_amd64"), Draft(tag="py3-none-manylinux_2_17_x86_64"),
        Draft(tag="py3-none-manylinux_2_28_x86_64"), Draft(tag="py3-none-linux_aarch64"), Draft(tag="cp312-cp312-linux_x86_64"), Draft(tag="py3-none-musllinux_1_2_x86_64"),
    ):
        draft.save(tmp_path)
    assert not codes(tmp_path) & {"Q241", "Q242"}


# The longest that fits: 259 characters of a file and 247 of its directory, 88 of them of site-packages.
@pytest.mark.parametrize(
    "path, fits",
    [
        (f"a/{169 * 'x'}", True), (f"a/{170 * 'x'}", False), (f"{159 * 'd'}/x", True), (f"{160 * 'd'}/x", False),
        ("a/" + 120 * "\u00e9", True), (60 * "\U0001f600" + "/" + 25 * "\U0001f600", True), (60 * "\U0001f600" + "/" + 26 * "\U0001f600", False),
        (f"foo-1.0.data/purelib/a/{169 * 'x'}", True), (f"foo-1.0.data/purelib/a/{170 * 'x'}", False), (f"foo-1.0.data/data/a/{170 * 'x'}", True),
    ],
    ids=range(10),
)
def test_lengths_of_paths(path, fits, tmp_path):
    assert ("Q231" not in codes(with_files(**{path: "x"}).save(tmp_path))) == fits


def test_windows_prefix(tmp_path):
    wheel = with_files(**{f"a/{100 * 'x'}": "x"}).save(tmp_path)
    assert codes(wheel) == set() and codes("--windows-prefix", "157", wheel) == set() and codes("--windows-prefix", "158", wheel) == {"Q231"}
    for wrong in ("-1", "x", "248"):
        refused("C006", 2, "wheel", "check", f"--windows-prefix={wrong}", wheel)
    linux = Draft(tag="py3-none-manylinux_2_17_x86_64", files={f"a/{200 * 'x'}": "x"}).save(tmp_path)
    assert "Q231" not in codes(linux)
    assert "Q231" in codes(Draft(tag="py3-none-win_amd64", files={f"a/{200 * 'x'}": "x"}).save(tmp_path))


@pytest.mark.parametrize(
    "value, files, severity",
    [
        ("foo:main", {"foo.py": ""}, None), ("a.b:main", {"a/b.py": ""}, None), ("a.b:main", {"a/b/__init__.py": ""}, None), ("a.b:main", {"a/b/c.py": ""}, None),
        ("a.b:main", {"a/b.cpython-312-x86_64-linux-gnu.so": ""}, None), ("a.b:main", {"foo-1.0.data/purelib/a/b.py": ""}, None), ("a.b:main", {"a/b.txt": ""}, "warning"),
        ("a.b:main", {"a/__init__.py": ""}, "warning"), ("a.b:main", {"foo-1.0.data/scripts/a/b.py": ""}, "note"), ("bar:main", {"foo.py": ""}, "note"), ("ab:main", {"a/b.py": ""}, "note"),
    ],
    ids=range(11),
)
def test_modules_of_entry_points(value, files, severity, tmp_path):
    draft = scripts(f"foo = {value}\n")
    draft.files = files
    found = [one["severity"] for one in findings(draft.save(tmp_path)) if one["code"] == "Q221"]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(
    "value, files, found",
    [
        ("foo:mian", {"foo.py": MAIN}, True), ("foo:main.mian", {"foo.py": MAIN}, False), ("foo:mian.main", {"foo.py": MAIN}, True),
        ("foo:mian", {"foo.py": "# mian\n"}, False), ("foo:mian", {"foo.py": "from bar import *\n"}, False), ("foo:mian", {"foo.py": "x = '\u00e4'\n"}, False),
        ("a.b:mian", {"a/b/__init__.py": MAIN}, True), ("a.b:mian", {"a/b/__init__.py": MAIN, "a/b/mian.py": ""}, False), ("a.b:mian", {"a/b.py": MAIN, "a/b/__init__.py": ""}, False),
        ("a.b:mian", {"a/b.py": MAIN, "a/b.cpython-312-x86_64-linux-gnu.so": ""}, False), ("a.b:mian", {"a/b.py": MAIN, "a/b.pyi": "", "a/b-old.py": ""}, True),
        ("a.b:mian", {"foo-1.0.data/purelib/a/b.py": MAIN}, True), ("a.b:mian", {"a/b.pyx": MAIN}, False), ("a:mian", {"a/b.py": MAIN}, False),
    ],
    ids=range(14),
)
def test_attributes_of_entry_points(value, files, found, tmp_path):
    draft = scripts(f"foo = {value}\n")
    draft.files = files
    assert ("Q223" in codes(draft.save(tmp_path))) == found


def test_a_module_that_two_wheels_have_is_not_judged(tmp_path):
    draft = scripts("foo = foo:mian\n")
    user, other = draft.save(tmp_path), Draft(name="bar", files={"foo.py": "x = 1\n"}).save(tmp_path)
    assert codes(user) == {"Q223"} and "Q223" not in codes(user, other)


def test_modules_are_looked_for_in_all_wheels(tmp_path):
    draft = scripts("foo = bar.tool:main\n")
    user, library = draft.save(tmp_path), Draft(name="bar", files={"bar/tool.py": ""}).save(tmp_path)
    assert codes(user) == {"Q221"} and codes(user, library) == set()
