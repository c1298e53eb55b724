"""`quarry compat SCRIPT` as a workflow calls TheRock's scripts: flags and variables in, outputs, files and exit codes out; and the guide that
lists what becomes of every flag."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import os
import re
import shutil
import sys
import threading
import zipfile
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import dist_facts, distributions, github_double, s3_server, small_artifacts  # noqa: E402
from support.quarry import ROOT, clean_environment, good, quarry, refused  # noqa: E402

SHA = "0123456789abcdef0123456789abcdef01234567"
TAGS = "cp312-cp312-manylinux_2_28_x86_64.whl"
FAMILY = "gfx94X-dcgpu"
ERAS = ["feb", "aug"]


def compat(script: str, *words: str | Path, **options):
    return good("compat", script, *words, **options)


def refuses(code: str, script: str, *words: str | Path, exit_code: int = 2, **options):
    done = refused(code, exit_code, "compat", script, *words, **options)
    assert done.out == ""
    return done


def job(place: Path, **variables: str) -> dict[str, str]:
    """The variables of a step whose files are empty."""
    names = {name: place / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
    for path in names.values():
        path.write_text("")
    return clean_environment(**{name: str(path) for name, path in names.items()}, **variables)


def outputs(place: Path, name: str = "GITHUB_OUTPUT") -> dict[str, str]:
    return dict(line.split("=", 1) for line in (place / name).read_text().splitlines() if line)


# ---- versions


@pytest.mark.parametrize(
    ("words", "wheel", "deb", "rpm"),
    [
        (["--release-type=release"], "7.12.0", "7.12.0", "7.12.0"),
        (["--release-type=prerelease", "--prerelease-version=2"], "7.12.0rc2", "7.12.0~pre2", "7.12.0~rc2"),
        (["--release-type=dev", f"--override-git-sha={SHA}"], f"7.12.0.dev0+{SHA}", None, None),
        (["--release-type=dev", "--override-git-sha=", "--prerelease-version=", "--override-base-version="], f"7.12.0.dev0+{'f' * 40}", None, None),
        (["--custom-version-suffix=.dev0"], "7.12.0.dev0", "7.12.0.dev0", "7.12.0.dev0"),
        (["--release-type=prerelease", "--prerelease-version=1", "--override-base-version=7.99.0"], "7.99.0rc1", "7.99.0~pre1", "7.99.0~rc1"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
def test_versions_of_the_sdk(era: str, words: list, wheel: str, deb: str | None, rpm: str | None, tmp_path: Path):
    (tmp_path / "version.json").write_text('{"rocm-version": "7.12.0"}')
    environment = job(tmp_path, GITHUB_SHA="f" * 40)
    compat("compute_rocm_package_version", *words, "--era", era, cwd=tmp_path, environment=environment)
    found = outputs(tmp_path)
    assert found["rocm_package_version"] == wheel
    assert deb is None or (found["rocm_deb_package_version"], found["rocm_rpm_package_version"]) == (deb, rpm)
    assert set(found) == {"rocm_package_version", "rocm_deb_package_version", "rocm_rpm_package_version"}


def test_versions_of_augusts_release_types(tmp_path: Path):
    (tmp_path / "version.json").write_text('{"rocm-version": "10.1.0", "release-metadata": {"base-date": "20260801"}}')
    for words, pattern in ((["nightly-bkc"], r"10\.1\.0a20260801\+bkc\.\d{8}"), (["ci"], rf"10\.1\.0\.dev0\+{SHA}"), (["nightly"], r"10\.1\.0a\d{8}")):
        environment = job(tmp_path, GITHUB_SHA=SHA)
        compat("compute_rocm_package_version", "--release-type", *words, cwd=tmp_path, environment=environment)
        assert re.fullmatch(pattern, outputs(tmp_path)["rocm_package_version"])
    refuses("N001", "compute_rocm_package_version", "--release-type", "ci", "--era", "feb", cwd=tmp_path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("C042", []),
        ("C042", ["--release-type", "nightly", "--prerelease-version", "2"]),
        ("C042", ["--release-type", "dev", "--custom-version-suffix", "rc1"]),
        ("N005", ["--release-type", "prerelease"]),
        ("N001", ["--release-type", "weekly"]),
        ("C002", ["--release", "dev"]),
        ("C007", ["--release-type", "dev", "--release-type", "nightly"]),
    ],
)
def test_versions_that_cannot_be_meant(code: str, words: list, tmp_path: Path):
    (tmp_path / "version.json").write_text('{"rocm-version": "7.12.0"}')
    environment = job(tmp_path, RELEASE_TYPE="nightly")
    refuses(code, "compute_rocm_package_version", *words, cwd=tmp_path, environment=environment)
    assert outputs(tmp_path) == {}


@pytest.mark.parametrize(
    ("version", "suffix"),
    [("7.10.0", "+rocm7.10.0"), ("7.10.0a20251124", "+rocm7.10.0a20251124"), ("7.10.0.dev0+efed3c", "+devrocm7.10.0.dev0-efed3c")],
)
def test_determine_version(version: str, suffix: str, tmp_path: Path):
    environment = job(tmp_path)
    (tmp_path / "GITHUB_ENV").write_text("cp_version=cp312-cp312")  # as the script leaves it, without an end
    arguments = f"--rocm-sdk-version =={version} --version-suffix {suffix}"
    assert compat("determine_version", "--rocm-version", version, environment=environment).out == arguments + "\n"
    assert outputs(tmp_path, "GITHUB_ENV") == {"cp_version": "cp312-cp312", "optional_build_prod_arguments": arguments, "version_suffix": suffix}
    environment = job(tmp_path)
    assert version in compat("determine_version", "--rocm-version", version, "--no-write-env-file", "--verbose", environment=environment).out
    assert outputs(tmp_path, "GITHUB_ENV") == {}
    assert "GITHUB_ENV is not set" in compat("determine_version", "--rocm-version", version).err
    refuses("M004", "determine_version", "--rocm-version", "7.x")
    refuses("C042", "determine_version", "--rocm-version", version, "--verbose", "--no-verbose")
    refuses("C004", "determine_version")


@pytest.mark.parametrize(("python", "directory"), [("3.12", "cp312-cp312"), ("3.9", "cp39-cp39"), ("3.13t", "cp313-cp313t")])
def test_python_to_cp_version(python: str, directory: str, tmp_path: Path):
    environment = job(tmp_path)
    assert compat("python_to_cp_version", "--python-version", python, environment=environment).out == directory + "\n"
    assert (tmp_path / "GITHUB_ENV").read_text() == f"cp_version={directory}\n"
    compat("python_to_cp_version", "--python-version", python, "--no-write-env-file", environment=environment)
    assert (tmp_path / "GITHUB_ENV").read_text() == f"cp_version={directory}\n"


def test_compute_jax_package_version(tmp_path: Path):
    """The answers of the script, for the requirements of JAX's build."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# what the build takes\nnumpy==2.0\n  jax == 0.8.0  # pinned\njaxlib==0.7.0\n")
    words = ("compute_jax_package_version", "--jax-requirements", requirements, "--rocm-version")
    for rocm, local in {"7.12.0": "7.12.0", "7.12.0a20261121": "7.12.0a20261121", "7.12.0.dev0+e1a5d395": "7.12.0.dev0.e1a5d395"}.items():
        environment = job(tmp_path)
        assert compat(*words, rocm, environment=environment).out == f"JAX_VERSION=0.8.0\nJAXLIB_VERSION=0.8.0+rocm{local}\n"
        assert outputs(tmp_path, "GITHUB_ENV") == {"JAX_VERSION": "0.8.0", "JAXLIB_VERSION": f"0.8.0+rocm{local}"}
        assert compat(*words, rocm, "--json").json["jaxlib_version"] == f"0.8.0+rocm{local}"
    environment = job(tmp_path)
    refuses("M004", *words, "7.x", environment=environment)
    requirements.write_text("jax>=0.8.0\njax-rocm7-plugin==0.8.0\n")
    refuses("N016", *words, "7.12.0", environment=environment)
    refuses("D001", "compute_jax_package_version", "--jax-requirements", tmp_path / "none", "--rocm-version", "7.12.0", exit_code=3, environment=environment)
    assert outputs(tmp_path, "GITHUB_ENV") == {}


@pytest.mark.parametrize(
    ("python", "code"), [("", "C006"), ("312", "N014"), ("3.12.1", "N014"), ("2.7", "N014"), ("three", "N014")]
)
def test_pythons_that_are_none(python: str, code: str, tmp_path: Path):
    refuses(code, "python_to_cp_version", f"--python-version={python}", environment=job(tmp_path))
    assert outputs(tmp_path, "GITHUB_ENV") == {}


def wheels(place: Path, *names: str) -> Path:
    place.mkdir(exist_ok=True)
    for name in names:
        (place / f"{name}-{TAGS}").touch()
    return place


TORCH = ("torch-2.10.0+rocm7.12.0", "torchaudio-2.10.1+rocm7.12.0", "torchvision-0.25.0+rocm7.12.0", "triton-3.6.0+rocm7.12.0", "apex-1.10.0+rocm7.12.0")
JAX = ("jax_rocm7_plugin-0.8.2+rocm7.12.0", "jax_rocm7_pjrt-0.8.2+rocm7.12.0", "jaxlib-0.8.2+rocm7.12.0")


