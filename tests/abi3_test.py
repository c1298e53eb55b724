"""`quarry wheel check` and abi3audit say the same about the stable ABI: of wheels of PyPI, and of modules made for one case each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.clients import client  # noqa: E402
from support.native_wheels import library, wheel  # noqa: E402
from support.pypi_wheels import fetched, recorded  # noqa: E402
from support.quarry import quarry  # noqa: E402

WHEELS = [one for one in recorded() if "-abi3-" in one.file and one.is_for_linux and one.size < 8_000_000]
CALLS = {
    "part of it": ("cp38", ["PyList_New", "PyErr_SetString"]),
    "private": ("cp38", ["_PyList_Extend", "PyList_New"]),
    "never part of it": ("cp38", ["PyCode_NewEmpty"]),
    "newer": ("cp38", ["PyObject_CallNoArgs", "PyObject_GetBuffer"]),
    "as old as the tag": ("cp311", ["PyObject_CallNoArgs", "PyObject_GetBuffer"]),
    "newer and private": ("cp39", ["PyType_GetName", "_PyUnicode_Ready"]),
}


def theirs(path: Path) -> tuple[set[str], set[str]]:
    """Symbols that are not part of the stable ABI, and those newer than the tag."""
    answer = client("abi3audit").run("--report", path)
    modules = [one["result"] for file in json.loads(answer.stdout)["specs"].values() for one in file["wheel"]]
    assert modules, answer.stderr
    return {name for one in modules for name in one["non_abi3_symbols"]}, {name for one in modules for name in one["future_abi3_objects"]}


def ours(path: Path) -> dict[str, str]:
    return {one["code"]: one["message"] for one in quarry("wheel", "check", "--json", path).json["findings"] if one["code"] in ("Q121", "Q122")}


def agree(path: Path) -> None:
    foreign, newer = theirs(path)
    said = ours(path)
    assert ("Q121" in said, "Q122" in said) == (bool(foreign), bool(newer)), (said, foreign, newer)
    assert all(name in said["Q121"] for name in foreign) and all(name in said["Q122"] for name in newer), said


@pytest.mark.parametrize("recorded_wheel", WHEELS, ids=lambda one: one.file)
def test_wheels_of_pypi(recorded_wheel):
    agree(fetched(recorded_wheel))


@pytest.mark.parametrize("case", CALLS)
def test_modules(case, tmp_path):
    tag, calls = CALLS[case]
    source = "".join(f"void {call}(void);\n" for call in calls) + "void PyInit_m(void) { " + " ".join(f"{call}();" for call in calls) + " }\n"
    module = library(tmp_path / "made", "m.abi3.so", "-Wl,-z,relro", source=source)
    agree(wheel(tmp_path, "x", {"x/m.abi3.so": module}, f"{tag}-abi3-manylinux_2_28_x86_64"))
