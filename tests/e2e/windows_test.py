"""Packages for Windows, made on Linux: what they hold, what is refused, and that they live beside those for Linux."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import dist_facts, small_artifacts, small_windows_artifacts  # noqa: E402
from support.quarry import good, refused  # noqa: E402

pytestmark = pytest.mark.skipif(not small_windows_artifacts.available(), reason="needs gcc-mingw-w64-x86-64 (tools/setup --test)")

FAMILIES = ("gfx103X-dgpu", "gfx110X-all")
LINUX_ONLY, BOTH, WINDOWS_ONLY = "gfx94X-dcgpu", "gfx103X-dgpu", "gfx110X-all"
LISTS = ("--linux-amdgpu-families", f"{LINUX_ONLY},{BOTH}", "--windows-amdgpu-families", f"{WINDOWS_ONLY};{BOTH}")


def build(artifacts: Path, out: Path, *more: str, platform: str = "windows"):
    arguments = ("--artifact-dir", artifacts, "--dest-dir", out, "--version", "7.2.0", "--profile", "ci", "--platform", platform)
    return good("sdk", "build", *arguments, *more)


def build_refused(code: str, exit_code: int, artifacts: Path, out: Path):
    done = refused(code, exit_code, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", "1.0", "--platform", "windows")
    assert not out.exists() or not list(out.rglob("*.whl")), "nothing is half-written"
    return done


def digests(directory: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(directory.glob("[!.]*"))}


@pytest.fixture(scope="module")
def windows_artifacts(tmp_path_factory) -> Path:
    return small_windows_artifacts.make(tmp_path_factory.mktemp("windows"), FAMILIES)


@pytest.fixture
def own(tmp_path) -> Path:
    """Artifacts that a test may change."""
    return small_windows_artifacts.make(tmp_path)


@pytest.fixture(scope="module")
def windows_packages(windows_artifacts, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("windows-packages")
    build(windows_artifacts, out)
    return out


def literals(wheel: Path) -> dict:
    """`_dist_info.py` of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith("_dist_info.py"))).decode()
    return {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(text).body if isinstance(node, ast.Assign)}


def test_packages_hold_what_windows_runs(windows_packages):
    facts = dist_facts.facts(windows_packages / "dist")
    core = facts["rocm-sdk-core"]
    tree = "_rocm_sdk_core/"
    assert {tree + "bin/amdhip64_7.dll", tree + "bin/hipInfo.exe", tree + "lib/amdhip64.lib", tree + "include/hip/hip_runtime.h"} <= core.keys()
    assert core[tree + "lib/llvm/bin/amdclang++.exe"] == core[tree + "lib/llvm/bin/clang.exe"], "a link is a copy, not a launcher"
    assert not any("cmake" in name for name in core)
    assert {n for n in core if n.startswith("script:")} == {"script:amdclang", "script:amdclang++", "script:hipInfo"}
    blas = facts["rocm-sdk-libraries-gfx110x-all"]
    assert "_rocm_sdk_libraries_gfx110X_all/bin/hipblas.dll" in blas
    devel = facts["rocm-sdk-devel"]
    assert devel["devel:_rocm_sdk_devel/bin/amdhip64_7.dll"] == ["link", "../../_rocm_sdk_core/bin/amdhip64_7.dll"]
    assert devel["devel:_rocm_sdk_devel/include/hip/hcc_detail"] == ["link", "../hip"], "`.` as the runtime takes it"


def test_nothing_is_edited(windows_artifacts, windows_packages):
    source = windows_artifacts / "core-hip_lib_generic/core/clr/stage/bin/amdhip64_7.dll"
    with zipfile.ZipFile(next((windows_packages / "dist").glob("rocm_sdk_core-*.whl"))) as archive:
        assert archive.read("_rocm_sdk_core/bin/amdhip64_7.dll") == source.read_bytes()