def test_write_torch_versions(tmp_path: Path):
    place = wheels(tmp_path / "dist", *TORCH)
    expected = {f"{name.split('-')[0]}_version": name.split("-")[1] for name in TORCH}
    compat("write_torch_versions", "--dist-dir", place, environment=job(tmp_path))
    assert outputs(tmp_path) == expected
    compat("write_torch_versions", environment=job(tmp_path, PACKAGE_DIST_DIR=str(place)))
    assert outputs(tmp_path) == expected
    (place / f"triton-3.6.0+rocm7.12.0-{TAGS}").unlink()
    refuses("N010", "write_torch_versions", "--dist-dir", place, exit_code=3, environment=job(tmp_path))
    assert outputs(tmp_path) == {}
    compat("write_torch_versions", "--dist-dir", wheels(tmp_path / "asan", TORCH[0]), "--torch-only", environment=job(tmp_path))
    assert outputs(tmp_path) == {"torch_version": "2.10.0+rocm7.12.0"}
    refuses("C042", "write_torch_versions")
    wheels(place, "torch-2.9.0", "triton-3.6.0+rocm7.12.0")
    refuses("N011", "write_torch_versions", "--dist-dir", place)


def test_write_jax_versions(tmp_path: Path):
    whole, without = wheels(tmp_path / "whole", *JAX), wheels(tmp_path / "without", *JAX[:2])
    parts = {"jax_plugin_version": "0.8.2+rocm7.12.0", "jax_pjrt_version": "0.8.2+rocm7.12.0", "jax_version": "0.8.2"}
    for era in ERAS:
        done = compat("write_jax_versions", "--dist-dir", whole, "--era", era, "--json", environment=job(tmp_path))
        assert outputs(tmp_path) == {"jaxlib_version": "0.8.2+rocm7.12.0", **parts} and parts.items() <= done.json.items()
    compat("write_jax_versions", "--dist-dir", without, environment=job(tmp_path))
    assert outputs(tmp_path) == parts
    refuses("N010", "write_jax_versions", "--dist-dir", without, "--era", "feb", exit_code=3, environment=job(tmp_path))
    assert outputs(tmp_path) == {}
    wheels(without, "jax_rocm10_plugin-0.9.0")
    refuses("N011", "write_jax_versions", "--dist-dir", without)


# ---- artifacts


@pytest.fixture(scope="module")
def run_of_two_families(tmp_path_factory) -> Path:
    """A store with run 42 of two families, one split by target beside them."""
    place = tmp_path_factory.mktemp("run")
    artifacts = small_artifacts.make(place, (FAMILY, "gfx1151"))
    base = small_artifacts.stage(artifacts, "miopen", "lib", "gfx942", "ml-libs/MIOpen/stage")
    small_artifacts.library(base, "MIOpen", "1", "1.0")  # device code alone would be a split build (S053)
    (base / "share").mkdir()
    (base / "share/gfx942.db").write_text("tuned\n")
    good("artifact", "pack", artifacts, "--output-dir", place / "store/42-linux")
    shutil.copytree(place / "store/42-linux", place / "store/421-linux")
    return place / "store"


def fetched(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.is_dir() and not path.name.startswith(".")}


GENERIC = {"amd-llvm_run_generic", "core-hip_lib_generic", "core-hip_dev_generic", "base_run_generic"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--artifact-group", FAMILY], GENERIC | {f"blas_lib_{FAMILY}", f"blas_dev_{FAMILY}"}),
        (["--artifact-group", FAMILY, "--exclude", "_dev_", "_run_", "--platform", "linux"], {"core-hip_lib_generic", f"blas_lib_{FAMILY}"}),
        (["blas", r"core-(hip|runtime)_lib", "--artifact-group", "gfx1151", "--extract"], {"core-hip_lib_generic", "blas_lib_gfx1151", "blas_dev_gfx1151"}),
        (["_lib_", "--artifact-group", FAMILY, "--amdgpu-targets", "gfx942", "--extract-concurrency", "1"], {"core-hip_lib_generic", f"blas_lib_{FAMILY}", "miopen_lib_gfx942"}),
        (["", "blas", "--artifact-group", FAMILY, "--exclude", "_dev_"], {"amd-llvm_run_generic", "base_run_generic", "core-hip_lib_generic", f"blas_lib_{FAMILY}"}),
        (["_lib_", "--artifact-group", "gfx950-dcgpu", "--amdgpu-targets=gfx942:xnack+"], {"core-hip_lib_generic", "miopen_lib_gfx942"}),
        (["_lib_", "--artifact-group", "gfx950-dcgpu", "--amdgpu-targets=gfx942", "--download-concurrency=2"], {"core-hip_lib_generic", "miopen_lib_gfx942"}),
    ],
)
@pytest.mark.parametrize("era", ERAS)
def test_fetch_artifacts(era: str, words: list, expected: set, run_of_two_families: Path, tmp_path: Path):
    compat("fetch_artifacts", *words, "--run-id", "42", "--store", f"file:{run_of_two_families}", "--era", era, cwd=tmp_path)
    assert fetched(tmp_path / "build/artifacts") == expected
    assert (tmp_path / "build/artifacts/core-hip_lib_generic/core/clr/stage/lib/libamdhip64.so.5").exists()


def test_forms_of_fetched_artifacts(run_of_two_families: Path, tmp_path: Path):
    common = ["--run-id", "42", "--artifact-group", FAMILY]
    environment = clean_environment(QUARRY_STORE=f"file:{run_of_two_families}", GITHUB_REPOSITORY="ROCm/TheRock")
    compat("fetch_artifacts", "hip_lib", *common, "--no-extract", "--output-dir", tmp_path / "archives", environment=environment)
    assert {path.name for path in (tmp_path / "archives").iterdir() if not path.name.startswith(".")} == {"core-hip_lib_generic.tar.zst", "core-hip_lib_generic.tar.zst.sha256sum"}
    compat("fetch_artifacts", "hip_lib", *common, "--flatten", "--output-dir", tmp_path / "flat", environment=environment)
    assert (tmp_path / "flat/lib/libamdhip64.so.5").exists()
    assert "core-hip_lib" in compat("fetch_artifacts", *common, "--dry-run", "--output-dir", tmp_path / "none", environment=environment).out
    assert not (tmp_path / "none").exists()


def test_artifacts_of_a_commit(run_of_two_families: Path, tmp_path: Path):
    commit = "b2" * 20
    with github_double.serve() as (github, url):
        github.runs = [github_double.run_object(421, commit, "failure", minute=2), github_double.run_object(42, commit, minute=1)]
        for run in github.runs:
            run["path"] = ".github/workflows/multi_arch_ci.yml@main"
        environment = clean_environment(GITHUB_API_URL=url, QUARRY_STORE=f"file:{run_of_two_families}", GITHUB_TOKEN="t")
        words = ["find_artifacts_for_commit", "--commit", commit, "--artifact-group"]
        done = compat(*words, FAMILY, "gfx1151", "--json", environment=environment).json
        assert done["status"] == "found" and [result["artifact_group"] for result in done["results"]] == [FAMILY, "gfx1151"]
        first = done["results"][0]
        assert first["workflow_run_id"] == "421" and first["git_commit_sha"] == commit and first["s3_path"] == "421-linux/"
        assert first["s3_index_url"] == "https://therock-ci-artifacts.s3.amazonaws.com/421-linux/index.html"
        files = {name.removesuffix(".tar.zst") for name in first["artifact_filenames"]}
        assert files == GENERIC | {f"blas_lib_{FAMILY}", f"blas_dev_{FAMILY}", "miopen_lib_gfx942"}
        one = compat(*words, FAMILY, "--require-successful-run", "--require-artifact", "^blas_lib", environment=environment).out
        assert "run       42  success" in one
        refuses("Y010", *words, "gfx90a", exit_code=3, environment=environment)
        found = compat(*words, "gfx90a", "--amdgpu-target", "gfx942", "--json", environment=environment).json["results"][0]
        assert found["amdgpu_targets"] == ["gfx942"] and "miopen_lib_gfx942.tar.zst" in found["artifact_filenames"]
        assert compat("find_artifacts_for_commit", "--run-id", "42", "--artifact-group", "gfx1151", "--json", environment=environment).json["results"][0]["workflow_run_id"] == "42"
        for code, more in {"C042": [FAMILY, "gfx1151", "--amdgpu-target", "gfx942"], "C040": [FAMILY, "--amdgpu-target", "gfx942", "--era", "feb"]}.items():
            refuses(code, *words, *more, environment=environment)


