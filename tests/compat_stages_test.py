"""`quarry compat artifact_manager` and `post_stage_upload`: artifacts and logs between the stages of a build, as a workflow of staged builds calls
them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import s3_server, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
TOPOLOGY = """
[build_stages.compiler-runtime]
description = "compiler, runtime"
artifact_groups = ["compiler", "runtime"]
[build_stages.math-libs]
type = "per-arch"
artifact_groups = ["math"]
[artifact_groups.compiler]
source_sets = ["llvm"]
[artifact_groups.runtime]
artifact_group_deps = ["compiler"]
[artifact_groups.math]
artifact_group_deps = ["runtime"]
[artifacts.amd-llvm]
artifact_group = "compiler"
[artifacts.base]
artifact_group = "compiler"
[artifacts.core-hip]
artifact_group = "runtime"
artifact_deps = ["amd-llvm"]
[artifacts.blas]
artifact_group = "math"
type = "target-specific"
artifact_deps = ["core-hip", "base"]
""" + "".join(f'[artifacts.a-component-of-many-{n}]\nartifact_group = "math"\n' for n in range(100))  # as many as TheRock has
COMPILER = {"amd-llvm_run_generic", "base_run_generic", "core-hip_dev_generic", "core-hip_lib_generic"}
MATH = {f"blas_dev_{FAMILY}", f"blas_lib_{FAMILY}"}


def manager(action: str, *words: str | Path, cwd: Path, **variables: str):
    return good("compat", "artifact_manager", action, *words, cwd=cwd, environment=clean_environment(**variables))


def refuses(code: str, exit_code: int, *words: str | Path, cwd: Path):
    return refused(code, exit_code, "compat", "artifact_manager", *words, cwd=cwd)


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A checkout with its topology and a build that made everything."""
    (tmp_path / "BUILD_TOPOLOGY.toml").write_text(TOPOLOGY)
    small_artifacts.make(tmp_path / "build")
    return tmp_path


def archives(place: Path) -> set[str]:
    return {path.name.removesuffix(".tar.zst") for path in place.iterdir() if path.name.endswith(".tar.zst")}


def test_from_stage_to_stage(build: Path):
    """The compiler's job pushes; the libraries' job takes that, builds, and pushes; the packages' job takes all."""
    store = build / "store"
    place = ["--run-id", "42", "--store", f"file:{store}"]
    manager("push", "--stage", "compiler-runtime", "--build-dir", "build", *place, cwd=build)
    assert archives(store / "42-linux") == COMPILER and not list((build / "build").glob(".quarry-push-*"))
    assert json.loads((store / "42-linux/manifests/compiler-runtime/upload.json").read_text())["complete"] is True
    libraries = build / "libraries"
    told = manager("fetch", "--stage=math-libs", f"--amdgpu-families={FAMILY}", "--output-dir", libraries, "--bootstrap", *place, cwd=build)
    assert "next:" not in told.err, "the directory that it would name is gone"
    assert (libraries / "core/clr/stage/lib/libamdhip64.so.5").exists() and (libraries / "core/clr/stage/include/hip/hip_runtime.h").exists()
    assert (libraries / "core/clr/stage.prebuilt").is_file() and (libraries / "compiler/amd-llvm/stage.prebuilt").is_file()
    assert not list(libraries.glob(".quarry*")) and not (libraries / "math-libs").exists()
    manager("push", "--stage", "math-libs", "--build-dir", "build", *place, "--compression-type", "zstd", cwd=build)
    assert archives(store / "42-linux") == COMPILER | MATH
    manager("fetch", "--stage=all", f"--amdgpu-families={FAMILY}", "--expand-family-to-targets", "--output-dir", build / "all", *place, cwd=build)
    assert {path.name for path in (build / "all/artifacts").iterdir() if path.is_dir() and not path.name.startswith(".")} == COMPILER | MATH


