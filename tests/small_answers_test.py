"""Answers that differ from the scripts' on purpose: the last table of docs/differences.md, row by row."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import distributions, small_artifacts  # noqa: E402
from support.quarry import ROOT, clean_environment, good, refused  # noqa: E402

TABLE = (ROOT / "docs/differences.md").read_text().rpartition("\nAnswers of single scripts")[2]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines() if line.startswith("| ")][1:]
TAG = "cp312-cp312-linux_x86_64.whl"


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_a_target_means_its_variants(era: str, tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path, ("gfx942:xnack+",))
    good("artifact", "pack", artifacts, "--output-dir", tmp_path / "store/42-linux")
    words = ["--run-id", "42", "--artifact-group", "gfx942", "--amdgpu-targets", "gfx942", "--store", f"file:{tmp_path / 'store'}", "--dry-run", "--era", era]
    assert "blas_lib_gfx942:xnack+" in good("compat", "fetch_artifacts", *words, cwd=tmp_path).out
    good("compat", "build_python_packages", "--artifact-dir", artifacts, "--dest-dir", tmp_path / era, "--version", "7.1.0")
    assert list((tmp_path / era / "dist").glob("rocm_sdk_libraries_gfx942-7.1.0-*.whl"))


def test_a_family_by_key_or_name():
    targets = [good("matrix", "targets", name, "--json").json["targets"] for name in ("gfx94x", "gfx94X-dcgpu", "GFX94X-DCGPU")]
    assert targets == [["gfx942"]] * 3


def test_names_of_wheels_are_compared_in_normal_form(tmp_path: Path):
    (tmp_path / f"Torch-2.10.0-{TAG}").touch()
    assert good("compat", "write_torch_versions", "--dist-dir", tmp_path, "--torch-only").out.strip() == "2.10.0"


def test_jax_for_rocm_10_in_february(tmp_path: Path):
    for name in ("jax_rocm10_plugin", "jax_rocm10_pjrt", "jaxlib"):
        (tmp_path / f"{name}-0.9.0-{TAG}").touch()
    assert "jax_plugin_version=0.9.0\n" in good("compat", "write_jax_versions", "--dist-dir", tmp_path, "--era", "feb").out


def test_the_time_of_a_run(tmp_path: Path):
    def words(time: str) -> list:
        repository = {"full_name": "ROCm/TheRock"}
        (tmp_path / "run.json").write_text(json.dumps({"id": 42, "updated_at": time, "repository": repository, "head_repository": repository}))
        return ["run", "locate", "--run-id", "42", "--platform", "linux", "--era", "feb", "--workflow-run", tmp_path / "run.json"]

    assert good(*words("2025-11-11T16:18:48Z"), "--json").json["bucket"] == "therock-artifacts"
    assert good(*words("2025-11-11T16:18:48.5Z"), "--json").json["bucket"] == "therock-ci-artifacts"
    refused("L021", 2, *words("2025-11-11T17:18:48+01:00"))


@pytest.mark.parametrize("version", ["4.0", "3.12\n"])
def test_pythons_without_a_directory(version: str):
    refused("N014", 2, "compat", "python_to_cp_version", "--python-version", version)


def test_a_target_of_pull_requests_is_not_a_fork(tmp_path: Path):
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"head": {"repo": {"fork": True, "full_name": "x/TheRock"}}}}))
    for event, bucket in (("pull_request_target", "therock-ci-artifacts"), ("pull_request", "therock-ci-artifacts-external")):
        environment = clean_environment(GITHUB_REPOSITORY="ROCm/TheRock", GITHUB_EVENT_NAME=event, GITHUB_EVENT_PATH=str(tmp_path / "event.json"))
        found = good("run", "locate", "--run-id", "42", "--platform", "linux", "--era", "aug", "--json", environment=environment).json
        assert found["bucket"] == bucket


@pytest.mark.parametrize("release_type", ["nightly", "prerelease"])
@pytest.mark.parametrize("metadata", [{"base-date": "20260231"}, {"base-date": "2026-08-11"}, {"base-date": 20260811}, [], 5])
def test_malformed_metadata_of_a_release(metadata, release_type: str, tmp_path: Path):
    (tmp_path / "version.json").write_text(json.dumps({"rocm-version": "7.1.0", "release-metadata": metadata}))
    refused("N007", 2, "compat", "compute_rocm_package_version", "--release-type", release_type, "--prerelease-version=" + ("1" if release_type == "prerelease" else ""), cwd=tmp_path)


@pytest.mark.parametrize("release_type", ["dev-bkc", "nightly-bkc"])
def test_a_bkc_without_base_date(release_type: str, tmp_path: Path):
    (tmp_path / "version.json").write_text('{"rocm-version": "7.1.0"}')
    refused("N003", 2, "compat", "compute_rocm_package_version", "--release-type", release_type, "--override-git-sha", "a" * 40, cwd=tmp_path)


def test_the_page_of_an_upload(tmp_path: Path):
    (tmp_path / "dist").mkdir()
    distributions.wheel(tmp_path / "dist", "demo", "1.0")
    good("compat", "upload_python_packages", "--input-packages-dir", tmp_path / "dist", "--run-id", "42", "--multiarch", "--output-dir", tmp_path / "store")
    page = (tmp_path / "store/42-linux/python/index.html").read_text()
    assert "#sha256=" in page and 'data-core-metadata="sha256=' in page


def test_the_group_of_packages_is_in_their_place():
    found = good("run", "locate", "--run-id", "42", "--platform", "linux", "--kind", "python", "--artifact-group", "gfx942", "--era", "aug", "--json").json
    assert found["key"].rstrip("/") == "42-linux/python/gfx942"


def test_generic_artifacts_alone_are_no_set(tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path)
    for path in artifacts.iterdir():
        if "gfx" in path.name:
            path.rename(tmp_path / path.name)
    refused("S005", 3, "sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "7.1.0")
    assert not (tmp_path / "out").exists()


def test_the_table_has_these_rows():
    assert len(ROWS) == 13 and all(len(row) == 4 and all(row) for row in ROWS)
