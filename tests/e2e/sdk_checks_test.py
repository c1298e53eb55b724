"""`sdk build` on artifacts that must not be packaged as they are: split ones, launchers, run paths, modes, payloads, leftovers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import dist_facts, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
MANIFEST = "share/therock/therock_manifest.json"


def words(artifacts: Path, out: Path, *more: str | Path, version: str = "1.0") -> list:
    return ["sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", version, "--profile", "ci", *more]


def build(artifacts: Path, out: Path, *more: str | Path, **options):
    return good(*words(artifacts, out, *more, **options))


def packed(artifacts: Path, form: str, place: Path) -> Path:
    if form == "directories":
        return artifacts
    good("artifact", "pack", artifacts, "--output-dir", place, "--format", form)
    return place


def findings(done, code: str) -> list[dict]:
    return [each for each in done.json["findings"] if each["code"] == code]


def unpacked(out: Path, site: Path) -> Path:
    """The wheels as an installer leaves them, modes included."""
    for wheel in (out / "dist").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                Path(archive.extract(entry, site)).chmod(entry.external_attr >> 16 & 0o777 or 0o755)
    return site


# --- artifacts that are split by GPU target

FLAGS = {"true": True, "a word": "ON", "a number": 1}


@pytest.mark.parametrize("form", ["directories", "zst", "xz"])
@pytest.mark.parametrize("flag", FLAGS.values(), ids=FLAGS.keys())
def test_artifacts_of_a_family_in_a_split_run(flag, form, own_artifacts, tmp_path):
    base = small_artifacts.stage(own_artifacts, "base", "lib", "generic", "base/aux-overlay/stage")
    small_artifacts.write(base / MANIFEST, json.dumps({"flags": {"KPACK_SPLIT_ARTIFACTS": flag}}))
    given = packed(own_artifacts, form, tmp_path / "packed")
    for more in ([], ["--dry-run"], ["--no-build-packages"]):
        done = refused("S059", 6, *words(given, tmp_path / "out", *more))
        assert FAMILY in done.err and "hint:" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["directories", "zst"])
@pytest.mark.parametrize("name", [".kpack/blas_lib.kpm", f"lib/.kpack/blas_lib_{FAMILY}.kpack"])
def test_device_code_that_was_split_off_one_library_alone(name, form, own_artifacts, tmp_path):
    small_artifacts.write(own_artifacts / f"blas_lib_{FAMILY}/math-libs/BLAS/stage" / name, "KPAK")
    given = packed(own_artifacts, form, tmp_path / "packed")
    done = refused("S059", 6, *words(given, tmp_path / "out"))
    assert f"blas_lib_{FAMILY}" in done.err and name in done.err


@pytest.mark.parametrize("flag", [False, None, 0, "", "absent"])
def test_artifacts_that_are_not_split_are_built(flag, own_artifacts, tmp_path):
    base = small_artifacts.stage(own_artifacts, "base", "lib", "generic", "base/aux-overlay/stage")
    flags = {} if flag == "absent" else {"KPACK_SPLIT_ARTIFACTS": flag}
    small_artifacts.write(base / MANIFEST, json.dumps({"flags": flags}))
    build(own_artifacts, tmp_path / "out")


def test_a_manifest_that_is_not_an_object(own_artifacts, tmp_path):
    base = small_artifacts.stage(own_artifacts, "base", "lib", "generic", "base/aux-overlay/stage")
    small_artifacts.write(base / MANIFEST, "[]")
    refused("B002", 6, *words(own_artifacts, tmp_path / "out"))


def test_generic_artifacts_alone_have_no_family(own_artifacts, tmp_path):
    for directory in own_artifacts.glob(f"*_{FAMILY}"):
        shutil.rmtree(directory)
    done = refused("S005", 3, *words(own_artifacts, tmp_path / "out"))
    assert "generic" in done.err
    assert not (tmp_path / "out").exists()


# --- what no package takes


@pytest.mark.parametrize("form", ["directories", "zst"])
def test_an_artifact_that_no_package_takes_is_a_finding_with_its_bytes(form, own_artifacts, tmp_path):
    clean = build(own_artifacts, tmp_path / "clean", "--json")
    assert clean.json["unused"] == [] and not findings(clean, "S054") and not findings(clean, "S055")
    for component in ("lib", "run"):
        stage = small_artifacts.stage(own_artifacts, "hip-extras", component, "generic", "debug/stage")
        small_artifacts.write(stage / f"bin/{component}", "x" * 70_000)
    given = packed(own_artifacts, form, tmp_path / "packed")
    done = build(given, tmp_path / "out", "--json")
    assert [(u["artifact"], u["whole"]) for u in done.json["unused"]] == [("hip-extras_lib_generic", True), ("hip-extras_run_generic", True)]
    for unused in done.json["unused"]:
        archive = given / f"{unused['artifact']}.tar.zst"
        assert unused["bytes"] == (archive.stat().st_size if form == "zst" else 70_000 + len("debug/stage\n"))
    (finding,) = findings(done, "S054")
    assert finding["severity"] == "warning" and "hip-extras_run_generic" in finding["message"]
    text = build(given, tmp_path / "text").err
    assert "warning[S054]" in text and text.index("S054") < text.index("built ")


def test_files_that_no_package_takes(own_artifacts, tmp_path):
    """The globs of every package exclude them: a recipe whose devel takes nothing but headers."""
    root = Path(__file__).resolve().parents[2]
    recipe = tmp_path / "mine.toml"
    text = (root / "data/recipes/rocm-sdk.toml").read_text()
    recipe.write_text(text.replace("runtime = true\n", 'runtime = true\nexclude = ["**/cmake/**"]\n', 1))
    done = build(own_artifacts, tmp_path / "out", "--recipe", recipe, "--json")
    (unused,) = done.json["unused"]
    assert unused == {"artifact": "core-hip_dev_generic", "whole": False, "files": 1, "bytes": 20, "asked": True}
    (finding,) = findings(done, "S055")
    assert "hip-config.cmake" in finding["message"]


def test_a_family_that_was_not_asked_for_is_noted(tmp_path):
    artifacts = small_artifacts.make(tmp_path, (FAMILY, "gfx94X-dcgpu"))
    done = build(artifacts, tmp_path / "out", "--linux-amdgpu-families", FAMILY, "--json")
    assert done.json["unused"] and not [u for u in done.json["unused"] if u["asked"] or "gfx94X-dcgpu" not in u["artifact"]]
    (finding,) = findings(done, "S064")
    assert finding["severity"] == "note" and "gfx94X-dcgpu" in finding["message"]
    assert not findings(build(artifacts, tmp_path / "all", "--json"), "S064")


# --- launchers


def test_a_link_through_a_directory_link_runs(own_artifacts, tmp_path):
    stage = own_artifacts / "amd-llvm_run_generic/compiler/amd-llvm/stage"
    (stage / "llvm").symlink_to("lib/llvm")
    (stage / "bin").mkdir()
    (stage / "bin/amdclang").symlink_to("../llvm/bin/clang++")
    (stage / "bin/again").symlink_to("amdclang")
    build(own_artifacts, tmp_path / "out")
    site = unpacked(tmp_path / "out", tmp_path / "site")
    for name in ("amdclang", "again"):
        done = subprocess.run([site / "_rocm_sdk_core/bin" / name, "hello"], capture_output=True, text=True)
        assert done.stdout == "OVERVIEW: clang LLVM compiler hello\n", done.stderr


# --- modes


@pytest.mark.parametrize("names", [("amd-llvm", "base"), ("base", "sysdeps")])
def test_an_executable_bit_of_one_artifact_is_kept(names, own_artifacts, tmp_path):
    for name, mode in zip(names, (0o644, 0o755), strict=True):
        tool = small_artifacts.stage(own_artifacts, name, "run", "generic", {"amd-llvm": "compiler/amd-llvm/stage", "base": "base/tools/stage"}.get(name, "s")) / "bin/tool"
        small_artifacts.write(tool, "#!/bin/sh\n")
        tool.chmod(mode)
    done = build(own_artifacts, tmp_path / "out", "--json")
    (note,) = findings(done, "S050")
    assert note["severity"] == "note" and "bin/tool" in note["message"] and names[1] in note["message"]
    assert dist_facts.facts(tmp_path / "out/dist")["rocm-sdk-core"]["_rocm_sdk_core/bin/tool"][-1] is True
    assert os.access(unpacked(tmp_path / "out", tmp_path / "site") / "_rocm_sdk_core/bin/tool", os.X_OK)


# --- run paths


@pytest.mark.parametrize("tag", ["--enable-new-dtags", "--disable-new-dtags"])
@pytest.mark.parametrize("component", ["lib", "test"])
def test_run_paths_of_the_working_directory_are_removed(component, tag, own_artifacts, tmp_path):
    """In a runtime package, and in a file that only devel has."""
    stage = small_artifacts.stage(own_artifacts, "core-hip", component, "generic", "core/clr/stage")
    (stage / "lib").mkdir(exist_ok=True)
    path = "-Wl,-rpath,lib:.:/home/builder/x:$ORIGIN/../own"
    small_artifacts.compile_library(stage / "lib/libodd.so.1", "libodd.so.1", "odd", path, f"-Wl,{tag}")
    done = build(own_artifacts, tmp_path / "out", "--json")
    assert [(f["severity"], f["message"].split(",")[0]) for f in done.json["findings"] if f["code"] in ("S051", "S052")] == [
        ("warning", '"."'), ("note", '"/home/builder/x"'), ("warning", '"lib"')]  # fmt: skip
    facts = dist_facts.facts(tmp_path / "out/dist")
    if component == "lib":
        dynamic = facts["rocm-sdk-core"]["_rocm_sdk_core/lib/libodd.so.1"][1]
        assert dynamic["DT_RPATH"].split(":")[0] == "$ORIGIN/../own"
    else:
        dynamic = facts["rocm-sdk-devel"]["devel:_rocm_sdk_devel/lib/libodd.so.1"][1]
        assert dynamic["DT_RPATH"] == "$ORIGIN/../own"
    assert not {"lib", ".", "/home/builder/x"} & set(dynamic["DT_RPATH"].split(":")) and "DT_RUNPATH" not in dynamic


# --- payloads


def test_a_program_with_an_appended_payload_is_not_moved(own_artifacts, tmp_path):
    program = own_artifacts / "amd-llvm_run_generic/compiler/amd-llvm/stage/lib/llvm/bin/clang"
    good("elf", "edit", program, "--output", tmp_path / "short", "--rpath", "$ORIGIN")  # the one of the packages does not fit in its place
    program.write_bytes((tmp_path / "short").read_bytes())
    size = program.stat().st_size
    with program.open("ab") as file:
        file.write(b"PAYLOAD!" + size.to_bytes(8, "little"))
    done = refused("S030", 1, *words(own_artifacts, tmp_path / "out"))
    assert "E040" in done.err and "lib/llvm/bin/clang" in done.err
    refused("E040", 1, "elf", "edit", program, "--output", tmp_path / "edited", "--rpath", "$ORIGIN/" + "x" * 200)
    good("elf", "edit", program, "--output", tmp_path / "edited", "--rpath", "lib")
    assert (tmp_path / "edited").read_bytes()[size:] == program.read_bytes()[size:]


# --- a second build into the same directory


def test_another_version_in_the_directory_is_refused(artifacts, tmp_path):
    out = tmp_path / "out"
    build(artifacts, out, version="7.2.0")
    before = sorted(f.name for f in (out / "dist").glob("[!.]*"))
    for more in ([], ["--dry-run"]):
        done = refused("S056", 7, *words(artifacts, out, *more, version="7.2.1"))
        assert "rocm-7.2.0.tar.gz" in done.err
    assert sorted(f.name for f in (out / "dist").glob("[!.]*")) == before, "nothing was removed, and nothing is left of the attempt"
    command = done.err.split("delete them: ")[1].strip()
    subprocess.run(["sh", "-ec", command], check=True)
    build(artifacts, out, version="7.2.1")
    assert sorted(f.name for f in (out / "dist").glob("[!.]*")) == [name.replace("7.2.0", "7.2.1") for name in before]


def test_foreign_packages_in_the_directory_are_reported(artifacts, tmp_path):
    (tmp_path / "out/dist").mkdir(parents=True)
    (tmp_path / "out/dist/numpy-1.0.tar.gz").write_bytes(b"x")
    done = build(artifacts, tmp_path / "out", "--json")
    (finding,) = findings(done, "S057")
    assert finding["severity"] == "warning" and "numpy-1.0.tar.gz" in finding["message"]


def test_publish_refuses_several_versions_of_one_project(packages, next_packages, tmp_path):
    both = tmp_path / "both"
    both.mkdir()
    for out in (packages, next_packages):
        for file in (out / "dist").iterdir():
            shutil.copy(file, both)
    publish = ["publish", both, "--store", f"file:{tmp_path / 'store'}", "--run-id", "43", "--platform", "linux"]
    done = refused("P016", 2, *publish)
    assert "7.2.0, 7.2.1" in done.err and "--several-versions" in done.err
    assert not (tmp_path / "store").exists()
    assert "warning[P016]" in good(*publish, "--several-versions").err


def test_publish_refuses_another_version_in_a_run(packages, next_packages, tmp_path):
    publish = ["--store", f"file:{tmp_path / 'store'}", "--run-id", "43", "--platform", "linux", "--artifact-group", "g"]
    good("publish", packages, *publish)
    done = refused("P016", 7, "publish", next_packages, *publish)
    assert "7.2.0 already" in done.err and "--several-versions" in done.err
    good("publish", next_packages, *publish, "--several-versions")


def test_a_split_that_nothing_declares_is_refused(artifacts, tmp_path):
    """The family's own artifact holds device code alone; its library is in the generic one."""
    tree = tmp_path / "split"
    shutil.copytree(artifacts, tree, symlinks=True)
    moved = [directory for directory in tree.iterdir() if directory.is_dir() and directory.name.split("_")[1] == "lib" and not directory.name.endswith("_generic")]
    assert moved
    for directory in moved:
        for library in [path for path in directory.rglob("*") if ".so" in path.name]:
            library.unlink()
        (directory / "artifact_manifest.txt").read_text()
        base = directory / (directory / "artifact_manifest.txt").read_text().splitlines()[0]
        (base / "lib/rocblas/library").mkdir(parents=True, exist_ok=True)
        (base / "lib/rocblas/library/kernels.co").write_bytes(b"device code")
    refused("S059", 6, *words(tree, tmp_path / "out"))
    assert not list((tmp_path / "out").rglob("*.whl"))


