"""`sdk build` on small artifacts: what the packages hold, that the bytes depend on nothing else, and what is refused."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import dist_facts, small_artifacts, small_windows_artifacts  # noqa: E402
from support.quarry import PROGRAM, clean_environment, good, quarry, refused  # noqa: E402

FAMILY_MODULE = "gfx103X_dgpu"


def digests(directory: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(directory.glob("[!.]*"))}


def test_packages_hold_what_the_recipe_says(packages):
    facts = dist_facts.facts(packages / "dist")
    core = facts["rocm-sdk-core"]
    assert core["_rocm_sdk_core/lib/libamdhip64.so.5"][1]["DT_RPATH"] == "$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib"
    assert "_rocm_sdk_core/lib/libamdhip64.so.5.2.1" not in core, "a library stands under its SONAME only"
    assert core["_rocm_sdk_core/lib/llvm/bin/clang++"] == ["stub", True]
    assert core["_rocm_sdk_core/include/hip/hip_runtime.h"][0] == "file"
    assert not any("cmake" in name for name in core)
    assert {n for n in core if n.startswith("script:")} == {"script:amdclang", "script:amdclang++", "script:hipconfig"}
    blas = facts["rocm-sdk-libraries-gfx103x-dgpu"][f"_rocm_sdk_libraries_{FAMILY_MODULE}/lib/libhipblas.so.2"][1]
    edges = ["lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib"]
    assert blas["DT_RPATH"] == ":".join(["$ORIGIN/../other", *(f"$ORIGIN/../../_rocm_sdk_core/{e}" for e in edges)])
    assert "DT_RUNPATH" not in blas
    devel = facts["rocm-sdk-devel"]
    assert devel["devel:_rocm_sdk_devel/lib/libamdhip64.so"] == ["link", "libamdhip64.so.5"]
    assert devel["devel:_rocm_sdk_devel/lib/libamdhip64.so.5"] == ["link", "../../_rocm_sdk_core/lib/libamdhip64.so.5"]
    assert devel["devel:_rocm_sdk_devel/include/hip/hcc_detail"] == ["link", "amd_detail"]
    assert devel["devel:_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake"][0] == "file"


def test_a_package_names_the_libraries_that_must_be_there(packages):
    wheel = next((packages / "dist").glob("rocm_sdk_libraries_*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        text = archive.read(next(n for n in names if n.endswith("_dist_info.py"))).decode()
    listed = ast.literal_eval(next(line for line in text.splitlines() if line.startswith("LIBRARIES")).partition(" = ")[2])
    platform = f"_rocm_sdk_libraries_{FAMILY_MODULE}/"
    assert "lib/libhipblas.so.2" in listed
    assert {platform + path for path in listed} <= set(names)


def test_metadata_has_real_fields(packages):
    wheel = next((packages / "dist").glob("rocm_sdk_libraries_*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode()
    for line in ("Metadata-Version: 2.4", "Requires-Python: >=3.10", "License-File: LICENSES.md", "Requires-Dist: rocm-sdk-core==7.2.0"):
        assert line in text
    assert "License-Expression: " in text


# One row a difference in surroundings; together with the reference build they cover each value against the others.
SURROUNDINGS = [
    {"jobs": "1", "umask": 0o077, "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    {"jobs": "2", "umask": 0o002, "TZ": "UTC", "LC_ALL": "tr_TR.UTF-8", "reverse": True},
    {"jobs": "5", "umask": 0o022, "TZ": "America/Los_Angeles", "LC_ALL": "C.UTF-8", "reverse": True},
]


@pytest.mark.parametrize("profile", ["ci", "release"])
def test_bytes_depend_on_nothing_else(artifacts, tmp_path, profile):
    reference = tmp_path / "reference"
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", reference, "--version", "1.0", "--profile", profile)
    expected = digests(reference / "dist")
    for i, row in enumerate(SURROUNDINGS):
        source = artifacts
        if row.get("reverse"):  # another directory order: the entries are created the other way round
            source = tmp_path / f"reversed-{i}"
            for path in sorted(artifacts.rglob("*"), reverse=True):
                if path.is_dir() and not path.is_symlink():
                    continue
                target = source / path.relative_to(artifacts)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target, follow_symlinks=False)
        out = tmp_path / f"out-{i}"
        environment = clean_environment(TZ=row["TZ"], LC_ALL=row["LC_ALL"])
        command = [PROGRAM, "sdk", "build", "--artifact-dir", source, "--dest-dir", out, "--version", "1.0", "--profile", profile, "-j", row["jobs"]]
        subprocess.run(command, env=environment, umask=row["umask"], check=True, capture_output=True)
        assert digests(out / "dist") == expected, row


@pytest.mark.parametrize("form", ["zst", "xz", "mixed"])
def test_archives_give_the_same_bytes_as_directories(artifacts, tmp_path, form):
    build = ["sdk", "build", "--version", "1.0", "--profile", "ci"]
    good(*build, "--artifact-dir", artifacts, "--dest-dir", tmp_path / "reference")
    archives = tmp_path / "archives"
    good("artifact", "pack", artifacts, "--output-dir", archives, "--format", "xz" if form == "xz" else "zst")
    if form == "mixed":
        first = min(d for d in artifacts.iterdir() if d.is_dir())
        shutil.copytree(first, archives / first.name, symlinks=True)
        for file in archives.glob(first.name + ".tar.*"):
            file.unlink()
    good(*build, "--artifact-dir", archives, "--dest-dir", tmp_path / "out")
    assert digests(tmp_path / "out/dist") == digests(tmp_path / "reference/dist")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["dist"], "nothing temporary stays"


def test_damaged_archive(artifacts, tmp_path):
    archives = tmp_path / "archives"
    good("artifact", "pack", artifacts, "--output-dir", archives)
    archive = max(archives.glob("*.tar.zst"), key=lambda f: f.stat().st_size)
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    build_refused("A012", 6, archives, tmp_path / "out")


def test_archive_without_checksum_file(artifacts, tmp_path):
    archives = tmp_path / "archives"
    good("artifact", "pack", artifacts, "--output-dir", archives)
    for checksum in archives.glob("*.sha256sum"):
        checksum.unlink()
    build_refused("A010", 6, archives, tmp_path / "out")
    good("sdk", "build", "--artifact-dir", archives, "--dest-dir", tmp_path / "out", "--version", "1.0", "--allow-unverified")


def test_second_build_replaces_the_first(artifacts, tmp_path):
    for _ in range(2):
        good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path, "--version", "1.0", "--profile", "ci")
    assert len(list((tmp_path / "dist").glob("[!.]*"))) == 4


def test_dry_run_writes_nothing(artifacts, tmp_path):
    done = good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--dry-run", "--json")
    assert done.json["schema"] == "quarry.sdk-build/1" and done.json["dry_run"] is True
    assert not (tmp_path / "out").exists()
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci")
    assert sorted(p["file"] for p in done.json["packages"]) == sorted(f.name for f in (tmp_path / "out/dist").glob("[!.]*"))


def test_two_families_are_each_complete(tmp_path):
    families = ("gfx103X-dgpu", "gfx94X-dcgpu")
    artifacts = small_artifacts.make(tmp_path, families)
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci")
    facts = dist_facts.facts(tmp_path / "out/dist")
    for family in families:
        module = "_rocm_sdk_libraries_" + family.replace("-", "_")
        assert f"{module}/lib/libhipblas.so.2" in facts[f"rocm-sdk-libraries-{family.lower()}"]


def build_refused(code: str, exit_code: int, artifacts: Path, out: Path, *more: str):
    done = refused(code, exit_code, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, *(more or ("--version", "1.0")))
    assert not out.exists() or not list(out.rglob("*.whl")), "nothing is half-written"
    return done


def build(artifacts: Path, out: Path, *more: str | Path):
    return good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", "1.0", "--profile", "ci", *more)


def test_a_platform_tag_is_written_when_the_files_keep_it(artifacts, tmp_path):
    """A program of this system asks for the glibc of its start-up code, 2.34; the libraries ask for an older one."""
    done = build_refused("S030", 1, artifacts, tmp_path / "old", "--version", "1.0", "--platform-tag", "manylinux_2_28_x86_64")
    assert "error[S039] rocm-sdk-core" in done.err and "GLIBC_2.34 (_rocm_sdk_core/lib/llvm/bin/clang)" in done.err
    assert "libraries" not in done.err
    done = build(artifacts, tmp_path / "new", "--platform-tag", "manylinux_2_34_x86_64", "--json")
    assert [f["message"] for f in done.json["findings"] if f["code"] == "S041" and "core" in f["place"]] == [
        "its files keep manylinux_2_34_x86_64; manylinux_2_34_x86_64 would hold"
    ]
    wheels = list((tmp_path / "new/dist").glob("*.whl"))
    assert len(wheels) == 3 and all(w.name.endswith("-py3-none-manylinux_2_34_x86_64.whl") for w in wheels)
    good("wheel", "verify", *wheels)
    build_refused("S038", 2, artifacts, tmp_path / "odd", "--version", "1.0", "--platform-tag", "musllinux_1_2_x86_64")


def test_a_library_from_elsewhere_breaks_the_promise_of_a_tag(own_artifacts, tmp_path):
    lib = next(own_artifacts.glob("blas_lib_*/**/libhipblas.so.2")).parent
    small_artifacts.compile_library(lib / "libforeign.so.1", "libforeign.so.1", "foreign")
    small_artifacts.compile_library(lib / "libneeds.so.1", "libneeds.so.1", "needs", "-Wl,--no-as-needed", "-L.", "-l:libforeign.so.1")
    (lib / "libforeign.so.1").unlink()
    build(own_artifacts, tmp_path / "linux")
    done = build_refused("S030", 1, own_artifacts, tmp_path / "out", "--version", "1.0", "--platform-tag", "manylinux_2_34_x86_64")
    assert "error[S040]" in done.err and "libforeign.so.1" in done.err


@pytest.mark.parametrize("form", ["xz", "zst"])
def test_the_payload_of_the_devel_package_can_be_compressed(artifacts, tmp_path, form):
    build(artifacts, tmp_path / "plain")
    build(artifacts, tmp_path / "packed", "--devel-tarball-compression", form, "-j", "1")
    build(artifacts, tmp_path / "again", "--devel-tarball-compression", form, "-j", "3")
    assert digests(tmp_path / "packed/dist") == digests(tmp_path / "again/dist")
    devel = "dist/rocm_sdk_devel-1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(tmp_path / "plain" / devel) as archive:
        plain = archive.read("rocm_sdk_devel/_devel.tar")
    with zipfile.ZipFile(tmp_path / "packed" / devel) as archive:
        packed = archive.read(f"rocm_sdk_devel/_devel.tar.{form}")
    tool = {"xz": ["xz", "-dc"], "zst": ["zstd", "-dc"]}[form]
    assert subprocess.run(tool, input=packed, capture_output=True, check=True).stdout == plain


def test_trees_instead_of_packages(artifacts, tmp_path):
    build(artifacts, tmp_path / "packages")
    build(artifacts, tmp_path / "trees", "--no-build-packages")
    assert not (tmp_path / "trees/dist").exists()
    assert (tmp_path / "trees/rocm/PKG-INFO").is_file()
    for tree in ("rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx103x-dgpu"):
        good("wheel", "pack", tmp_path / "trees" / tree, "--output-dir", tmp_path / "packed", "--profile", "ci")
    wheels = digests(tmp_path / "packages/dist")
    wheels.pop("rocm-1.0.tar.gz")
    assert digests(tmp_path / "packed") == wheels
    refused("W015", 7, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "trees", "--version", "1.0", "--no-build-packages")


def test_nothing_to_package(tmp_path):
    (tmp_path / "empty").mkdir()
    build_refused("S004", 3, tmp_path / "empty", tmp_path / "out")


def test_missing_directory(tmp_path):
    build_refused("D001", 3, tmp_path / "none", tmp_path / "out")


def test_version_that_is_not_pep440(artifacts, tmp_path):
    build_refused("M004", 2, artifacts, tmp_path / "out", "--version", "7.2-final-x")


def test_unknown_family(artifacts, tmp_path):
    done = build_refused("S005", 3, artifacts, tmp_path / "out", "--version", "1.0", "--linux-amdgpu-families", "gfx94X-dcgpu")
    assert "gfx103X-dgpu" in done.err


def test_family_without_libraries(own_artifacts, tmp_path):
    shutil.rmtree(own_artifacts / "blas_lib_gfx103X-dgpu")
    build_refused("S006", 3, own_artifacts, tmp_path / "out")


def test_required_package_without_files(own_artifacts, tmp_path):
    for path in own_artifacts.iterdir():
        if not path.name.startswith("blas_"):
            shutil.rmtree(path)
    build_refused("S007", 3, own_artifacts, tmp_path / "out")


def test_artifact_without_manifest(own_artifacts, tmp_path):
    (own_artifacts / "base_run_generic/artifact_manifest.txt").unlink()
    done = build_refused("S030", 1, own_artifacts, tmp_path / "out")
    assert "A003" in done.err


def test_two_artifacts_own_one_path(own_artifacts, tmp_path):
    other = small_artifacts.stage(own_artifacts, "sysdeps", "lib", "generic", "deps/stage")
    small_artifacts.write(other / "bin/hipconfig", "#!/bin/sh\necho something else\n")
    done = build_refused("S010", 6, own_artifacts, tmp_path / "out")
    assert "base_run_generic" in done.err and "sysdeps_lib_generic" in done.err


def test_one_path_with_equal_content_is_accepted(own_artifacts, tmp_path):
    other = small_artifacts.stage(own_artifacts, "sysdeps", "lib", "generic", "deps/stage")
    (other / "bin").mkdir()
    shutil.copy2(own_artifacts / "base_run_generic/base/tools/stage/bin/hipconfig", other / "bin/hipconfig")
    good("sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci")


def test_library_that_is_no_elf(own_artifacts, tmp_path):
    small_artifacts.write(own_artifacts / "base_run_generic/base/tools/stage/lib/libfake.so", "this is text\n")
    done = build_refused("S030", 1, own_artifacts, tmp_path / "out")
    assert "S020" in done.err and "libfake.so" in done.err


def test_elf_that_does_not_hold_together(own_artifacts, tmp_path):
    library = own_artifacts / "core-hip_lib_generic/core/clr/stage/lib/libamdhip64.so.5.2.1"
    data = bytearray(library.read_bytes())
    data[32:40] = (2**63).to_bytes(8, "little")  # e_phoff
    library.write_bytes(data)
    done = build_refused("S030", 1, own_artifacts, tmp_path / "out")
    assert "libamdhip64.so.5" in done.err


def test_truncated_elf(own_artifacts, tmp_path):
    library = own_artifacts / "core-hip_lib_generic/core/clr/stage/lib/libamdhip64.so.5.2.1"
    os.truncate(library, 1000)
    build_refused("S030", 1, own_artifacts, tmp_path / "out")


def test_dangling_link_is_left_out_and_said(own_artifacts, tmp_path):
    (own_artifacts / "base_run_generic/base/tools/stage/bin/nowhere").symlink_to("missing")
    done = good("sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci")
    assert "S023" in done.err
    assert "devel:_rocm_sdk_devel/bin/nowhere" not in dist_facts.facts(tmp_path / "out/dist")["rocm-sdk-devel"]


def test_link_loop(own_artifacts, tmp_path):
    directory = own_artifacts / "base_run_generic/base/tools/stage/bin"
    (directory / "a").symlink_to("b")
    (directory / "b").symlink_to("a")
    assert "S045" in build_refused("S030", 1, own_artifacts, tmp_path / "out").err


def test_the_runtime_unpacks_every_link_that_stays_inside(own_artifacts, tmp_path):
    """Links as people write them, in the package of a release that is installed and expanded."""
    stage = own_artifacts / "core-hip_dev_generic/core/clr/stage"
    links = {"include/x0": "./hip", "include/x1": "hip/", "include/x2": "hip/.", "include/x3": ".", "include/x4": "hip//amd_detail",
             "include/x5": "hip/../hip", "include/hip/x6": "..", "lib/cmake/x7": "./hip/hip-config.cmake", "x8": "./include"}  # fmt: skip
    for name, target in links.items():
        os.symlink(target, stage / name)
    out = tmp_path / "out"
    good("sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", out, "--version", "1.0", "--profile", "ci")
    site = tmp_path / "site"
    for wheel in (out / "dist").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(site)
    with tarfile.open(out / "dist/rocm-1.0.tar.gz") as sdist:
        sdist.extractall(tmp_path)  # Debian 12's Python has no filters yet; what is unpacked is ours
    shutil.copytree(tmp_path / "rocm-1.0/src", site, dirs_exist_ok=True)
    done = subprocess.run([sys.executable, "-m", "rocm_sdk", "init"], capture_output=True, text=True, env=clean_environment(PYTHONPATH=str(site)))
    assert done.returncode == 0, done.stderr
    for name in links:
        link = site / "_rocm_sdk_devel" / name
        assert link.is_symlink() and link.exists(), name
        assert os.path.realpath(link).removeprefix(f"{site}/_rocm_sdk_devel/") == os.path.realpath(stage / name).removeprefix(f"{stage}/"), name


LISTS = {
    "a path": ("S044", 2, ["--windows-amdgpu-families", "../x"]),
    "two words": ("S044", 2, ["--windows-amdgpu-families", "nonsense fam"]),
    "quotes": ("S044", 2, ["--windows-amdgpu-families", 'gfx9"']),
    "a control character": ("S044", 2, ["--windows-amdgpu-families", "gfx9\x1b"]),
    "nothing": ("S044", 2, ["--linux-amdgpu-families", ","]),
    "not among the artifacts": ("S005", 3, ["--linux-amdgpu-families", "gfx900"]),
    "a line's end": ("S046", 2, ["--version", "7.2.0\n"]),
}


@pytest.mark.parametrize(("code", "exit_code", "words"), LISTS.values(), ids=LISTS.keys())
def test_flags_that_name_nothing(code, exit_code, words, artifacts, tmp_path):
    version = [] if "--version" in words else ["--version", "7.2.0"]
    for command in (["sdk", "build"], ["compat", "build_python_packages"]):
        done = refused(code, exit_code, *command, "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", *version, *words)
        assert "\x1b" not in done.err
    assert not (tmp_path / "out").exists()


def test_what_is_built_is_in_its_platforms_list(artifacts, tmp_path):
    """The other platform's list alone does not say that this one has nothing."""
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path, "--version", "7.2.0", "--profile", "ci", "--windows-amdgpu-families", "gfx110X-all")
    with tarfile.open(tmp_path / "dist/rocm-7.2.0.tar.gz") as sdist:
        text = sdist.extractfile(next(n for n in sdist.getnames() if n.endswith("_dist_info.py"))).read().decode()
    assert 'LINUX_TARGET_FAMILIES = ["gfx103X-dgpu"]' in text and 'WINDOWS_TARGET_FAMILIES = ["gfx110X-all"]' in text


