"""`artifact tarball`: a family's artifacts as one tree in one archive, as releases have it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
NAME = f"therock-dist-linux-{FAMILY}-7.2.0.tar.gz"


def words(artifacts: Path, out: Path, *more: str, family: str = FAMILY) -> list:
    return ["artifact", "tarball", "--from", artifacts, "--family", family, "--version", "7.2.0", "--output-dir", out, *more]


def listed(archive: Path) -> dict[str, tuple]:
    """What a reader sees: kind, mode, link and bytes of each member."""
    with tarfile.open(archive) as tar:
        return {
            member.name.removeprefix("./"): (member.type, member.mode & 0o111 if member.isfile() else 0, member.linkname, tar.extractfile(member).read() if member.isfile() else b"")
            for member in tar
            if member.name != "."
        }


def script_tarball(artifacts: Path, place: Path) -> Path:
    """As the script makes it: artifacts merged into a directory, then `tar cfz`."""
    good("artifact", "fetch", "--from", artifacts, "--output-dir", place / "tree", "--artifact-group", FAMILY, "--flatten", "--exclude", "_test_")
    subprocess.run(["tar", "cfz", place / "theirs.tar.gz", "--exclude", "./.quarry-fetch", "."], cwd=place / "tree", check=True)
    return place / "theirs.tar.gz"


def test_the_members_are_those_of_the_script(own_artifacts, tmp_path):
    small_artifacts.write(small_artifacts.stage(own_artifacts, "blas", "test", FAMILY, "math-libs/BLAS/stage") / "bin/hipblas-test", "x")
    done = good(*words(own_artifacts, tmp_path / "out"), "--json")
    archive = tmp_path / "out" / NAME
    assert done.json["path"] == str(archive) and done.json["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert listed(archive) == listed(script_tarball(own_artifacts, tmp_path))
    subprocess.run(["sha256sum", "--check", "--quiet", NAME + ".sha256sum"], cwd=tmp_path / "out", check=True)
    good(*words(own_artifacts, tmp_path / "out", "--tests"))
    assert "bin/hipblas-test" in listed(tmp_path / "out" / f"therock-dist-linux-{FAMILY}-tests-7.2.0.tar.gz")


def test_a_tarball_of_tests_needs_tests(own_artifacts, tmp_path):
    done = refused("A097", 3, *words(own_artifacts, tmp_path / "out", "--tests"))
    assert f"has no `test` component for {FAMILY}" in done.err and not (tmp_path / "out").exists()


def test_archives_and_any_number_of_workers_give_the_same_bytes(artifacts, archives, tmp_path):
    for number, given in enumerate((artifacts, archives)):
        for jobs in ("1", "4"):
            good(*words(given, tmp_path / f"{number}{jobs}"), "--jobs", jobs)
    assert len({path.read_bytes() for path in tmp_path.glob(f"*/{NAME}")}) == 1


def test_a_tarball_is_what_a_fetch_takes(artifacts, tmp_path):
    good(*words(artifacts, tmp_path / "out"))
    good("artifact", "fetch", "--from", tmp_path / "out" / NAME, "--output-dir", tmp_path / "tree", "--flatten")
    assert (tmp_path / "tree/lib/libhipblas.so.2").exists() and (tmp_path / "tree/include/hip/hip_runtime.h").exists()


def test_of_a_run(archives, artifacts, tmp_path):
    """The archives of a run in a store give the bytes that its artifacts give; what was fetched does not stay."""
    shutil.copytree(archives, tmp_path / "store/42-linux")
    run = ["artifact", "tarball", "--from", "run:42", "--store", f"file:{tmp_path / 'store'}", "--family", FAMILY, "--version", "7.2.0", "--output-dir"]
    for name, age in (("killed", 8), ("running", 6)):
        (tmp_path / f"out/.quarry-scratch-{name}/x").mkdir(parents=True)
        os.utime(tmp_path / f"out/.quarry-scratch-{name}", (time.time() - age * 86400,) * 2)
    good(*run, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob(".quarry-*")} == {".quarry-scratch-running"}
    shutil.rmtree(tmp_path / "out/.quarry-scratch-running")
    good(*words(artifacts, tmp_path / "local"))
    assert (tmp_path / "out" / NAME).read_bytes() == (tmp_path / "local" / NAME).read_bytes()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {NAME, NAME + ".sha256sum", "index.html"}
    next((tmp_path / "store/42-linux").glob("blas_lib_*.sha256sum")).write_text("0" * 64)
    assert quarry(*run, tmp_path / "damaged").code == 6
    assert [path for path in (tmp_path / "damaged").iterdir() if path.name.startswith(("therock", ".quarry-scratch"))] == []
    refused("A022", 3, *[word if word != FAMILY else "gfx906" for word in run], tmp_path / "none")


def test_a_directory_may_be_named_as_a_locator(artifacts, tmp_path):
    good(*words(artifacts, tmp_path / "plain"))
    good(*words(f"file:{artifacts}", tmp_path / "locator"))
    (one,), (other,) = ((tmp_path / name).glob("*.tar.gz") for name in ("plain", "locator"))
    assert one.read_bytes() == other.read_bytes()
    refused("A090", 2, *words(f"file:{artifacts}", artifacts))


def test_a_tarball_is_a_source_of_rocm_and_not_of_packages(own_artifacts, tmp_path):
    """A build against ROCm uses the tree of it; packages are made from artifacts (decision 41)."""
    good(*words(own_artifacts, tmp_path / "out"))
    refused("S004", 3, "sdk", "build", "--artifact-dir", tmp_path / "out", "--dest-dir", tmp_path / "packages", "--version", "7.2.0")
    assert not (tmp_path / "packages").exists()
    shutil.copy(tmp_path / "out" / NAME, own_artifacts)
    done = good("sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "packages", "--version", "7.2.0")
    assert "A028" in done.err
    good("artifact", "fetch", "--from", tmp_path / "out" / NAME, "--output-dir", tmp_path / "rocm", "--flatten")
    (tmp_path / "program.c").write_text("#include <hip/hip_runtime.h>\nint main(void) { return 0; }\n")
    rocm = tmp_path / "rocm"
    subprocess.run(["gcc", tmp_path / "program.c", "-I", rocm / "include", "-Wl,--no-as-needed", rocm / "lib/libamdhip64.so.5", f"-Wl,-rpath,{rocm / 'lib'}", "-Wl,--unresolved-symbols=ignore-all", "-o", tmp_path / "program"], check=True)
    loaded = subprocess.run(["readelf", "-d", tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    assert "libamdhip64.so.5" in loaded


def test_split_artifacts_of_a_family(tmp_path):
    made = small_artifacts.make_split(tmp_path / "split")
    done = good(*words(made, tmp_path / "out", family="gfx94X-dcgpu"))
    held = listed(tmp_path / "out/therock-dist-linux-gfx94X-dcgpu-7.2.0.tar.gz")
    assert "lib/.kpack/blas_lib_gfx942.kpack" in held and "lib/.kpack/blas_lib_gfx1030.kpack" not in held
    assert "A022" not in done.err
    partial = good(*words(made, tmp_path / "partial", family="gfx103X-all"))
    assert "A022" in partial.err and "gfx1031" in partial.err


MULTIARCH = "therock-dist-linux-multiarch-7.2.0.tar.gz"


def script_tarball_of_all(artifacts: Path, place: Path) -> Path:
    """As the script makes it from artifacts split by target: all families merged into one directory, then `tar cfz`."""
    good("artifact", "fetch", "--from", artifacts, "--output-dir", place / "tree", "--flatten", "--exclude", "_test_")
    subprocess.run(["tar", "cfz", place / "theirs.tar.gz", "--exclude", "./.quarry-fetch", "."], cwd=place / "tree", check=True)
    return place / "theirs.tar.gz"


@pytest.mark.parametrize("family", ["multiarch", "multi-arch-release", "gfx94X-dcgpu;gfx103X-dgpu"])
def test_all_families_in_one_tarball(family, tmp_path):
    made = small_artifacts.make_split(tmp_path / "split", ("gfx1030", "gfx942", "gfx942:xnack+"))
    good(*words(made, tmp_path / "out", family=family))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {MULTIARCH, MULTIARCH + ".sha256sum", "index.html"}
    held = listed(tmp_path / "out" / MULTIARCH)
    assert held == listed(script_tarball_of_all(made, tmp_path))
    assert {f"lib/.kpack/blas_lib_{target}.kpack" for target in ("gfx1030", "gfx942", "gfx942-xnack+")} <= set(held)
    assert good("artifact", "list", tmp_path / "out", "--tarballs", "--json").json["artifacts"][0]["target"] == "multiarch"


def test_all_families_of_a_run(tmp_path):
    made = small_artifacts.make_split(tmp_path / "split")
    good("artifact", "pack", made, "--output-dir", tmp_path / "store/42-linux")
    good("artifact", "tarball", "--from", "run:42", "--store", f"file:{tmp_path / 'store'}", "--family", "multiarch", "--version", "7.2.0", "--output-dir", tmp_path / "run")
    good(*words(made, tmp_path / "out", family="multiarch"))
    assert (tmp_path / "run" / MULTIARCH).read_bytes() == (tmp_path / "out" / MULTIARCH).read_bytes()


def test_families_that_are_not_split_do_not_fit_into_one_tarball(tmp_path):
    made = small_artifacts.make(tmp_path / "whole", ("gfx103X-dgpu", "gfx94X-dcgpu"))
    done = refused("A015", 6, *words(made, tmp_path / "out", family="multiarch"))
    assert "pack each family alone" in " ".join(done.err.split()) and not list((tmp_path / "out").glob("*.tar.gz"))
    refused("A022", 3, *words(made, tmp_path / "out", family="gfx94X-dcgpu;gfx1151"))


def test_one_family_that_is_not_split_is_not_all_of_them(artifacts, tmp_path):
    for family in ("multiarch", "multi-arch-release"):
        assert f"--family {FAMILY}" in refused("A099", 2, *words(artifacts, tmp_path / "out", family=family)).err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("code", "exit_code", "change", "family"),
    [
        ("A022", 3, lambda tree: None, "gfx1151"),
        ("A015", 6, lambda tree: small_artifacts.write(small_artifacts.stage(tree, "prim", "dev", "generic", "prim/stage") / "bin/hipconfig", "other"), FAMILY),
        ("A003", 6, lambda tree: (tree / "base_run_generic/artifact_manifest.txt").unlink(), FAMILY),
        ("D001", 3, lambda tree: tree.rename(tree.with_name("gone")), FAMILY),
    ],
)
def test_what_makes_no_tarball(code, exit_code, change, family, own_artifacts, tmp_path):
    change(own_artifacts)
    refused(code, exit_code, *words(own_artifacts, tmp_path / "out", family=family))
    assert not list((tmp_path / "out").glob("*.tar.gz"))