def test_names_tags_and_facts(windows_packages):
    names = sorted(f.name for f in (windows_packages / "dist").glob("[!.]*"))
    assert names == [
        "rocm-7.2.0.tar.gz",
        "rocm_sdk_core-7.2.0-py3-none-win_amd64.whl",
        "rocm_sdk_devel-7.2.0-py3-none-win_amd64.whl",
        "rocm_sdk_libraries_gfx103x_dgpu-7.2.0-py3-none-win_amd64.whl",
        "rocm_sdk_libraries_gfx110x_all-7.2.0-py3-none-win_amd64.whl",
    ]
    for name in names[1:]:
        good("wheel", "verify", windows_packages / "dist" / name)
    with zipfile.ZipFile(windows_packages / "dist" / names[1]) as archive:
        metadata = archive.read("rocm_sdk_core-7.2.0.dist-info/METADATA").decode()
    assert "Classifier: Operating System :: Microsoft :: Windows\n" in metadata and "POSIX" not in metadata
    core = literals(windows_packages / "dist" / names[1])
    assert core["LIBRARIES"] == ["bin/amdhip64_7.dll"]
    assert {s["name"]: s["program"] for s in core["CONSOLE_SCRIPTS"]}["hipInfo"] == "bin/hipInfo.exe"


def test_bytes_depend_on_nothing_else(windows_artifacts, windows_packages, tmp_path):
    archives = tmp_path / "archives"
    good("artifact", "pack", windows_artifacts, "--output-dir", archives)
    build(archives, tmp_path / "out", "-j", "1")
    assert digests(tmp_path / "out/dist") == digests(windows_packages / "dist")


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """Two platforms with two families each, one in common, each platform in its own OUT."""
    root = tmp_path_factory.mktemp("release")
    build(small_artifacts.make(root, (LINUX_ONLY, BOTH)), root / "linux", *LISTS, platform="linux")
    build(small_windows_artifacts.make(root, (WINDOWS_ONLY, BOTH)), root / "windows", *LISTS)
    return root


def test_sdist_is_the_same_from_both_platforms(release):
    name = "rocm-7.2.0.tar.gz"
    assert digests(release / "linux/dist")[name] == digests(release / "windows/dist")[name]
    with tarfile.open(release / "linux/dist" / name) as archive:
        text = archive.extractfile("rocm-7.2.0/src/rocm_sdk/_dist_info.py").read().decode()
    assert f'DEFAULT_TARGET_FAMILY = "{BOTH}"' in text
    assert f'WINDOWS_TARGET_FAMILIES = ["{BOTH}", "{WINDOWS_ONLY}"]' in text, "sorted, whatever the flag's order"


def test_sdist_is_the_same_without_lists(tmp_path):
    build(small_artifacts.make(tmp_path), tmp_path / "linux", platform="linux")
    build(small_windows_artifacts.make(tmp_path), tmp_path / "windows")
    name = "rocm-7.2.0.tar.gz"
    assert digests(tmp_path / "linux/dist")[name] == digests(tmp_path / "windows/dist")[name]


def test_devel_links_to_a_family_that_the_platform_has(tmp_path):
    """The release's default family is Linux's alone; devel for Windows must not wait for it."""
    artifacts = small_windows_artifacts.make(tmp_path, (WINDOWS_ONLY,))
    build(artifacts, tmp_path / "out", "--linux-amdgpu-families", BOTH, "--windows-amdgpu-families", WINDOWS_ONLY)
    devel = dist_facts.facts(tmp_path / "out/dist")["rocm-sdk-devel"]
    module = "_rocm_sdk_libraries_" + WINDOWS_ONLY.replace("-", "_")
    assert devel["devel:_rocm_sdk_devel/bin/hipblas.dll"] == ["link", f"../../{module}/bin/hipblas.dll"]