def test_artifacts_of_a_build_tree(own_artifacts, tmp_path):
    """TheRock's cmake packs each artifact beside it, then February's job makes the packages from the same directory."""
    words = ("--dest-dir", tmp_path / "alone", "--version", "7.2.0")
    good("compat", "build_python_packages", "--artifact-dir", own_artifacts, *words)
    good("artifact", "pack", own_artifacts, "--output-dir", tmp_path / "packed")
    for archive in (tmp_path / "packed").iterdir():
        shutil.copy(archive, own_artifacts)
    assert "error[A006]" in refused("S030", 1, "sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "none", "--version", "7.2.0").err
    good("compat", "build_python_packages", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "both", "--version", "7.2.0")
    alone, both = ({file.name: file.read_bytes() for file in (tmp_path / name / "dist").iterdir()} for name in ("alone", "both"))
    assert alone == both
    one = next(own_artifacts.glob("*.tar.zst"))
    shutil.copy(one, one.with_suffix(".xz"))
    done = refused("S030", 1, "compat", "build_python_packages", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "none", "--version", "7.2.0")
    assert f"{one.with_suffix('.xz').name} and {one.name} are the same artifact" in done.err


def test_artifacts_of_windows(tmp_path):
    done = build_refused("S030", 1, small_windows_artifacts.make(tmp_path / "windows"), tmp_path / "out")
    assert "S036" in done.err


def test_names_that_differ_in_case_only(own_artifacts, tmp_path):
    stage = own_artifacts / "core-hip_dev_generic/core/clr/stage/include/hip"
    small_artifacts.write(stage / "Case.h", "a\n")
    small_artifacts.write(stage / "case.h", "a\n")
    done = build_refused("S030", 1, own_artifacts, tmp_path / "out")
    assert "S047" in done.err and "Case.h" in done.err and "core-hip_dev_generic" in done.err


def test_a_manifest_that_names_a_missing_directory(own_artifacts, tmp_path):
    manifest = own_artifacts / "base_run_generic/artifact_manifest.txt"
    line = len(manifest.read_text().splitlines()) + 1
    manifest.write_text(manifest.read_text() + "not/there\n")
    assert f"error[A005] {manifest}:{line}: " in build_refused("S030", 1, own_artifacts, tmp_path / "out").err
    for words in (["list"], ["verify"], ["pack", "--output-dir", tmp_path / "p"], ["fetch", "--output-dir", tmp_path / "f", "--from"]):
        assert f"warning[A005]: {manifest}:{line}: " in good("artifact", *words, own_artifacts).err


def test_an_announced_archive_that_is_gone(archives, tmp_path):
    copy = tmp_path / "archives"
    shutil.copytree(archives, copy)
    (copy / "core-hip_lib_generic.tar.zst").unlink()
    assert "A033" in build_refused("S030", 1, copy, tmp_path / "out").err
    refused("A035", 3, "artifact", "fetch", "--from", copy, "--output-dir", tmp_path / "f")
    refused("A033", 6, "artifact", "list", copy)
    refused("A033", 3, "artifact", "verify", copy)


def test_a_pipe_in_place_of_a_file(own_artifacts, tmp_path):
    pipe = tmp_path / "pipe-1.0-py3-none-any.whl"
    os.mkfifo(pipe)
    (own_artifacts / "base_run_generic/artifact_manifest.txt").unlink()
    os.mkfifo(own_artifacts / "base_run_generic/artifact_manifest.txt")
    assert "D009" in build_refused("S030", 1, own_artifacts, tmp_path / "out").err
    for words in (["matrix", "check", pipe], ["wheel", "verify", pipe], ["elf", "show", pipe]):
        assert "[D009]" in quarry(*words, timeout=60).err, words


def test_target_that_cannot_name_a_package(own_artifacts, tmp_path):
    (own_artifacts / "blas_lib_gfx103X-dgpu").rename(own_artifacts / "blas_lib_gfx+x")
    refused("S008", 2, "sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0")


def test_destination_that_is_a_file(artifacts, tmp_path):
    (tmp_path / "out").write_text("in the way")
    refused("D002", 7, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0")


def test_full_disk(artifacts, tmp_path):
    """A file system of 100 kB: the command says so and leaves no half-written package."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        refused("D003", 12, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", small, "--version", "1.0", "--profile", "stored")
        left = [f for f in small.rglob("*") if f.is_file() and f.name != ".quarry-being-built"]
        assert all(f.suffix in (".whl", ".gz", ".proof") for f in left), "no temporary file stays"
        refused("P014", 8, "publish", small, "--store", f"file:{tmp_path / 'store'}", "--run-id", "1", "--platform", "linux")
        for wheel in small.rglob("*.whl"):
            good("wheel", "verify", wheel)  # packages that were complete before the disk was full
    finally:
        subprocess.run(["umount", small], check=True)


def test_recipe_with_a_typo(artifacts, tmp_path):
    recipe = tmp_path / "mine.toml"
    text = (Path(__file__).resolve().parents[2] / "data/recipes/rocm-sdk.toml").read_text()
    recipe.write_text(text.replace("per_family = true", "per_famly = true"))
    done = refused("S002", 2, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--recipe", recipe)
    assert "mine.toml:" in done.err and "per_famly" in done.err


def test_recipe_that_is_missing(artifacts, tmp_path):
    refused("S009", 3, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--recipe", "none")


def test_one_file_is_enough(artifacts, tmp_path):
    """A copy of the program alone, somewhere else, has its recipes, runtime packages and launcher with it."""
    program = tmp_path / "bin/quarry"
    program.parent.mkdir()
    shutil.copy2(PROGRAM, program)
    command = [program, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci"]
    subprocess.run(command, cwd=tmp_path, env=clean_environment(), check=True, capture_output=True)
    assert len(list((tmp_path / "out/dist").glob("[!.]*"))) == 4