def test_a_run_of_another_repository_has_its_prefix(run_of_two_families: Path, tmp_path: Path):
    store = tmp_path / "store"
    shutil.copytree(run_of_two_families / "42-linux", store / "ROCm-rocm-libraries/42-linux")
    shutil.copytree(run_of_two_families / "42-linux", store / "ROCm-TheRock/42-linux")
    words = ["fetch_artifacts", "hip_lib", "--run-id", "42", "--artifact-group", FAMILY, "--store", f"file:{store}", "--dry-run", "--json"]
    assert "ROCm-rocm-libraries/42-linux" in compat(*words, "--run-github-repo", "ROCm/rocm-libraries").json["source"]
    facts = {"id": 42, "updated_at": "2026-01-25T12:00:00Z", "repository": {"full_name": "ROCm/TheRock"}, "head_repository": {"full_name": "someone/TheRock"}}
    (tmp_path / "run.json").write_text(json.dumps(facts))
    for era in ERAS:
        assert "ROCm-TheRock/42-linux" in compat(*words, "--workflow-run", tmp_path / "run.json", "--era", era).json["source"]


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("A022", 3, ["--artifact-group", "gfx94X"]),
        ("A022", 3, ["--artifact-group", FAMILY, "--amdgpu-targets", "gfx906"]),
        ("A021", 3, ["nothing-like-it", "--artifact-group", FAMILY]),
        ("L010", 3, ["--artifact-group", FAMILY, "--platform", "windows"]),
        ("A020", 2, ["(?!blas)", "--artifact-group", FAMILY]),
        ("C042", 2, ["--era", "feb"]),
        ("C042", 2, ["--artifact-group", FAMILY, "--flatten", "--no-extract"]),
        ("C042", 2, ["--artifact-group", FAMILY, "--dry-run", "--no-dry-run"]),
        ("C042", 2, ["--artifact-group", FAMILY, "--download-concurrency", "many"]),
        ("C040", 2, ["--artifact-group", FAMILY, "--no-delete-after-extract"]),
        ("C040", 2, ["--artifact-group", FAMILY, "--target", "gfx942"]),
        ("C006", 2, ["--artifact-group", FAMILY, "--platform", "darwin"]),
    ],
)
def test_artifacts_that_cannot_be_fetched(code: str, exit_code: int, words: list, run_of_two_families: Path, tmp_path: Path):
    refuses(code, "fetch_artifacts", *words, "--run-id", "42", "--store", f"file:{run_of_two_families}", exit_code=exit_code, cwd=tmp_path)
    assert not (tmp_path / "build").exists()


def test_a_damaged_archive_is_no_success(run_of_two_families: Path, tmp_path: Path):
    store = tmp_path / "store"
    shutil.copytree(run_of_two_families / "42-linux", store / "42-linux")
    archive = store / "42-linux/core-hip_lib_generic.tar.zst"
    archive.write_bytes(archive.read_bytes()[:-9] + b"123456789")
    words = ["compat", "fetch_artifacts", "--run-id", "42", "--artifact-group", FAMILY, "--store", f"file:{store}", "--output-dir", tmp_path / "out"]
    assert quarry(*words).code == 6
    assert "core-hip_lib_generic" not in fetched(tmp_path / "out")
    archive.with_name(archive.name + ".sha256sum").unlink()
    assert quarry(*words).code == 6


@contextlib.contextmanager
def empty_bucket():
    """A server that knows no bucket, and what it was asked: (path, Authorization)."""
    asked: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Authorization", "")))
            body = b"<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>"
            self.send_response(404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("script", "words", "variables", "bucket"),
    [
        ("fetch_artifacts", ["--run-id", "42", "--artifact-group", FAMILY], {}, "therock-ci-artifacts"),
        ("fetch_artifacts", ["--run-id", "42", "--artifact-group", FAMILY, "--era", "feb"], {"RELEASE_TYPE": "nightly"}, "therock-nightly-artifacts"),
        ("fetch_artifacts", ["--run-id", "42", "--artifact-group", FAMILY], {"GITHUB_REPOSITORY": "ROCm/rocm-libraries"}, "therock-ci-artifacts-external"),
        ("install_rocm_from_artifacts", ["--run-id", "42", "--amdgpu-family", FAMILY], {}, "therock-ci-artifacts"),
        ("setup_venv", ["env", "--packages", "rocm", "--from-run-id", "42"], {}, "therock-ci-artifacts"),
        ("setup_venv", ["env", "--packages", "rocm", "--from-run-id", "42", "--artifact-group", FAMILY], {}, "therock-ci-artifacts"),
    ],
)
def test_without_a_store_it_is_todays_bucket(script: str, words: list, variables: dict, bucket: str, tmp_path: Path):
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    with empty_bucket() as (url, asked):
        for credentials in ({}, keys):
            asked.clear()
            environment = clean_environment(AWS_ENDPOINT_URL=url, AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1", **variables, **credentials)
            assert quarry("compat", script, *words, environment=environment, cwd=tmp_path).code == 3
            assert asked and {path.split("?")[0].split("/")[1] for path, _ in asked} == {bucket}
            assert all(("/us-east-2/s3/" in authorization) if credentials else not authorization for _, authorization in asked)
    assert not (tmp_path / "env").exists()


def test_install_rocm(run_of_two_families: Path, tmp_path: Path):
    words = ["install_rocm_from_artifacts", "--run-id", "42", "--store", f"file:{run_of_two_families}"]
    for era, database in (("feb", False), ("aug", True)):
        place = tmp_path / era
        place.mkdir()
        compat(*words, "--amdgpu-family", FAMILY, "--era", era, cwd=place)
        tree = place / "therock-build"
        assert (tree / "lib/libhipblas.so.2").exists() and (tree / "include/hip/hip_runtime.h").exists() and (tree / "bin/hipconfig").exists()
        assert (tree / "share/gfx942.db").exists() == database, "August takes the targets of the family"
    compat(*words, "--artifact-group", "gfx1151", "--amdgpu-targets", "gfx942", "--era", "feb", "--output-dir", tmp_path / "said")
    assert (tmp_path / "said/share/gfx942.db").exists()


@pytest.mark.parametrize(
    ("era", "words", "there", "absent"),
    [
        ("aug", ["--blas"], ["lib/libhipblas.so.2", "lib/llvm/bin/clang", "include/hip/hip_runtime.h"], ["include/hipblas/hipblas.h", "share/gfx942.db"]),
        ("feb", ["--blas", "--no-rand"], ["lib/libhipblas.so.2"], ["include/hipblas/hipblas.h"]),
        ("aug", ["--base-only"], ["lib/libamdhip64.so.5"], ["lib/libhipblas.so.2"]),
        ("aug", ["--miopen", "--tests"], ["share/gfx942.db"], ["lib/libhipblas.so.2"]),
        ("feb", ["--rocprofiler-sdk"], ["lib/libamdhip64.so.5"], ["lib/libhipblas.so.2"]),
        ("aug", ["--rocprofiler-sdk"], ["lib/libamdhip64.so.5"], ["lib/libhipblas.so.2"]),
    ],
)
def test_components(era: str, words: list, there: list, absent: list, run_of_two_families: Path, tmp_path: Path):
    done = compat("install_rocm_from_artifacts", *words, "--run-id", "42", "--amdgpu-family", FAMILY, "--era", era, "--output-dir", tmp_path / "tree", "--store", f"file:{run_of_two_families}")
    assert [name for name in there if not (tmp_path / "tree" / name).exists()] == []
    assert [name for name in absent if (tmp_path / "tree" / name).exists()] == []
    assert ("has no artifact that --rocprofiler-sdk means" in done.err) == ("--rocprofiler-sdk" in words)


def expressions(store: Path, *words: str) -> set[str]:
    """What the switches stand for, from the line that says which command is run."""
    done = quarry("compat", "install_rocm_from_artifacts", "--run-id", "42", "--amdgpu-family", FAMILY, "--dry-run", "--store", f"file:{store}", *words)
    line = next(line for line in done.err.splitlines() if line.startswith("quarry artifact fetch"))
    return set(line.split(" -- ", 1)[1].split())


@pytest.mark.parametrize(
    ("flag", "tests", "february", "august"),
    [
        ("--aqlprofile", False, {"aqlprofile-tests_lib"}, {"aqlprofile_lib"}),
        ("--fft", True, {"fft_lib", "fft_test", "fftw3_lib", "fftw3_test"}, {"fft_lib", "fft_test", "fftw3_lib", "fftw3_test"}),
        ("--miopen", False, {"miopen_lib", "miopen_run", "rand_dev"}, {"miopen_lib", "miopen_run", "rand_dev"}),
        ("--rocwmma", True, {"rocwmma_lib", "rocwmma_test", "rocwmma_dev"}, {"rocwmma_lib", "rocwmma_test", "rocwmma_dev"}),
        ("--rocdecode", False, *[{"sysdeps-amd-mesa_lib", "rocdecode_lib", "rocdecode_dev", "rocdecode_test", "base_dev", "amd-llvm_dev"}] * 2),
        ("--rocjpeg", False, *[{"sysdeps-amd-mesa_lib", "rocjpeg_lib", "rocjpeg_dev", "rocjpeg_test", "base_dev", "amd-llvm_dev"}] * 2),
        ("--rocrtst", False, *[{"rocrtst_lib", "sysdeps-hwloc_lib", "sysdeps-libpciaccess_lib"}] * 2),
        ("--iree-compiler", False, {"iree-compiler_lib"}, None),
        ("--kfdtest", False, None, {"kfdtest_lib", "amd-llvm_dev"}),
        ("--rpp", False, None, {"rpp_lib", "rpp_dev", "base_dev", "amd-llvm_dev"}),
        ("--hipdnn-integration-tests", False, None, {"hipdnn-integration-tests_lib", "hipdnn-integration-tests_run", "rand_lib"}),
        ("--rocprofiler-compute", False, {"rocprofiler-compute_lib"}, {"rocprofiler-compute_lib", "rocprofiler-compute_run"}),
        ("--rocprofiler-systems", True, {"rocprofiler-systems_lib", "rocprofiler-systems_test", "rocprofiler-systems_run"}, {"rocprofiler-systems_lib", "rocprofiler-systems_test", "rocprofiler-systems_run", "rocprofiler-sdk_dev"}),
        ("--rocprofiler-sdk", False, {"rocprofiler-sdk_run"}, {"rocprofiler-sdk_run", "aqlprofile_lib"}),
        ("--libhipcxx", False, {"libhipcxx_lib", "amd-llvm_dev", "base_dev_generic"}, {"libhipcxx_lib", "amd-llvm_dev", "base_dev_generic"}),
        ("--rocshmem", False, None, {"rocshmem_lib", "rocshmem_run", "openmpi_lib", "openmpi_run"}),
        ("--fusilliprovider", False, {"fusilliprovider_lib"}, None),
    ],
)
def test_what_switches_stand_for(flag: str, tests: bool, february: set | None, august: set | None, run_of_two_families: Path):
    for era, added in (("feb", february), ("aug", august)):
        words = [flag, "--era", era, *(["--tests"] if tests else [])]
        if added is None:
            refuses("C040", "install_rocm_from_artifacts", "--run-id", "42", "--amdgpu-family", FAMILY, *words)
            continue
        base = expressions(run_of_two_families, "--base-only", "--era", era)
        assert expressions(run_of_two_families, *words) - base == added
        assert len(base) == {"feb": 16, "aug": 18}[era]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("C042", ["--run-id", "42"]),
        ("C042", ["--run-id", "42", "--artifact-group", "a", "--amdgpu-family", "b"]),
        ("C042", ["--amdgpu-family", FAMILY]),
        ("C042", ["--run-id", "42", "--amdgpu-family", FAMILY, "--blas", "--no-blas"]),
        ("C042", ["--release", "7.11.0a20260119", "--run-id", "42", "--amdgpu-family", FAMILY]),
        ("C042", ["--release", "7.11.0", "--amdgpu-family", FAMILY]),
        ("C040", ["--input-dir", "x", "--amdgpu-family", FAMILY]),
        ("C002", ["--run-id", "42", "--amdgpu-family", FAMILY, "--rocfft"]),
    ],
)
def test_installations_that_cannot_be_meant(code: str, words: list, tmp_path: Path):
    refuses(code, "install_rocm_from_artifacts", *words, cwd=tmp_path)