def test_bootstrapping_again_replaces_what_is_there(build: Path):
    place = ["--run-id", "42", "--local-staging-dir", build / "staging"]
    manager("push", "--stage", "compiler-runtime", "--build-dir", "build", *place, cwd=build)
    words = ["--stage=math-libs", "--output-dir", build / "out", "--bootstrap", *place]
    manager("fetch", *words, cwd=build)
    library = build / "out/core/clr/stage/lib/libamdhip64.so.5.2.1"
    whole = library.read_bytes()
    library.write_bytes(b"mine")
    (build / "out/core/clr/stage/stale").touch()
    manager("fetch", *words, cwd=build)
    assert library.read_bytes() == whole and not (library.parent.parent / "stale").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], COMPILER),
        (["--generic-only"], COMPILER),
        (["--amdgpu-families", f"gfx1151;{FAMILY}"], COMPILER | MATH),
        (["--amdgpu-targets", FAMILY], COMPILER | MATH),
        (["--amdgpu-families", FAMILY, "--exclude-components", "dev;run"], {"core-hip_lib_generic", f"blas_lib_{FAMILY}"}),
        (["--exclude-artifacts", "amd-llvm,base"], {"core-hip_dev_generic", "core-hip_lib_generic"}),
    ],
)
def test_what_is_fetched(words: list, expected: set, build: Path):
    good("artifact", "pack", build / "build/artifacts", "--output-dir", build / "store/42-linux")
    manager("fetch", *words, "--output-dir", "out", "--no-extract", cwd=build, THEROCK_RUN_ID="42", THEROCK_LOCAL_STAGING_DIR=str(build / "store"))
    assert archives(build / "out/.download_cache") == expected
    manager("fetch", *words, "--output-dir", "flat", "--flatten", cwd=build, GITHUB_RUN_ID="42", QUARRY_STORE=f"file:{build / 'store'}")
    assert (build / "flat/lib/libamdhip64.so.5").exists()


def test_a_family_without_an_artifact_is_told(build: Path):
    """Of all stages; one stage may take generic artifacts alone."""
    place = ["--local-staging-dir", build / "store", "--run-id", "42"]
    good("artifact", "pack", build / "build/artifacts", "--output-dir", build / "store/42-linux")
    done = manager("fetch", "--amdgpu-families", f"gfx1151;{FAMILY}", "--output-dir", "out", *place, cwd=build)
    assert f"A021]: 42-linux: the run has no artifact of gfx1151; it has {FAMILY}" in done.err.replace("run:", "")
    for words in (["--stage=all", "--amdgpu-families", FAMILY], ["--stage=math-libs", "--amdgpu-families", "gfx1151"]):
        assert "A021" not in manager("fetch", *words, "--output-dir", "out", *place, cwd=build).err


def test_prebuilt_stages_are_copied(build: Path):
    place = ["--local-staging-dir", build / "staging"]
    good("artifact", "pack", build / "build/artifacts", "--output-dir", build / "staging/41-linux")
    words = ["--source-run-id", "41", "--run-id", "42", "--stage", "compiler-runtime", *place]
    done = manager("copy", *words, "--dry-run", cwd=build)
    assert done.out.count("would copy") == len(COMPILER) and not (build / "staging/42-linux").exists()
    manager("copy", *words, cwd=build)
    assert archives(build / "staging/42-linux") == COMPILER
    again = manager("copy", *words, "--json", cwd=build)
    assert again.json["writes"] == 0, "copied already"
    manager("copy", "--source-run-id", "41", "--run-id", "42", "--stage", "compiler-runtime,math-libs", "--amdgpu-families", FAMILY, *place, cwd=build)
    assert archives(build / "staging/42-linux") == COMPILER | MATH
    good("artifact", "verify", "run:42", "--store", f"file:{build / 'staging'}")


