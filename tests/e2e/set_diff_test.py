"""`set diff`: two builds of one recipe, sets in a store, and what is refused. An independent comparison in Python is the oracle."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import dist_facts, small_artifacts  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

LIBRARY = "blas_lib_gfx103X-dgpu/math-libs/BLAS/stage/lib/libhipblas.so.2.1"


def build(artifacts: Path, out: Path, version: str = "7.2.0") -> Path:
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", version, "--profile", "ci")
    return out / "dist"


def differences(done) -> dict[tuple[str, str], dict]:
    return {(p["package"], d["place"]): d for p in done.json["packages"] for d in p["differences"]}


@pytest.fixture(scope="module")
def changed(artifacts, tmp_path_factory) -> Path:
    """Packages of artifacts in which a header, a program, a run path and code differ, and a library was added."""
    root = tmp_path_factory.mktemp("changed")
    copy = root / "artifacts"
    shutil.copytree(artifacts, copy, symlinks=True)
    (copy / "core-hip_dev_generic/core/clr/stage/include/hip/amd_detail/detail.h").write_text("#define DETAIL 2\n")
    (copy / "base_run_generic/base/tools/stage/bin/hipconfig").unlink()
    good("elf", "edit", artifacts / LIBRARY, "--rpath", "$ORIGIN/new", "--output", copy / LIBRARY)
    hip = copy / "core-hip_lib_generic/core/clr/stage/lib/libamdhip64.so.5.2.1"
    small_artifacts.compile_library(hip, "libamdhip64.so.5", "another_symbol", "-O0")
    small_artifacts.library(copy / "core-hip_lib_generic/core/clr/stage", "hiprtc", "5", "5.1")
    return build(copy, root / "out")


def test_equal_sets_agree(packages):
    done = good("set", "diff", packages, packages / "dist", "--json")
    assert done.json["schema"] == "quarry.set-diff/1" and done.json["different"] == 0 and done.json["equal"] > 50
    assert len(done.json["packages"]) == 4


def test_it_sees_what_an_independent_comparison_sees(packages, changed):
    done = quarry("set", "diff", packages, changed, "--json")
    assert done.code == 1
    ours = {key for key in differences(done) if not key[1].startswith(("metadata:", "wheel:")) and "(sdist)" not in key[0]}
    left, right = dist_facts.facts(packages / "dist"), dist_facts.facts(changed)
    theirs = {(p, m) for p in left for m in left[p].keys() | right[p].keys() if left[p].get(m) != right[p].get(m)}
    native = {(p, place.replace("rocm_sdk_devel/_devel.tar!", "devel:")) for p, place in ours if place.startswith(("_", "script:")) or "!" in place}
    assert native == theirs
    assert {place for _, place in ours} - {place for _, place in native} <= {f"{p}/_dist_info.py" for p in ("rocm_sdk_core", "rocm_sdk_devel")} | {
        place for _, place in ours if "!" in place
    }


def test_it_says_what_differs_in_an_elf_file(packages, changed):
    found = differences(quarry("set", "diff", packages, changed, "--json"))
    moved = found["rocm-sdk-libraries-gfx103x-dgpu", "_rocm_sdk_libraries_gfx103X_dgpu/lib/libhipblas.so.2"]
    assert moved["kind"] == "elf" and "$ORIGIN/new" in moved["message"] and "the same code, data and symbols" in moved["message"]
    rebuilt = found["rocm-sdk-core", "_rocm_sdk_core/lib/libamdhip64.so.5"]
    assert rebuilt["kind"] == "elf" and "the same code" not in rebuilt["message"] and ".gnu.hash" in rebuilt["message"] and ".text" in rebuilt["message"]
    assert found["rocm-sdk-core", "script:hipconfig"]["kind"] == "only-left"


def test_text_names_places_and_totals(packages, changed):
    done = quarry("set", "diff", packages, changed)
    assert done.code == 1 and "only-right  _rocm_sdk_core/lib/libhiprtc.so.5" in done.out
    assert done.out.splitlines()[-1].endswith(f"{sum(line.startswith('  ') for line in done.out.splitlines())} differ")


def test_all_expected_is_success(packages, next_packages, tmp_path):
    table = tmp_path / "expected.tsv"
    rows = [(p, "metadata:*") for p in ("rocm (sdist)", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx103x-dgpu")]
    rows += [(p, "**/_dist_info.py") for p, _ in rows]
    table.write_text("".join(f"{package}\t{place}\tanother version\n" for package, place in rows))
    done = good("set", "diff", packages, next_packages, "--allow", table, "--json")
    assert done.json["allowed"] >= 8 and done.json["different"] == 0
    assert all(d["reason"] == "another version" for d in differences(done).values())
    table.write_text(table.read_text() + "rocm\tnothing\tof the kind\n")
    done = good("set", "diff", packages, next_packages, "--allow", table)
    assert "Q003" in done.err and f"{table}:9" in done.err
    table.write_text("".join(f"{package}\t{place}\twhy\n" for package, place in rows[:-1]))
    assert quarry("set", "diff", packages, next_packages, "--allow", table).code == 1


def test_sets_of_a_store(store, packages, next_packages):
    good("publish", next_packages, "--store", f"file:{store}", "--run-id", "2", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    assert good("set", "diff", "channel:staging", packages, "--store", f"file:{store}").code == 0
    done = quarry("set", "diff", "run:1", "run:2", "--store", f"file:{store}", "--json")
    assert done.code == 1
    assert {(p["left"]["version"], p["right"]["version"]) for p in done.json["packages"]} == {("7.2.0", "7.2.1")}
    refused("Q006", 2, "set", "diff", "channel:staging", packages)


def test_a_package_that_is_missing(packages, tmp_path):
    shutil.copytree(packages / "dist", tmp_path / "some")
    next((tmp_path / "some").glob("rocm_sdk_devel*.whl")).unlink()
    done = quarry("set", "diff", packages, tmp_path / "some", "--json")
    assert done.code == 1 and differences(done)["rocm-sdk-devel", ""]["kind"] == "only-left"


def test_refusals(packages, tmp_path):
    (tmp_path / "empty").mkdir()
    refused("Q004", 3, "set", "diff", packages, tmp_path / "empty")
    refused("D001", 3, "set", "diff", packages, tmp_path / "none")
    (tmp_path / "table").write_text("rocm-sdk-core lib reason\n")
    done = refused("Q001", 2, "set", "diff", packages, packages, "--allow", tmp_path / "table")
    assert "table:1" in done.err
    wheel = shutil.copy(next((packages / "dist").glob("rocm_sdk_core*.whl")), tmp_path)
    data = bytearray(Path(wheel).read_bytes())
    data[len(data) // 2] ^= 1
    Path(wheel).write_bytes(data)
    refused("W010", 6, "set", "diff", packages, tmp_path)


@pytest.mark.parametrize("broken", ["no PKG-INFO", "outside", "no archive"])
def test_sdists_that_are_not_sound(packages, tmp_path, broken):
    sdist = tmp_path / "x-1.0.tar.gz"
    with tarfile.open(sdist, "w:gz") as tar:
        name = {"no PKG-INFO": "x-1.0/setup.py", "outside": "y/PKG-INFO", "no archive": "x-1.0/PKG-INFO"}[broken]
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    if broken == "no archive":
        sdist.write_bytes(gzip.compress(b"text"))
    done = quarry("set", "diff", tmp_path, packages)
    assert done.code == 6 and ("Q005" in done.err or "T00" in done.err), done.err
