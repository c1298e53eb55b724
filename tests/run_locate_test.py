"""`run locate` and `version` as a workflow's script calls them: variables, files, outputs, and wrong input of every kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import clean_environment, good, refused  # noqa: E402

LOCATE = ["run", "locate", "--run-id", "42", "--platform", "linux"]
RUN = {"id": 42, "updated_at": "2025-11-25T12:00:00Z", "repository": {"full_name": "ROCm/TheRock"}, "head_repository": {"full_name": "ROCm/TheRock"}}


def locate(*arguments: str | Path, **variables: str) -> dict:
    return good(*LOCATE, *arguments, "--json", environment=clean_environment(**variables)).json


def test_the_document_has_every_form():
    place = locate("--kind", "python-dist", "--artifact-group", "gfx94X-dcgpu", "--name", "torch-2.10.0+rocm7.12.0-cp312-cp312-linux_x86_64.whl", "--local-dir", "/srv/out")
    key = "42-linux/python/gfx94X-dcgpu/dist/torch-2.10.0+rocm7.12.0-cp312-cp312-linux_x86_64.whl"
    assert place["schema"] == "quarry.run-location/1"
    assert (place["bucket"], place["external_repo"], place["prefix"], place["key"]) == ("therock-ci-artifacts", "", "42-linux", key)
    assert place["s3_uri"] == f"s3://therock-ci-artifacts/{key}"
    assert place["https_url"] == "https" + f"://therock-ci-artifacts.s3.amazonaws.com/{key.replace('+', '%2B')}"
    assert place["local_path"] == f"/srv/out/{key}"


@pytest.mark.parametrize(
    ("variables", "era", "bucket", "prefix"),
    [
        ({}, "aug", "therock-ci-artifacts", "42-linux"),
        ({"GITHUB_REPOSITORY": "", "RELEASE_TYPE": ""}, "feb", "therock-ci-artifacts", "42-linux"),
        ({"GITHUB_REPOSITORY": "", "RELEASE_TYPE": ""}, "aug", "therock-ci-artifacts", "42-linux"),
        ({"GITHUB_REPOSITORY": "ROCm/rocm-libraries"}, "aug", "therock-ci-artifacts-external", "ROCm-rocm-libraries/42-linux"),
        ({"GITHUB_REPOSITORY": "rocm/therock"}, "feb", "therock-ci-artifacts", "42-linux"),
        ({"IS_PR_FROM_FORK": "true"}, "feb", "therock-ci-artifacts-external", "ROCm-TheRock/42-linux"),
        ({"IS_PR_FROM_FORK": "True"}, "feb", "therock-ci-artifacts-external", "ROCm-TheRock/42-linux"),
        ({"IS_PR_FROM_FORK": "true"}, "aug", "therock-ci-artifacts", "42-linux"),
        ({"RELEASE_TYPE": "nightly", "IS_PR_FROM_FORK": "true"}, "feb", "therock-nightly-artifacts", "ROCm-TheRock/42-linux"),
        ({"RELEASE_TYPE": "nightly-bkc"}, "aug", "therock-nightly-artifacts", "42-linux"),
        ({"GITHUB_REPOSITORY": "ROCm/therock-releases-internal"}, "feb", "therock-artifacts-internal", "ROCm-therock-releases-internal/42-linux"),
    ],
)
def test_the_variables_of_a_job(variables: dict, era: str, bucket: str, prefix: str):
    place = locate("--era", era, **variables)
    assert (place["bucket"], place["prefix"]) == (bucket, prefix)


def test_flags_win_over_variables():
    place = locate("--repo", "ROCm/TheRock", "--release-type", "dev", GITHUB_REPOSITORY="a/b", RELEASE_TYPE="nightly")
    assert (place["bucket"], place["prefix"]) == ("therock-dev-artifacts", "42-linux")
    assert locate("--bucket", "mine", GITHUB_REPOSITORY="a/b")["s3_uri"] == "s3://mine/42-linux"


@pytest.mark.parametrize(("head", "fork"), [({"fork": True}, True), ({"fork": False}, False), (None, True)])
@pytest.mark.parametrize("era", ["aug", "quarry"])
def test_a_pull_requests_event(tmp_path: Path, era: str, head: dict | None, fork: bool):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"repo": head}}}))
    place = locate("--era", era, GITHUB_EVENT_NAME="pull_request", GITHUB_EVENT_PATH=str(event))
    assert place["fork"] is fork
    assert place["external_repo"] == ("ROCm-TheRock/" if fork else "")


@pytest.mark.parametrize(
    ("change", "era", "bucket", "external_repo"),
    [
        ({}, "feb", "therock-ci-artifacts", ""),
        ({"updated_at": "2025-11-11T16:18:48Z"}, "feb", "therock-artifacts", ""),
        ({"updated_at": "2025-11-11T16:18:48Z"}, "aug", "therock-ci-artifacts", ""),
        ({"head_repository": {"full_name": "someone/TheRock"}, "updated_at": "2025-11-01T00:00:00+00:00"}, "feb", "therock-artifacts-external", "ROCm-TheRock/"),
        ({"head_repository": {"full_name": "rocm/therock"}}, "aug", "therock-ci-artifacts", ""),
        ({"head_repository": None}, "feb", "therock-ci-artifacts-external", "ROCm-TheRock/"),
        ({"head_repository": None}, "aug", "therock-ci-artifacts-external", "ROCm-TheRock/"),
    ],
)
def test_the_workflow_run_decides(tmp_path: Path, change: dict, era: str, bucket: str, external_repo: str):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**RUN, **change}))
    place = locate("--era", era, "--workflow-run", file, IS_PR_FROM_FORK="maybe", GITHUB_REPOSITORY="another/repository")
    assert (place["bucket"], place["external_repo"]) == (bucket, external_repo)


@pytest.mark.parametrize(
    ("code", "exit_code", "change", "arguments"),
    [
        ("L028", 2, {"id": 43}, []),
        ("L028", 2, {}, ["--repo", "ROCm/other"]),
        ("L021", 2, {"updated_at": None}, []),
        ("L021", 2, {"head_repository": "a/b"}, []),
        ("L022", 2, {"repository": {"full_name": "a"}}, []),
    ],
)
def test_documents_that_cannot_be_right(tmp_path: Path, code: str, exit_code: int, change: dict, arguments: list[str]):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**RUN, **change}))
    refused(code, exit_code, *LOCATE, "--workflow-run", file, *arguments)


def test_february_needs_the_time_of_the_run(tmp_path: Path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"head_repository": {"full_name": "ROCm/TheRock"}}))
    refused("L021", 2, *LOCATE, "--workflow-run", file, "--era", "feb")
    assert locate("--workflow-run", file)["bucket"] == "therock-ci-artifacts"


@pytest.mark.parametrize(
    ("code", "exit_code", "arguments", "variables"),
    [
        ("L020", 2, ["run", "locate", "--run-id", "42-linux", "--platform", "linux"], {}),
        ("L020", 2, [*LOCATE, "--kind", "log", "--name", "../../x"], {}),
        ("L020", 2, [*LOCATE, "--kind", "python", "--artifact-group", "dist"], {}),
        ("L022", 2, [*LOCATE, "--repo", "TheRock"], {}),
        ("L022", 2, LOCATE, {"GITHUB_REPOSITORY": "ROCm/The/Rock"}),
        ("L023", 2, [*LOCATE, "--release-type", "release"], {}),
        ("L023", 2, [*LOCATE, "--release-type", ""], {}),
        ("L023", 2, [*LOCATE, "--era", "feb", "--release-type", "dev-bkc"], {}),
        ("L023", 2, LOCATE, {"RELEASE_TYPE": "Nightly"}),
        ("L025", 2, LOCATE, {"GITHUB_EVENT_NAME": "pull_request"}),
        ("L025", 2, [*LOCATE, "--era", "feb"], {"IS_PR_FROM_FORK": "maybe"}),
        ("D001", 3, LOCATE, {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": "/no/such/file"}),
        ("D001", 3, [*LOCATE, "--workflow-run", "/no/such/file"], {}),
        ("B002", 6, [*LOCATE, "--workflow-run", "/dev/null"], {}),
        ("L026", 3, [*LOCATE, "--era", "feb", "--kind", "jax"], {}),
        ("L026", 3, [*LOCATE, "--era", "aug", "--kind", "python-deps"], {}),
        ("L027", 2, [*LOCATE, "--bucket", "s3://x"], {}),
        ("C006", 2, [*LOCATE, "--era", "may"], {}),
        ("C006", 2, [*LOCATE, "--kind", "wheel"], {}),
        ("C006", 2, ["run", "locate", "--run-id", "42", "--platform", "Linux"], {}),
    ],
)
def test_wrong_input(code: str, exit_code: int, arguments: list, variables: dict):
    done = refused(code, exit_code, *arguments, environment=clean_environment(**variables))
    assert done.out == ""
    assert "hint: " in done.err or code in ("D001", "B002")