def test_the_output_directory_is_never_deleted(run_of_two_families: Path, tmp_path: Path):
    (tmp_path / "tree/bin").mkdir(parents=True)
    (tmp_path / "tree/bin/hipconfig").write_text("mine")
    words = ["--run-id", "42", "--amdgpu-family", FAMILY, "--base-only", "--output-dir", tmp_path / "tree", "--store", f"file:{run_of_two_families}"]
    refused("A016", 7, "compat", "install_rocm_from_artifacts", *words)
    assert (tmp_path / "tree/bin/hipconfig").read_text() == "mine"


# ---- packages


def test_build_python_packages(tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path)
    (tmp_path / "version.json").write_text('{"rocm-version": "7.12.0"}')
    environment = job(tmp_path)
    words = ["build_python_packages", "--artifact-dir", artifacts, "--dest-dir"]
    compat(*words, tmp_path / "a", "--build-packages", cwd=tmp_path, environment=environment)
    assert (tmp_path / "a/dist/rocm-7.12.0.dev0.tar.gz").is_file() and outputs(tmp_path) == {}
    compat(*words, tmp_path / "b", "--version=7.1.0", "--version-suffix", "x1", "--no-wheel-compression", "--era", "feb", environment=environment)
    compat(*words, tmp_path / "c", "--version=7.1.0", "--version-suffix", "x1", "--linux-amdgpu-families", small_artifacts.FAMILY, environment=environment)
    core = "dist/rocm_sdk_core-7.1.0-py3-none-linux_x86_64.whl"
    assert (tmp_path / "b" / core).stat().st_size > (tmp_path / "c" / core).stat().st_size
    assert b"_rocm_sdk_corex1/" in (tmp_path / "b" / core).read_bytes()
    names = {path.name for path in (tmp_path / "b/dist").glob("[!.]*")}
    assert names == {path.name for path in (tmp_path / "c/dist").glob("[!.]*")} and len(names) == 4
    compat(*words, tmp_path / "d", "--version=7.1.0", "--devel-tarball-compression", environment=job(tmp_path, ROCM_SDK_WHEEL_PLATFORM_TAG="linux-x86_64"))
    with zipfile.ZipFile(tmp_path / "d/dist/rocm_sdk_devel-7.1.0-py3-none-linux_x86_64.whl") as devel:
        assert "rocm_sdk_devel/_devel.tar.xz" in devel.namelist()
    compat(*words, tmp_path / "e", "--version=7.1.0", "--no-build-packages", environment=environment)
    assert {path.name for path in (tmp_path / "e").iterdir()} == {"rocm", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx103x-dgpu"}


@pytest.mark.parametrize(
    ("code", "exit_code", "words", "variables"),
    [
        ("C042", 2, ["--build-packages", "--no-build-packages"], {}),
        ("C042", 2, ["--devel-tarball-compression", "--no-devel-tarball-compression"], {}),
        ("C040", 2, ["--linux-amdgpu-families", "gfx942", "--era", "feb"], {}),
        ("C040", 2, ["--linux-amdgpu-families", "gfx942"], {"QUARRY_COMPAT_ERA": "feb"}),
        ("S030", 1, ["--version", "1"], {"ROCM_SDK_WHEEL_PLATFORM_TAG": "manylinux-2.28-x86_64"}),
        ("S038", 2, ["--version", "1"], {"ROCM_SDK_WHEEL_PLATFORM_TAG": "musllinux_1_2_x86_64"}),
        ("C042", 2, ["--wheel-compression", "--no-wheel-compression"], {}),
        ("M004", 2, ["--version", "7.x"], {}),
        ("D001", 3, [], {}),  # no version.json
        ("S", 3, ["--version", "7.1.0", "--linux-amdgpu-families", "gfx906"], {}),
    ],
)
def test_packages_that_cannot_be_built(code: str, exit_code: int, words: list, variables: dict, run_of_two_families: Path, tmp_path: Path):
    done = quarry("compat", "build_python_packages", "--artifact-dir", run_of_two_families / "42-linux", "--dest-dir", tmp_path / "out", *words, environment=clean_environment(**variables), cwd=tmp_path)
    assert done.code == exit_code and f"[{code}" in done.err, done.err
    assert not (tmp_path / "out/dist").exists()


@pytest.mark.parametrize("form", ["directories", "zst", "xz"])
def test_artifacts_of_a_family_in_a_split_run_are_not_built_in_part(form: str, tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path)
    manifest = small_artifacts.stage(artifacts, "base", "lib", "generic", "base/aux-overlay/stage") / "share/therock/therock_manifest.json"
    for split in (True, False):
        small_artifacts.write(manifest, json.dumps({"flags": {"KPACK_SPLIT_ARTIFACTS": split}}))
        given = artifacts
        if form != "directories":
            given = tmp_path / f"archives-{split}"
            good("artifact", "pack", artifacts, "--output-dir", given, "--format", form)
        words = ["--artifact-dir", given, "--dest-dir", tmp_path / "out", "--version", "7.1.0"]
        if split:
            done = refuses("S059", "build_python_packages", *words, exit_code=6)
            assert small_artifacts.FAMILY in done.err
            assert not (tmp_path / "out").exists()
        else:
            compat("build_python_packages", *words)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    dist = tmp_path / "packages/dist"
    dist.mkdir(parents=True)
    distributions.wheel(dist, "demo-app", "1.0+rocm7.1", requires=("demo-lib",))
    distributions.wheel(dist, "demo-lib", "2.0")
    return dist.parent


PACKAGES = {"demo_app-1.0+rocm7.1-py3-none-any.whl", "demo_lib-2.0-py3-none-any.whl"}


@pytest.mark.parametrize(
    ("era", "words", "variables", "key", "split"),
    [
        ("feb", ["--artifact-group", FAMILY], {}, f"42-linux/python/{FAMILY}", None),
        ("aug", ["--artifact-group", FAMILY], {}, f"42-linux/python/{FAMILY}", "false"),
        ("aug", ["--multiarch"], {}, "42-linux/python", "true"),
        ("aug", ["--multiarch", "--artifact-group", FAMILY], {}, "42-linux/python", "true"),
        ("aug", ["--artifact-group", FAMILY], {"GITHUB_REPOSITORY": "ROCm/rocm-libraries"}, f"ROCm-rocm-libraries/42-linux/python/{FAMILY}", "false"),
        ("feb", ["--artifact-group", FAMILY], {"GITHUB_REPOSITORY": "ROCm/TheRock", "RELEASE_TYPE": "nightly"}, f"42-linux/python/{FAMILY}", None),
    ],
)
def test_upload_python_packages(era: str, words: list, variables: dict, key: str, split: str | None, packages: Path, tmp_path: Path):
    environment = job(tmp_path, **variables)
    store = tmp_path / "store"
    common = ["upload_python_packages", "--input-packages-dir", packages, "--run-id", "42", "--era", era, *words]
    page = store / key / "index.html"
    compat(*common, "--output-dir", store, "--dry-run", environment=environment)
    assert not (store / key).exists()
    planned = outputs(tmp_path)
    assert planned.pop("package_find_links_url") == f"file://{page}" and planned.get("kpack_split") == split and "package_set" not in planned
    assert "a dry run" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    compat(*common, "--output-dir", store, environment=environment)
    assert PACKAGES <= {path.name for path in page.parent.iterdir()}
    assert 'href="demo_app-1.0%2Brocm7.1-py3-none-any.whl#sha256=' in page.read_text()
    found = outputs(tmp_path)
    assert found["package_find_links_url"] == f"file://{page}" and found.get("kpack_split") == split
    assert "pip install" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    compat(*common, "--store", f"file:{store}", environment=environment)  # again, and by the store's name
    distributions.wheel(packages / "dist", "demo-lib", "2.0", module="other")
    assert quarry("compat", *common, "--output-dir", store, environment=environment).code == 7


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("C042", 2, []),
        ("C042", 2, ["--artifact-group", FAMILY, "--bucket", "x", "--output-dir", "y"]),
        ("C040", 2, ["--multiarch", "--era", "feb"]),
        ("C042", 2, ["--artifact-group", FAMILY, "--output-dir", "store", "--input-packages-dir", "families"]),
        ("P001", 3, ["--artifact-group", FAMILY, "--output-dir", "store", "--input-packages-dir", "empty"]),
        ("C002", 2, ["--artifact-group", FAMILY, "--packages-dir", "x"]),
    ],
)
def test_uploads_that_are_refused(code: str, exit_code: int, words: list, packages: Path, tmp_path: Path):
    (tmp_path / "empty/dist").mkdir(parents=True)
    (tmp_path / "empty/dist/index.html").write_text("a page is no package")
    shutil.copytree(packages / "dist", tmp_path / "families/dist/gfx94X-dcgpu")
    given = [] if "--input-packages-dir" in words else ["--input-packages-dir", packages]
    refuses(code, "upload_python_packages", *given, "--run-id", "42", *words, exit_code=exit_code, cwd=tmp_path, environment=job(tmp_path))
    assert not (tmp_path / "store").exists() and outputs(tmp_path) == {}