def test_a_manifest_that_says_split_of_artifacts_that_are_not(artifacts, tmp_path):
    """The error names what is wrong, the manifest: none of the artifacts is split."""
    tree = tmp_path / "tree"
    shutil.copytree(artifacts, tree, symlinks=True)
    manifest = next(iter(tree.rglob("therock_manifest.json")), tree / "base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json")
    manifest.parent.mkdir(parents=True, exist_ok=True)
    small_artifacts.write(tree / "base_lib_generic/artifact_manifest.txt", "base/aux-overlay/stage\n")
    manifest.write_text('{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}')
    done = refused("S059", 6, *words(tree, tmp_path / "out"))
    assert "therock_manifest.json says that device code is split" in done.err and small_artifacts.FAMILY in done.err and not (tmp_path / "out").exists()


# --- what is printed


def test_the_next_command_says_only_what_is_known(artifacts, tmp_path):
    done = build(artifacts, tmp_path / "out")
    last = done.err.splitlines()[-1]
    assert last == f"next: quarry publish {tmp_path / 'out'} --store file:store --run-id RUN_ID --platform linux"
    again = quarry(*words(artifacts, tmp_path / "out"), environment=clean_environment(QUARRY_STORE="file:elsewhere"))
    assert again.err.splitlines()[-1] == f"next: quarry publish {tmp_path / 'out'} --run-id RUN_ID --platform linux"
    fetched = good("artifact", "fetch", "--from", artifacts, "--output-dir", tmp_path / "fetched")
    assert fetched.err.splitlines()[-1].endswith("--dest-dir out --version VERSION")


def test_the_result_stands_after_the_findings(artifacts, tmp_path):
    done = build(artifacts, tmp_path / "out")
    lines = done.err.splitlines()
    assert not any(line.startswith(("note[", "warning[")) for line in lines[next(i for i, line in enumerate(lines) if line.startswith("built")) :])