def test_a_bucket_copies_by_itself(build: Path):
    with s3_server.serve() as server:
        variables = {**server.environment(), "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1"}
        place = ["--store", f"s3://{server.bucket}", "--run-github-repo", "ROCm/TheRock"]
        manager("push", "--stage", "compiler-runtime", "--build-dir", "build", "--run-id", "41", *place, cwd=build, **variables)
        manager("copy", "--source-run-id", "41", "--run-id", "42", "--stage", "compiler-runtime", *place, cwd=build, **variables)
        stored = set(s3_server.Client(server.endpoint, server.access, server.secret).list(server.bucket))
        assert {f"42-linux/{name}.tar.zst" for name in COMPILER} | {f"42-linux/{name}.tar.zst.sha256sum" for name in COMPILER} <= stored
        manager("fetch", "--stage", "math-libs", "--run-id", "42", "--output-dir", "out", *place, cwd=build, **variables)
        assert (build / "out/artifacts/core-hip_lib_generic").is_dir()


def test_stages_are_shown(build: Path):
    stages = manager("list-stages", "--json", cwd=build).json["stages"]
    assert [stage["name"] for stage in stages] == ["compiler-runtime", "math-libs"] and stages[0]["inbound"] == []
    shown = manager("info", "--stage", "math-libs", "--topology", build / "BUILD_TOPOLOGY.toml", cwd=build.parent).out
    assert "takes 3" in shown and "core-hip  target-neutral" in shown and "blas  target-specific" in shown
    assert "nothing goes into" in manager("fetch", "--stage", "compiler-runtime", "--output-dir", "out", cwd=build).err


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("C042", 2, ["move"]),
        ("C042", 2, ["fetch"]),
        ("C042", 2, ["push", "--stage", "math-libs"]),
        ("C042", 2, ["push", "--stage", "math-libs", "--build-dir", "build", "--flatten"]),
        ("C042", 2, ["info", "--stage", "math-libs", "--dry-run"]),
        ("C042", 2, ["fetch", "--output-dir", "out", "--bootstrap", "--flatten"]),
        ("C042", 2, ["fetch", "--output-dir", "out", "--generic-only", "--amdgpu-families", FAMILY]),
        ("C042", 2, ["fetch", "--output-dir", "out", "--exclude-components", "docs"]),
        ("C042", 2, ["fetch", "--output-dir", "out", "--exclude-artifacts", "bals"]),
        ("C042", 2, ["fetch", "--output-dir", "out", "--download-concurrency", "0"]),
        ("C042", 2, ["copy", "--stage", "math-libs"]),
        ("C040", 2, ["push", "--stage", "math-libs", "--build-dir", "build", "--compression-level", "9"]),
        ("C040", 2, ["copy", "--source-run-id", "1", "--stage", "math-libs", "--era", "feb"]),
        ("F003", 2, ["fetch", "--output-dir", "out", "--expand-family-to-targets", "--amdgpu-families", "gfx94Y"]),
        ("A096", 3, ["fetch", "--stage", "mathlibs", "--output-dir", "out"]),
        ("A095", 2, ["info", "--stage", "x", "--topology", "broken.toml"]),
        ("D001", 3, ["info", "--stage", "x", "--topology", "none.toml"]),
        ("A021", 3, ["copy", "--source-run-id", "41", "--stage", "math-libs"]),
        ("A021", 3, ["fetch", "--stage", "math-libs", "--output-dir", "out", "--run-id", "43"]),
    ],
)
def test_what_cannot_be_meant(code: str, exit_code: int, words: list, build: Path):
    (build / "broken.toml").write_text("[build_stages.x]\nartifact_groups = ['y']\n")
    (build / "store/41-linux").mkdir(parents=True)
    shutil.copytree(build / "build/artifacts/core-hip_lib_generic", build / "other/other_lib_generic")
    good("artifact", "pack", build / "other", "--output-dir", build / "store/43-linux")
    good("artifact", "pack", build / "other", "--output-dir", build / "store/41-linux")
    refused(code, exit_code, "compat", "artifact_manager", *words, cwd=build, environment=clean_environment(QUARRY_STORE=f"file:{build / 'store'}"))
    assert not (build / "out").exists()