FAMILIES = ("gfx110X-all", "gfx94X-dcgpu")


def family_directories(root: Path) -> Path:
    """What August's builder leaves for artifacts that are not split: core and libraries in dist/, sdist and devel below it, for each family."""
    good("sdk", "build", "--artifact-dir", small_artifacts.make(root / "artifacts", FAMILIES), "--dest-dir", root / "out", "--version", "7.2.0", "--profile", "ci")
    dist = root / "out/dist"
    for path in [*dist.glob("rocm-7*"), *dist.glob("rocm_sdk_devel-*")]:
        for family in FAMILIES:
            (dist / family).mkdir(exist_ok=True)
            shutil.copy(path, dist / family)
        path.unlink()
    (dist / ".kpack_staging").mkdir()
    return root / "out"


@pytest.mark.parametrize("into", [["--output-dir"], ["--store"]])
def test_families_in_directories_of_their_own(into: list, tmp_path: Path):
    built, store = family_directories(tmp_path / "built"), tmp_path / "store"
    environment = job(tmp_path)
    words = ["upload_python_packages", "--input-packages-dir", built, "--run-id", "42", "--multiarch", *into, store if into == ["--output-dir"] else f"file:{store}"]
    compat(*words, "--dry-run", environment=environment)
    assert not (store / "42-linux/python").exists() and outputs(tmp_path)["kpack_split"] == "false"
    done = compat(*words, "--json", environment=environment)
    base = f"file://{store}/42-linux/python"
    assert outputs(tmp_path) == {"package_find_links_url": base, "kpack_split": "false"}
    assert done.json["schema"] == "quarry.publish-families/1" and done.json["families"] == sorted(FAMILIES) and len({one["set"] for one in done.json["sets"]}) == 2
    for family in FAMILIES:
        held = {path.name.split("-")[0] for path in (store / "42-linux/python" / family).glob("*.whl")}
        assert held == {"rocm_sdk_core", "rocm_sdk_devel", f"rocm_sdk_libraries_{family.lower().replace('-', '_')}"}
        assert (store / "42-linux/python" / family / "rocm-7.2.0.tar.gz").exists()
        page = (store / "42-linux/python" / family / "index.html").read_text()
        assert "rocm_sdk_core-7.2.0" in page and f"{base}/{family}/index.html" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert not list((built / "dist").glob(".quarry-scratch-*")), "nothing of ours stays"
    compat(*words, environment=environment)


def test_a_later_job_adds_to_the_flat_directory(packages: Path, tmp_path: Path):
    store = tmp_path / "store"
    words = ["--run-id", "42", "--multiarch", "--output-dir", store]
    compat("upload_python_packages", "--input-packages-dir", packages, *words)
    (tmp_path / "torch").mkdir()
    distributions.wheel(tmp_path / "torch", "torch", "2.10.0", requires=("demo-lib",))
    compat("upload_python_packages", "--input-packages-dir", tmp_path / "torch", *words)
    page = (store / "42-linux/python/index.html").read_text()
    assert "torch-2.10.0-py3-none-any.whl" in page and "demo_lib-2.0-py3-none-any.whl" in page


# ---- environments


def installed(env: Path) -> dict[str, str]:
    receipt = json.loads((env / "quarry-receipt.json").read_text())
    return {file["project"]: file["version"] for file in receipt["files"]}


def test_a_bucket_by_its_name(packages: Path, tmp_path: Path):
    with s3_server.serve() as server:
        environment = job(tmp_path, **server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1", GITHUB_REPOSITORY="ROCm/rocm-libraries")
        words = ["upload_python_packages", "--input-packages-dir", packages, "--run-id", "42", "--bucket", server.bucket]
        for group in (FAMILY, "gfx1151"):
            compat(*words, "--artifact-group", group, environment=environment)
        stored = s3_server.Client(server.endpoint, server.access, server.secret).list(server.bucket)
        assert {f"42-linux/python/{FAMILY}/{name}" for name in PACKAGES | {"index.html"}} <= set(stored), "a bucket by its name has no prefix of a repository"
        assert outputs(tmp_path)["package_find_links_url"].endswith("/42-linux/python/gfx1151/index.html")
        store = ["--store", f"s3://{server.bucket}", "--run-github-repo", "ROCm/TheRock"]
        compat("setup_venv", tmp_path / "env", "--packages", "demo-app", "--from-run-id", "42", "--artifact-group", FAMILY, "--use-uv", *store, environment=environment)
        assert installed(tmp_path / "env") == {"demo-app": "1.0+rocm7.1", "demo-lib": "2.0"}
        refuses("C043", "setup_venv", tmp_path / "other", "--packages", "demo-app", "--from-run-id", "42", "--artifact-group", "gfx906", *store, exit_code=3, environment=environment)


@pytest.mark.parametrize("group", [FAMILY, ""])
def test_setup_venv_from_a_run(group: str, packages: Path, tmp_path: Path):
    store = tmp_path / "store"
    where = ["--artifact-group", group] if group else ["--multiarch"]
    compat("upload_python_packages", "--input-packages-dir", packages, "--run-id", "42", "--output-dir", store, *where)
    other = tmp_path / "other/dist"
    other.mkdir(parents=True)
    distributions.wheel(other, "demo-lib", "2.0", module="of_another_family")
    if group:
        compat("upload_python_packages", "--input-packages-dir", other, "--run-id", "42", "--output-dir", store, "--artifact-group", "gfx1151")
    environment = job(tmp_path)
    env = tmp_path / "env"
    words = ["setup_venv", env, "--from-run-id", "42", "--packages", "demo-app", "--store", f"file:{store}", "--no-clean", "--no-use-uv" if group else "--use-uv"]
    compat(*words, *(["--artifact-group", group] if group else []), "--activate-in-future-github-actions-steps", environment=environment)
    assert installed(env) == {"demo-app": "1.0+rocm7.1", "demo-lib": "2.0"}
    assert (tmp_path / "GITHUB_PATH").read_text() == f"{env}/bin\n" and outputs(tmp_path, "GITHUB_ENV") == {"VIRTUAL_ENV": str(env)}
    if group:
        assert quarry("compat", *words, environment=environment).code == 7, "two groups with one name and two contents"


def test_setup_venv_from_links(packages: Path, tmp_path: Path):
    compat("indexer", packages / "dist", "--filter", "*.whl", "*.tar.gz")
    common = ["--packages", "demo-app  demo-lib==2.0", "--find-links", packages / "dist/index.html"]
    compat("setup_venv", tmp_path / "a", *common, "--no-pre", "--disable-cache")
    assert installed(tmp_path / "a") == {"demo-app": "1.0+rocm7.1", "demo-lib": "2.0"}
    done = refuses("V010", "setup_venv", tmp_path / "a", "--packages", "no-such", "--index-url=", "--find-links", packages / "dist/index.html", "--install-retry-timeout-seconds", "0", exit_code=1)
    assert "--install-retry-timeout-seconds 0" in done.err


def test_setup_venv_without_packages(tmp_path: Path):
    env = tmp_path / "env"
    compat("setup_venv", env, "--use-uv")
    (env / "mine").touch()
    compat("setup_venv", env, "--no-clean", "--index-name", "nightly")
    assert (env / "mine").exists()
    compat("setup_venv", env, "--clean")
    assert not (env / "mine").exists() and (env / "bin/python").exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("V005", ["--packages", "rocm"]),
        ("V005", ["--packages", "rocm", "--index-url", "https://example.org/", "--index-name", "nightly"]),
        ("V005", ["--packages", "rocm", "--find-links", "https://example.org/x.html", "--index-subdir", "gfx942"]),
        ("V005", ["--packages", "rocm", "--index-name", "nightly", "--index-subdir", "../v1"]),
        ("V005", ["--packages", "rocm", "--index-name", "nightly", "--install-retry-timeout-seconds", "soon"]),
        ("V005", ["--packages", "rocm", "--index-name", "nightly", "--install-retry-wait-between-seconds", "0"]),
        ("C042", ["--packages", "rocm", "--index-name", "nightly", "--era", "feb"]),
        ("C042", ["--packages", "rocm", "--artifact-group", FAMILY]),
        ("C042", ["--pre", "--no-pre"]),
        ("C006", ["--packages", "rocm", "--index-name", "weekly"]),
        ("C002", ["--requirements", "x"]),
    ],
)
def test_environments_that_cannot_be_meant(code: str, words: list, tmp_path: Path):
    refuses(code, "setup_venv", tmp_path / "env", *words)
    assert not (tmp_path / "env").exists()


