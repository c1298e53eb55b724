"""`quarry shadow` on a run for Windows: ours beside packages in the form that the scripts' builder gives them there (DLLs and programs in `bin`, no links)."""

from __future__ import annotations

import io
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import incumbent_run, package_forms, small_windows_artifacts as windows  # noqa: E402
from support.quarry import good, quarry  # noqa: E402

pytestmark = pytest.mark.skipif(not windows.available(), reason="needs Debian's mingw")

GROUP = windows.FAMILY
ERAS = ("feb", "aug")
CORE, DEVEL, LIBRARIES, DEVICE = (f"rocm_sdk_{name}-7.2.0-py3-none-win_amd64.whl" for name in ("core", "devel", "libraries", "device_gfx942"))
HIP, INFO, BLAS = "_rocm_sdk_core/bin/amdhip64_7.dll", "_rocm_sdk_core/bin/hipInfo.exe", "_rocm_sdk_libraries/bin/hipblas.dll"


@dataclass
class Pair:
    root: Path
    packages: Path  # theirs
    artifacts: Path

    def words(self, *more: str) -> list:
        return ["shadow", "run:42-windows", "--store", f"file:{self.root}/store", "--against", self.root / "theirs/42-windows", *more]


def make(root: Path, era: str) -> Pair:
    artifacts = windows.make_split(root) if era == "aug" else windows.without_links(windows.make(root))
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", root / "out", "--version", "7.2.0", "--platform", "windows", "--profile", "ci")
    run = ("--store", f"file:{root}/store", "--run-id", "42", "--platform", "windows", "--layout", era)
    good("publish", root / "out", *run, *(("--artifact-group", GROUP) if era == "feb" else ()))
    for name, text in {"logs/core_build.log": "ninja: no work to do\n", "base/aux-overlay/build/therock_manifest.json": "{}\n"}.items():
        windows.write(root / "build" / name, text)
    good("artifact", "pack", artifacts, "--output-dir", root / "build/artifacts")
    good("run", "upload", root / "build", *run, "--artifact-group", GROUP)
    theirs = incumbent_run.make(root / "theirs", "42", artifacts, era, GROUP, platform="windows")
    incumbent_run.archives(theirs.place, root / "build/artifacts", era)
    return Pair(root, theirs.packages, artifacts)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> dict[str, Pair]:
    """Read-only."""
    return {era: make(tmp_path_factory.mktemp(era), era) for era in ERAS}


@pytest.fixture
def own(pairs, tmp_path) -> Pair:
    """A copy of the pair of August, to change."""
    pair = pairs["aug"]
    for name in ("store", "theirs"):
        shutil.copytree(pair.root / name, tmp_path / name)
    return Pair(tmp_path, tmp_path / pair.packages.relative_to(pair.root), pair.artifacts)


@pytest.mark.parametrize("era", ERAS)
def test_the_table_explains_a_run_for_windows(pairs, era):
    done = good(*pairs[era].words("--json")).json
    assert done["unexplained"] == 0 and done["findings"] == []
    assert done["sections"]["packages"]["equal"] > 40 and done["sections"]["pages"]["equal"] >= 4 and done["sections"]["keys"]["equal"] >= 4


@pytest.mark.parametrize("era", ERAS)
def test_theirs_has_the_recorded_form(pairs, era):
    assert package_forms.read(pairs[era].packages, pairs[era].artifacts) == incumbent_run.recorded_packages(era, "windows")


def test_both_have_the_layout_of_windows(pairs):
    for place in (pairs["aug"].root / "store/42-windows/python", pairs["aug"].packages):
        with zipfile.ZipFile(place / CORE) as archive:
            names = archive.namelist()
        assert {HIP, INFO, "_rocm_sdk_core/lib/llvm/bin/clang.exe"} <= set(names) and not [name for name in names if ".so" in name]
        assert not (set(path.name for path in place.glob("rocm_profiler*")))


# --- defects: none of them may hide behind a line of the table


def rebuild(path: Path, change) -> None:
    """The wheel with changed members and a RECORD that is right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: (archive.read(info), info.external_attr) for info in archive.infolist()}
    change(members)
    record = next(name for name in members if name.endswith(".dist-info/RECORD"))
    members.pop(record)
    members[record] = (package_forms.record_of(members, record.partition("/")[0]), 0o100644 << 16)
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, mode) in members.items():
            entry = zipfile.ZipInfo(name, (2026, 2, 26, 0, 0, 0))
            entry.external_attr = mode
            archive.writestr(entry, data)


def moved(old: str, new: str):
    return lambda members: members.update({new: members.pop(old)})


def edited(name: str, old: bytes, new: bytes):
    def change(members: dict) -> None:
        (member,) = [each for each in members if each.endswith(name)]
        assert old in members[member][0], member
        members[member] = (members[member][0].replace(old, new), members[member][1])

    return change


def not_executable(members: dict) -> None:
    members[INFO] = (members[INFO][0], 0o100644 << 16)


def without_import_library(members: dict) -> None:
    data, mode = members["rocm_sdk_devel/_devel.tar"]
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=out, mode="w") as new:
        for each in old:
            if not each.name.endswith("lib/amdhip64.lib"):
                new.addfile(each, old.extractfile(each) if each.isfile() else None)
    members["rocm_sdk_devel/_devel.tar"] = (out.getvalue(), mode)


DEFECTS = {
    "a DLL that we lack": (LIBRARIES, lambda members: members.pop(BLAS), [f"rocm-sdk-libraries!{BLAS}!theirs"]),
    "a DLL in the directory of Linux": (LIBRARIES, moved(BLAS, BLAS.replace("/bin/", "/lib/")), [f"rocm-sdk-libraries!{BLAS}!theirs", "rocm-sdk-libraries!_rocm_sdk_libraries/lib/hipblas.dll!ours"]),
    "other code of a DLL": (CORE, edited("amdhip64_7.dll", b"hip_version", b"hip_vorsion"), [f"rocm-sdk-core!{HIP}"]),
    "a program that is not executable": (CORE, not_executable, [f"rocm-sdk-core!{INFO}"]),
    "a program without .exe": (CORE, moved(INFO, INFO.removesuffix(".exe")), [f"rocm-sdk-core!{INFO}!theirs", f"rocm-sdk-core!{INFO.removesuffix('.exe')}!ours"]),
    "a console script of Windows": (CORE, edited("entry_points.txt", b"hipInfo = rocm_sdk_core._cli:hipInfo\n", b""), ["rocm-sdk-core!script:hipInfo!theirs"]),
    "an import library": (DEVEL, without_import_library, ["rocm-sdk-devel!rocm_sdk_devel/_devel.tar!_rocm_sdk_devel/lib/amdhip64.lib!theirs"]),
    "device code that differs": (DEVICE, edited(".kpack", b"code", b"cold"), ["rocm-sdk-device-gfx942!_rocm_sdk_libraries/bin/.kpack/blas_lib_gfx942.kpack"]),
    "a package in the table that Windows has not": (CORE, edited("_dist_info.py", b', "platforms": ["linux"]', b""), ["rocm-sdk-core!rocm_sdk_core/_dist_info.py!value:ALL_PACKAGES"]),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_not_explained(own, defect):
    wheel, change, expected = DEFECTS[defect]
    rebuild(own.root / "store/42-windows/python" / wheel, change)
    done = quarry(*own.words("--json"))
    assert done.code == 1, done.out + done.err
    assert sorted(each["place"] for each in done.json["sections"]["packages"]["differences"] if not each["explained"]) == sorted(expected)