def test_two_owners_of_one_path_are_refused(build: Path):
    artifacts = build / "build/artifacts"
    small_artifacts.write(small_artifacts.stage(artifacts, "base", "run", "generic", "core/clr/stage") / "include/hip/hip_runtime.h", "other\n")
    (artifacts / "base_run_generic/artifact_manifest.txt").write_text("base/tools/stage\ncore/clr/stage\n")
    place = ["--run-id", "42", "--local-staging-dir", "staging"]
    manager("push", "--stage", "compiler-runtime", "--build-dir", "build", *place, cwd=build)
    (build / "out/core/clr/stage").mkdir(parents=True)
    (build / "out/core/clr/stage/mine").touch()
    done = refuses("A015", 2, "fetch", "--stage", "math-libs", "--output-dir", "out", "--bootstrap", *place, cwd=build)
    assert "core/clr/stage/include/hip/hip_runtime.h is in base_run_generic and in core-hip_dev_generic" in done.err
    assert (build / "out/core/clr/stage/mine").exists()


# ---- post_stage_upload


def logs(build: Path) -> Path:
    for name, text in {"logs/configure.log": "ok\n", "logs/ccache/a.log": "hit\n" * 1000, "blas/.ninja_log": "# ninja log v5\n", "base/aux-overlay/build/therock_manifest.json": "{}"}.items():
        small_artifacts.write(build / name, text)
    return build


def keys(store: Path) -> set[str]:
    return {str(path.relative_to(store)) for path in store.rglob("*") if path.is_file() and ".quarry" not in path.parts}


@pytest.mark.parametrize("family", ["", "gfx1151"])
def test_the_logs_of_a_stage(family: str, tmp_path: Path):
    build, store = logs(tmp_path / "build"), tmp_path / "store"
    words = ["compat", "post_stage_upload", "--run-id", "42", "--stage=math-libs", f"--amdgpu-family={family}", "--build-dir", build]
    assert "would upload" in good(*words, "--output-dir", store, "--dry-run").out and not store.exists()
    good(*words, "--output-dir", store)
    where = f"42-linux/logs/math-libs/{family}/".replace("//", "/")
    assert keys(store) - {"42-linux/index.html"} == {where + name for name in ("configure.log", "ccache_logs.tar.zst", "ninja_logs.tar.gz", "index.html")}
    packed = subprocess.run(["tar", "--zstd", "-xOf", store / where / "ccache_logs.tar.zst", "a.log"], capture_output=True, check=True).stdout
    assert packed == b"hit\n" * 1000
    before = keys(store)
    good(*words, "--store", f"file:{store}")
    assert keys(store) == before, "again"


def test_the_first_stage_has_the_list_of_sources(tmp_path: Path):
    build, store = logs(tmp_path / "build"), tmp_path / "store"
    good("compat", "post_stage_upload", "--stage", "compiler-runtime", "--store", f"file:{store}", environment=clean_environment(GITHUB_RUN_ID="42", BUILD_DIR=str(build)))
    assert "42-linux/manifests/therock_manifest.json" in keys(store)


def test_a_build_that_never_began_is_no_error(tmp_path: Path):
    done = good("compat", "post_stage_upload", "--run-id", "42", "--stage", "x", "--build-dir", tmp_path / "none", "--store", f"file:{tmp_path}")
    assert "ended before its build began" in done.err
    refused("C042", 2, "compat", "post_stage_upload", "--stage", "x", "--build-dir", tmp_path)
    refused("C040", 2, "compat", "post_stage_upload", "--stage", "x", "--run-id", "1", "--compression-level", "3")
    (tmp_path / "logs").mkdir()
    refused("L020", 2, "compat", "post_stage_upload", "--stage", "../x", "--run-id", "1", "--build-dir", tmp_path, "--store", f"file:{tmp_path}/s")
    assert quarry("run", "upload", tmp_path, "--run-id", "1", "--platform", "linux", "--store", f"file:{tmp_path}/s", "--stage", "x").code == 2