def test_two_platforms_and_families_in_one_place(release, tmp_path):
    """One dist directory, one store, one channel; and pip chooses by platform."""
    together = tmp_path / "dist"
    together.mkdir()
    store = f"file:{tmp_path / 'store'}"
    for platform in ("linux", "windows"):
        for file in (release / platform / "dist").glob("[!.]*"):
            (together / file.name).write_bytes(file.read_bytes())
        good("publish", release / platform, "--store", store, "--run-id", "1", "--platform", platform, "--channel", "staging")
    assert len(list(together.iterdir())) == 9, "one sdist and four wheels of each platform"
    shown = json.loads(good("channel", "show", "staging", "--store", store, "--json").out)
    assert {f["filename"] for f in shown["files"]} == {f.name for f in together.iterdir()}
    for platform, tag in (("win_amd64", "win_amd64"), ("linux_x86_64", "linux_x86_64")):
        taken = tmp_path / platform
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-index", "--find-links", together, "--only-binary", ":all:"]
        command += ["--platform", platform, "--no-deps", "-d", taken, f"rocm-sdk-libraries-{BOTH}", "rocm-sdk-core"]
        subprocess.run(command, check=True)
        assert len(list(taken.iterdir())) == 2 and all(f.name.endswith(tag + ".whl") for f in taken.iterdir())


# What is refused


def test_dll_that_is_no_pe(own, tmp_path):
    small_artifacts.write(own / "core-hip_lib_generic/core/clr/stage/bin/fake.dll", "this is text\n")
    done = build_refused("S030", 1, own, tmp_path / "out")
    assert "error[S037] rocm-sdk-core!bin/fake.dll" in done.err


def test_dll_that_is_cut_short(own, tmp_path):
    dll = own / "blas_lib_gfx103X-dgpu/math-libs/BLAS/stage/bin/hipblas.dll"
    dll.write_bytes(dll.read_bytes()[:-600])
    assert "J001" in build_refused("S030", 1, own, tmp_path / "out").err


def test_artifacts_of_linux(artifacts, tmp_path):
    assert "S036" in build_refused("S030", 1, artifacts, tmp_path / "out").err


def test_names_that_differ_in_case_only(own, tmp_path):
    other = small_artifacts.stage(own, "sysdeps", "lib", "generic", "deps/stage")
    small_windows_artifacts.compile_dll(other / "bin/AMDHIP64_7.dll", "other")
    done = build_refused("S030", 1, own, tmp_path / "out")
    assert "S033" in done.err and "core-hip_lib_generic" in done.err and "sysdeps_lib_generic" in done.err


def test_long_paths(own, tmp_path):
    base = own / "blas_lib_gfx103X-dgpu/math-libs/BLAS/stage/bin"
    small_artifacts.write(base / ("n" * 150 + ".dat"), "x")
    done = build(own, tmp_path / "out")
    assert "warning[S032]" in done.err and "n" * 150 in done.err
    small_artifacts.write(base / ("d" * 120) / ("n" * 120), "x")
    assert "error[S032]" in build_refused("S030", 1, own, tmp_path / "refused").err


def test_dll_that_windows_would_not_find(own, tmp_path):
    program = own / "core-hipinfo_run_generic/core/hipInfo/stage"
    (program / "tools").mkdir()
    (program / "bin/hipInfo.exe").rename(program / "tools/hipInfo.exe")
    small_windows_artifacts.compile_program(program / "bin/hipInfo.exe", "x")
    implib = own / "core-hip_dev_generic/core/clr/stage/lib"
    source = b"const char *hip_version(void);\n#include <stdio.h>\nint main(void) { return puts(hip_version()); }\n"
    command = [small_windows_artifacts.COMPILER, *small_windows_artifacts.REPRODUCIBLE, "-o", program / "tools/hipInfo.exe"]
    subprocess.run([*command, "-x", "none", implib / "amdhip64.lib"], input=source, check=True)
    done = build(own, tmp_path / "out")
    assert "warning[S029]" in done.err and "tools/hipInfo.exe" in done.err and "amdhip64_7.dll" in done.err