# ---- index pages


def test_indexer(tmp_path: Path):
    for name in ("b/torch-1.0+x.whl", "b/c/deep.log", "a.whl", "notes & more.txt", "index.html"):
        small_artifacts.write(tmp_path / "top" / name, name)
    (tmp_path / "top/link.whl").symlink_to("a.whl")
    compat("indexer", tmp_path / "top")
    page = (tmp_path / "top/index.html").read_text()
    assert re.findall(r'href="([^"]*)"', page) == ["../", "b/", "a.whl", "link.whl", "notes%20%26%20more.txt"]
    assert "notes &amp; more.txt" in page and not (tmp_path / "top/b/index.html").exists()
    done = compat("indexer", "-r", "-v", "-o", "list.html", "-f", "*.whl", cwd=tmp_path / "top")
    assert done.out.split() == ["./b/c/list.html", "./b/list.html", "./list.html"]
    assert re.findall(r'href="([^"]*)"', (tmp_path / "top/b/list.html").read_text()) == ["../", "torch-1.0%2Bx.whl"]
    assert (tmp_path / "top/index.html").read_text() == page, "the same entries give the same page"
    refuses("D001", "indexer", tmp_path / "nowhere", exit_code=3)
    refuses("C042", "indexer", tmp_path, "--output-file", "../index.html")
    (tmp_path / "top/taken").mkdir()
    refuses("D001", "indexer", tmp_path / "top", "-o", "taken", exit_code=2)


def test_manage(tmp_path: Path):
    prefix = tmp_path / "bucket/v2/gfx94X-dcgpu"
    (prefix / "nested").mkdir(parents=True)
    for version in ("1.0", "1.1"):
        distributions.wheel(prefix, "Demo_App", version, requires=("unheard-of",))
    wheel = distributions.wheel(prefix, "unheard-of", "2.0+rocm7.1")
    distributions.sdist(prefix, "rocm", "7.1.0")
    distributions.wheel(prefix / "nested", "leak", "1.0")
    words = ["manage", "v2/gfx94X-dcgpu/", "--store", f"file:{tmp_path / 'bucket'}"]
    compat(*words, "--do-not-upload", cwd=tmp_path)
    saved = (tmp_path / "v2/gfx94X-dcgpu/unheard-of/index.html").read_text()
    assert not (prefix / "index.html").exists()
    compat(*words)
    assert re.findall(r'href="([^"]*)"', (prefix / "index.html").read_text()) == ["demo-app/", "rocm/", "unheard-of/"]
    page = (prefix / "unheard-of/index.html").read_text()
    assert f"../{wheel.name.replace('+', '%2B')}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}" in page and page == saved
    assert wheel.with_name(wheel.name + ".metadata").is_file()
    assert compat(*words, "--json").json["writes"] == 0, "the same files give the same pages"
    compat("setup_venv", tmp_path / "env", "--packages", "demo-app", "--index-url", f"file://{tmp_path / 'bucket/v2'}", "--index-subdir", "gfx94X-dcgpu", "--install-retry-timeout-seconds", "0")
    assert installed(tmp_path / "env") == {"demo-app": "1.1", "unheard-of": "2.0+rocm7.1"}
    wheel.unlink()
    compat(*words)
    assert not (prefix / "unheard-of/index.html").exists()


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("C042", 2, ["all", "--store", "file:bucket"]),
        ("C042", 2, ["../bucket", "--store", "file:bucket"]),
        ("C040", 2, ["v2", "--compute-sha256", "--store", "file:bucket"]),
        ("C040", 2, ["v2", "--auto-detect-prefixes"]),
        ("C040", 2, ["v2", "--bucket", "x", "--era", "feb"]),
        ("I001", 3, ["v3", "--store", "file:bucket"]),
        ("I001", 3, ["v2", "--store", "file:bucket"]),
        ("C004", 2, ["--store", "file:bucket"]),
    ],
)
def test_indexes_that_cannot_be_meant(code: str, exit_code: int, words: list, tmp_path: Path):
    (tmp_path / "bucket/v2").mkdir(parents=True)
    refuses(code, "manage", *words, exit_code=exit_code, cwd=tmp_path)


def test_manage_in_a_bucket(tmp_path: Path):
    """What another tool put there gets pages where it lies, also when more comes later."""
    with s3_server.serve() as server:
        client = s3_server.Client(server.endpoint, server.access, server.secret)
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1", S3_BUCKET_PY=server.bucket)
        for name in ("Demo_App", "demo-lib"):
            wheel = distributions.wheel(tmp_path, name, "1.0")
            client.put(server.bucket, f"v2/gfx94X-dcgpu/{wheel.name}", wheel.read_bytes())
        words = ["manage", "v2/gfx94X-dcgpu"]
        compat(*words, "--do-not-upload", environment=environment)
        assert not [key for key in client.list(server.bucket) if key.endswith("index.html")]
        compat(*words, environment=environment)
        page = client.get(server.bucket, "v2/gfx94X-dcgpu/demo-app/index.html").decode()
        assert "demo_app-1.0-py3-none-any.whl" in page
        later = distributions.wheel(tmp_path, "demo-app", "1.1")
        client.put(server.bucket, f"v2/gfx94X-dcgpu/{later.name}", later.read_bytes())
        compat(*words, "--bucket", server.bucket, environment={**environment, "S3_BUCKET_PY": "another"})
        page = client.get(server.bucket, "v2/gfx94X-dcgpu/demo-app/index.html").decode()
        assert "demo_app-1.0-py3-none-any.whl" in page and later.name in page
        assert later.name in client.get(server.bucket, "v2/gfx94X-dcgpu/simple/demo-app/index.html").decode()
        assert quarry("compat", "manage", "v3", environment=environment).code == 3


# ---- small steps of jobs


def test_families_as_lines(tmp_path: Path):
    environment = job(tmp_path)
    words = ["expand_amdgpu_families", "--amdgpu-families", "gfx94X-dcgpu;gfx120X-all"]
    assert compat(*words, environment=environment).out == "gfx942,gfx1200,gfx1201\n" and outputs(tmp_path) == {}
    assert compat(*words, "--output-mode=device-extras", environment=environment).out == "device-gfx942,device-gfx1200,device-gfx1201\n"
    assert outputs(tmp_path) == {"device_extras": "device-gfx942,device-gfx1200,device-gfx1201"}
    refuses("F003", "expand_amdgpu_families", "--amdgpu-families", "gfx94Y")
    refuses("C006", "expand_amdgpu_families", "--amdgpu-families", "")


def test_wheels_of_a_build_are_checked(tmp_path: Path):
    refuses("C046", "sanity_check_wheel", tmp_path, exit_code=3)
    distributions.wheel(tmp_path, "demo-lib", "2.0")  # not one of them
    refuses("C046", "sanity_check_wheel", tmp_path, exit_code=3)
    small = distributions.wheel(tmp_path, "torchvision", "0.25")
    assert "torchvision" in refuses("C047", "sanity_check_wheel", tmp_path, exit_code=1).err
    Path(small).unlink()
    big = tmp_path / "torch-2.10.0-py3-none-any.whl"
    record = "torch-2.10.0.dist-info/RECORD"
    files = {"torch/kernels.bin": os.urandom(200_000), "torch-2.10.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: torch\nVersion: 2.10.0\n"}
    files["torch-2.10.0.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, data in files.items()]
    with zipfile.ZipFile(big, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(zipfile.ZipInfo(record), "\n".join([*rows, f"{record},,"]) + "\n")
    compat("sanity_check_wheel", tmp_path)
    whole = big.read_bytes()
    big.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    assert quarry("compat", "sanity_check_wheel", tmp_path).code == 6


def test_the_summary_of_a_job_becomes_an_output(packages: Path, tmp_path: Path):
    environment = job(tmp_path, RUNNER_TEMP=str(tmp_path))
    compat("capture_job_summary", environment=environment)
    assert not (tmp_path / "GITHUB_OUTPUT").exists() or not (tmp_path / "GITHUB_OUTPUT").read_text()
    compat("upload_python_packages", "--input-packages-dir", packages, "--run-id", "42", "--multiarch", "--output-dir", tmp_path / "store", environment=environment)
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert (tmp_path / "job_summary.md").read_text() == summary and "pip install" in summary
    for name in ("", "a=b", "two\nlines"):
        assert quarry("compat", "capture_job_summary", "--output-name", name, environment=environment).code == 2
    compat("capture_job_summary", "--output-name", "told", environment=environment)
    assert f"told<<END_OF_OUTPUT\n{summary}END_OF_OUTPUT\n" in (tmp_path / "GITHUB_OUTPUT").read_text()
    (tmp_path / "job_summary.md").write_text("END_OF_OUTPUT\nevil=1\n")
    compat("capture_job_summary", environment=environment)
    assert "summary<<END_OF_OUTPUT_\nEND_OF_OUTPUT\nevil=1\nEND_OF_OUTPUT_\n" in (tmp_path / "GITHUB_OUTPUT").read_text()


# ---- matrices of PyTorch and JAX


def asked(tmp_path: Path, script: str, *words: str, **variables: str) -> dict:
    """What a later job reads with fromJSON."""
    environment = job(tmp_path, **variables)
    document = compat(script, *words, "--json", environment=environment).json
    found = {name: json.loads(value) if value[0] in "[{" else value for name, value in outputs(tmp_path).items()}
    assert {name: document[name] for name in found} == found
    return found


@pytest.mark.parametrize(
    ("release_type", "platform", "pythons", "refs"),
    [
        ("ci", "linux", ["3.12"], ["release/2.12", "release/2.13"]),
        ("ci", "windows", ["3.12"], ["release/2.12"]),
        ("prerelease", "linux", ["3.10", "3.11", "3.12", "3.13", "3.14"], ["release/2.12", "release/2.13", "release/2.14"]),
        ("nightly", "windows", ["3.10", "3.11", "3.12", "3.13", "3.14"], ["release/2.12", "release/2.13", "release/2.14", "nightly"]),
    ],
)
def test_builds_of_pytorch(release_type: str, platform: str, pythons: list, refs: list, tmp_path: Path):
    rows = asked(tmp_path, "configure_pytorch_release_matrix", "--release-type", release_type, "--platform", platform, "--amdgpu-families", "gfx94X-dcgpu;gfx120X-all")["pytorch_matrix"]
    assert [(row["python_version"], row["pytorch_git_ref"]) for row in rows] == [(python, ref) for python in pythons for ref in refs]
    assert {row["amdgpu_families"] for row in rows} == {"gfx94X-dcgpu;gfx120X-all"}
    untested = [(row["pytorch_git_ref"], row["python_version"]) for row in rows if row["test_amdgpu_families"] == "none"]
    assert untested == ([("nightly", "3.14")] if platform == "windows" and release_type == "nightly" else [])


def test_builds_of_pytorch_by_name(tmp_path: Path):
    words = ["--amdgpu-families", "gfx90c;gfx1151", "--python-versions", "3.12, 3.13", "--pytorch-git-refs=release/2.13 main"]
    rows = asked(tmp_path, "configure_pytorch_release_matrix", *words)["pytorch_matrix"]
    assert [(row["pytorch_git_ref"], row["amdgpu_families"]) for row in rows] == [("release/2.13", "gfx1151"), ("main", "gfx90c;gfx1151")] * 2
    refuses("F003", "configure_pytorch_release_matrix", "--amdgpu-families", "gfx94Y")
    refuses("C042", "configure_pytorch_release_matrix", "--amdgpu-families=")
    (tmp_path / "own.toml").write_text('schema = "quarry.frameworks/1"\nname = "x"\n[[build]]\nframework = "pytorch"\n')
    refuses("F030", "configure_pytorch_release_matrix", "--amdgpu-families", "gfx1151", "--frameworks-file", tmp_path / "own.toml")


def test_builds_of_jax(tmp_path: Path):
    rows = asked(tmp_path, "configure_jax_release_matrix", "--python-versions=")["jax_matrix"]
    assert len(rows) == 14 and rows[0] == {"python_version": "3.11", "jax_ref": "rocm-jaxlib-v0.10.1", "jax_label": "0.10.1", "jax_repository": "ROCm/jax", "gfx_arch": "device-all"}
    assert not [row for row in rows if row["python_version"] == "3.11" and row["jax_label"].startswith("0.11")]
    rows = asked(tmp_path, "configure_jax_release_matrix", "--release-type", "ci")["jax_matrix"]
    assert [(row["python_version"], row["jax_label"]) for row in rows] == [("3.12", "0.11.1")]
    refuses("F031", "configure_jax_release_matrix", "--jax-refs", "main")


def test_tests_of_pytorch(tmp_path: Path):
    words = ["configure_pytorch_test_matrix", "--build-amdgpu-families", "gfx94X-dcgpu;gfx1151"]
    for said in ([], ["--test-amdgpu-families=auto"], ["--test-amdgpu-families="]):
        found = asked(tmp_path, *words, *said)
        assert found["enabled"] == "true" and [row["amdgpu_family"] for row in found["matrix"]["include"]] == ["gfx94X-dcgpu", "gfx1151"]
    assert all(row["test_runs_on"].startswith("linux-") for row in found["matrix"]["include"])
    assert asked(tmp_path, *words, "--test-amdgpu-families", "none") == {"enabled": "false", "matrix": {"include": []}}
    assert [row["amdgpu_family"] for row in asked(tmp_path, *words, "--test-amdgpu-families", "gfx1151")["matrix"]["include"]] == ["gfx1151"]
    refuses("C042", *words, "--test-amdgpu-families", "gfx1151;none")
    refuses("F003", *words, "--test-amdgpu-families", "gfx94Y")
    refuses("F004", *words, "--platform", "windows")


def test_tests_of_jax(tmp_path: Path):
    words = ["configure_jax_test_matrix", "--target", "gfx94X-dcgpu", "--test-size"]
    small = asked(tmp_path, *words, "small")["matrix"]["include"]
    assert [(row["test_subset"], row["test_timeout_minutes"]) for row in small] == [("all", 45)] and small[0]["test_list"].endswith("small_tests.txt")
    large = asked(tmp_path, *words, "large")["matrix"]["include"]
    assert [(row["test_subset"], row["test_timeout_minutes"], row["test_list"]) for row in large] == [("all", 120, ""), ("multi", 90, "")]
    assert large[0]["test_runs_on"] != large[1]["test_runs_on"]
    medium = asked(tmp_path, *words, "medium")["matrix"]["include"]
    assert medium in (large, large[:1]), "the second one on one day of the week"
    refuses("C042", *words, "huge")


def test_the_machine_of_a_family(tmp_path: Path):
    assert asked(tmp_path, "configure_target_run", TARGET="gfx94X-dcgpu", PLATFORM="linux") == {"test-runs-on": "linux-mi325-1gpu-ossci-rocm"}
    assert asked(tmp_path, "configure_target_run", TARGET="gfx1151", PLATFORM="windows")["test-runs-on"].startswith("windows-")
    refuses("F003", "configure_target_run", environment=job(tmp_path, TARGET="gfx94Y", PLATFORM="linux"))
    refuses("C042", "configure_target_run", environment=job(tmp_path, TARGET="gfx1151"))


# ---- promote_wheels_based_on_policy


@pytest.mark.parametrize(
    ("build", "test", "runner", "bypass", "ref", "upload", "noted"),
    [
        ("success", "success", "gpu", "", "main", "true", False),
        ("Success", "failure", "gpu", "true", "main", "false", False),
        ("success", "skipped", "", "", "main", "false", False),
        ("success", "skipped", "", "false", "main", "true", True),
        ("failure", "skipped", "gpu", "", "release/therock-7.2", "true", True),
    ],
)
def test_promotion_follows_the_rule_of_february(tmp_path, build, test, runner, bypass, ref, upload, noted):
    environment = {"BUILD_RESULT": build, "TEST_RESULT": test, "TEST_RUNS_ON": runner, "BYPASS_TESTS_FOR_RELEASES": bypass, "GITHUB_REF_NAME": ref, "GITHUB_ENV": str(tmp_path / "env")}
    done = compat("promote_wheels_based_on_policy", environment=environment)
    assert done.out == f"upload={upload}\n" and (tmp_path / "env").read_text() == f"upload={upload}\n"
    assert ("no test has passed" in done.err) == noted


# ---- the guide


def test_names_are_not_guessed():
    assert "fetch_artifacts" in refuses("C001", "fetch-artifacts").err


def test_a_script_without_a_drop_in_is_told_what_takes_its_place():
    """Each script of the workflows: the table of differences says what to do instead, and so does the program."""
    assert "`quarry artifact tarball`" in refuses("C001", "build_tarballs").err
    for _, name, reason in dist_facts.read_allowed(ROOT / "docs/differences.tsv", "cli"):
        done = refuses("C001", name, "--anything", "1")
        assert f"{name} of TheRock has no drop-in" in done.err and reason in done.err.replace("\n  ", " "), done.err


@cache
def guide() -> dict[str, dict[str, tuple[str, str]]]:
    """Script -> what a row names -> (fate, reason)."""
    sections: dict[str, dict[str, tuple[str, str]]] = {}
    for line in (ROOT / "docs/guides/drop-in.md").read_text().splitlines():
        if line.startswith("## "):
            rows = sections.setdefault(line[3:], {})
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            for name in re.findall(r"`([^`]+)`", cells[0]):
                assert name not in rows, f"{name} stands twice"
                rows[name] = (cells[1], cells[2])
    return sections


@cache
def scripts() -> list[str]:
    return re.findall(r"^  compat (\S+)", good("compat", "--help").out, re.MULTILINE)


@cache
def flags(script: str) -> dict[str, str]:
    """Every spelling of a flag in --help, with the text of its help."""
    page = good("compat", script, "--help").out.split("\nflags of every command")[0]
    blocks = re.findall(r"^ +(?:-\w, +|    )?(--(?:\[no-\])?[\w-]+)(.*(?:\n {12,}(?!-).*)*)", page, re.MULTILINE)
    listed = [line for line in page.splitlines() if re.fullmatch(r" {6}(--\S+,? ?)+", line)]  # flags that share one help
    blocks += [(name, "") for line in listed for name in re.findall(r"--(?:\[no-\])?[\w-]+", line)]
    both = [(spelling, text) for name, text in blocks for spelling in ([name.replace("[no-]", no) for no in ("", "no-")] if "[no-]" in name else [name])]
    return {name: " ".join(text.split()) for name, text in both}


def test_the_guide_has_every_script():
    assert set(guide()) == set(scripts())


@pytest.mark.parametrize("script", sorted(guide()))
def test_the_guide_has_every_flag(script: str):
    named = {name for name in guide()[script] if name.startswith("--")}
    assert named - {"--index-subdirectory"} == set(flags(script)), "docs/guides/drop-in.md and the command's flags"


FACTS = json.loads((ROOT / "tests/data/incumbent-cli.json").read_text())["scripts"]


def spellings(option: dict) -> list[str]:
    names = option.get("names", [])
    return names + ["--no-" + name[2:] for name in names if name.startswith("--") and "BooleanOptionalAction" in option.get("action", "")]


@pytest.mark.parametrize("fact", [each for each in FACTS if each["name"] in guide()], ids=lambda fact: f"{fact['era']}-{fact['name']}")
def test_every_recorded_flag_has_a_fate(fact: dict, tmp_path: Path):
    """What the scripts of both months take, as their sources say: the guide names it, and the command knows it in that month."""
    recorded = {name for option in fact["options"] for name in spellings(option) if name.startswith("--")} - {"--json"}  # a flag of every command
    assert recorded - set(guide()[fact["name"]]) == set(), "docs/guides/drop-in.md lacks them"
    for name in recorded:
        done = quarry("compat", fact["name"], *(["--era", fact["era"]] if "--era" in flags(fact["name"]) else []), name, cwd=tmp_path)
        assert "unknown flag" not in done.err and f"has no {name}" not in done.err, f"{name}: {done.err}"
    told = " ".join(reason for _, reason in guide()[fact["name"]].values())
    assert [name for name in fact["outputs"] if f"`{name}`" not in told] == [], "outputs that no row names"


@pytest.mark.parametrize("fact", [each for each in FACTS if each["environment"]], ids=lambda fact: f"{fact['era']}-{fact['path'].replace('/', '-')}")
def test_every_recorded_variable_has_a_fate(fact: dict):
    """What the scripts of both months read from the environment: same, better or refused in the guide; a script without a drop-in has a row as a whole."""
    if fact["name"] not in guide():
        assert fact["name"] in {name for _, name, _ in dist_facts.read_allowed(ROOT / "docs/differences.tsv", "cli")}
        return
    fates = {name: guide()[fact["name"]].get(name, ("missing", ""))[0] for name in fact["environment"]}
    assert {name: fate for name, fate in fates.items() if fate not in ("same", "better", "refused")} == {}, "docs/guides/drop-in.md"


def test_what_is_not_the_same_has_a_row():
    """Each flag or variable that the guide calls better or refused stands in the table of differences with the guide's reason, and no other does."""
    of_guide = {f"{script} {name}": re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", reason) for script, name, fate, reason in rows() if fate in ("better", "refused")}
    listed = dist_facts.read_allowed(ROOT / "docs/differences.tsv", "fates")
    assert {name: reason for _, name, reason in listed} == of_guide
    assert len(listed) == len(of_guide) and all(of_guide.values())


def test_every_script_of_the_workflows_is_answered():
    """A script that the workflows of a month call has a drop-in, is refused by name, or has a row that says what takes its place."""
    rows = dist_facts.read_allowed(ROOT / "docs/differences.tsv", "cli")
    answered = set(guide())
    called = {each["name"] for each in FACTS}
    assert called - answered == {name for _, name, _ in rows}
    assert all(reason for _, _, reason in rows)


JAX_CALLS = json.loads((ROOT / "tests/data/jax-calls.json").read_text())["calls"]


def tables_of_calls() -> list[list[list[str]]]:
    """The rows of each table of the page, cell by cell."""
    page = (ROOT / "docs/guides/script-calls.md").read_text()
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("| ")][1:] for part in page.split("\n## ")[1:]]


@pytest.mark.parametrize(("number", "topic", "facts"), [(0, "cli", FACTS), (1, "jax", JAX_CALLS)])
def test_the_tables_of_calls_are_true(number: int, topic: str, facts: list):
    """Every script that a workflow of either month calls, how often, and what takes its place."""
    instead = {name: reason for _, name, reason in dist_facts.read_allowed(ROOT / "docs/differences.tsv", topic)}
    calls = {(fact["name"], fact["era"]): fact["calls"] for fact in facts}
    called = sorted({name for (name, _), count in calls.items() if count})
    expected = [[name, *(str(calls.get((name, era)) or "") for era in ERAS), instead.get(name, f"`quarry compat {name}`")] for name in called]
    assert [row[:4] for row in tables_of_calls()[number]] == expected
    assert [name for name in called if name not in instead and name not in scripts()] == []
    total = [sum(count for (_, of), count in calls.items() if of == era) for era in ERAS]
    assert f"\n{total[0]} calls in February, {total[1]} in August." in (ROOT / "docs/guides/script-calls.md").read_text()


@pytest.mark.parametrize("row", [row for table in tables_of_calls() for row in table], ids=lambda row: row[0].replace(" ", "-"))
def test_every_call_with_a_form_of_ours_names_its_test(row: list):
    """The named test exists, and its file runs the command; work that stays with the scripts has none."""
    form, named = row[3], row[4].strip("`")
    commands = re.findall(r"`(?:quarry )?([^`]+)`", form)
    assert bool(named) == bool(commands)
    if not named:
        return
    file, _, test = named.partition("::")
    text = (ROOT / "tests" / file).read_text()
    assert f"def {test}(" in text
    guide_of_lines = (ROOT / "docs/guides/local-procedure.md").read_text() if "local_procedure" in file else ""
    words = [word for word in commands[0].split() if word.isalpha() or "_" in word or word.startswith("--")]
    missing = [word for word in words[:3] if word not in text + guide_of_lines]
    assert missing == [], f"{named} does not run {commands[0]}"


def rows() -> list[tuple[str, str, str, str]]:
    return [(script, name, *fate) for script, names in guide().items() for name, fate in names.items()]


@pytest.mark.parametrize(("script", "name", "fate", "reason"), [row for row in rows() if row[1].startswith("--")])
def test_fates_are_true(script: str, name: str, fate: str, reason: str):
    assert fate in ("same", "better", "refused", "ours") and (reason or fate == "same")
    help_text = flags(script).get(name, "")
    assert (fate == "refused") == ("refused: " in help_text)
    if fate == "refused":
        assert reason in help_text


def test_no_name_of_a_variable_is_invented():
    """Each variable of the guide is read by the sources."""
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.cpp"))
    unread = {"CUSTOM_PREFIX", "LINUX_USE_PREBUILT_ARTIFACTS", "WINDOWS_USE_PREBUILT_ARTIFACTS"}  # the rows say that they are not needed
    named = {name for _, name, _, _ in rows() if name.isupper() and "_" in name and name != "TOP_DIR" and name != "VENV_DIR"}
    assert {name for name in named if f'"{name}"' not in source} == unread
