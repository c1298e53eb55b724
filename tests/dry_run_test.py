"""Dry runs need no credentials: they plan as if nothing were there, say what they could not look at, and write what a job reads."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions, s3_server, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

FAMILY = "gfx94X-dcgpu"
FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")


@pytest.fixture
def job(tmp_path) -> dict[str, str]:
    """A step of a job without credentials, whose bucket nobody can reach."""
    home = tmp_path / "home"
    home.mkdir()
    for name in FILES:
        (tmp_path / name).touch()
    return clean_environment(HOME=str(home), AWS_EC2_METADATA_DISABLED="true", AWS_ENDPOINT_URL_S3="http://127.0.0.1:9", NO_PROXY="127.0.0.1", **{name: str(tmp_path / name) for name in FILES})


@pytest.fixture
def packages(tmp_path) -> Path:
    dist = tmp_path / "packages/dist"
    dist.mkdir(parents=True)
    distributions.wheel(dist, "demo-app", "1.0", requires=("demo-lib",))
    distributions.wheel(dist, "demo-lib", "2.0")
    return dist.parent


def outputs(place: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (place / "GITHUB_OUTPUT").read_text().splitlines() if line)


PUBLISH = ["--run-id", "42", "--platform", "linux", "--artifact-group", FAMILY]


def test_publish(packages, job, tmp_path):
    words = ["publish", packages, "--store", "s3://no-such-bucket-here", *PUBLISH, "--channel", "staging", "--public-url", "https://cdn.example.org"]
    done = good(*words, "--dry-run", "--json", environment=job)
    assert done.json["dry_run"] and done.json["writes"] == 0 and len(done.json["files"]) == 2
    assert [note["code"] for note in done.json["notes"] if note["severity"] == "warning"] == ["P072"]
    assert "s3://no-such-bucket-here" in done.out and "K011" in done.out
    place = f"https://cdn.example.org/42-linux/python/{FAMILY}"
    assert outputs(tmp_path) == {"package_find_links_url": f"{place}/index.html", "package_index_url": f"{place}/simple/"}
    assert "a dry run" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text() and f"--index-url {place}/simple/" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    refused("K011", 4, *words, environment=job)


def test_a_dry_run_without_a_network(packages, job, tmp_path):
    """With credentials and no server: the same, but for the reason."""
    environment = {**job, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "QUARRY_STALL_SECONDS": "1"}
    done = good("publish", packages, "--store", "s3://no-such-bucket-here", *PUBLISH, "--dry-run", "--json", environment=environment)
    assert "P072" in {note["code"] for note in done.json["notes"]}


def test_what_is_wrong_with_a_package_is_found_all_the_same(packages, job):
    broken = next((packages / "dist").glob("demo_lib*"))
    broken.write_bytes(broken.read_bytes()[:-30])
    assert quarry("publish", packages, "--store", "s3://no-such-bucket-here", *PUBLISH, "--dry-run", environment=job).code == 6


def test_a_conflict_in_a_store_that_answers_is_still_an_error(packages, job, tmp_path):
    store = f"file:{tmp_path / 'store'}"
    good("publish", packages, "--store", store, *PUBLISH)
    distributions.wheel(packages / "dist", "demo-lib", "2.0", module="other")
    refused("P004", 7, "publish", packages, "--store", store, *PUBLISH, "--dry-run", environment=job)


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_the_script_that_uploads_packages(packages, job, tmp_path, era):
    good("compat", "upload_python_packages", "--input-packages-dir", packages, "--run-id", "42", "--artifact-group", FAMILY, "--bucket", "no-such-bucket-here", "--era", era, "--dry-run", environment=job)
    found = outputs(tmp_path)
    assert found["package_find_links_url"].endswith(f"/42-linux/python/{FAMILY}/index.html")
    assert found.get("kpack_split") == (None if era == "feb" else "false")
    assert "pip install" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


def test_run_upload(packages, job, tmp_path):
    build = tmp_path / "build"
    small_artifacts.write(build / "logs/a.log", "a")
    words = ["run", "upload", build, "--store", "s3://no-such-bucket-here", *PUBLISH, "--no-artifacts", "--packages", packages, "--dry-run", "--public-url", "https://cdn.example.org"]
    done = good(*words, environment=job)
    assert "P072" in done.err and "was not asked" in done.err
    found = outputs(tmp_path)
    assert found["build_logs_url"] == f"https://cdn.example.org/42-linux/logs/{FAMILY}/index.html"
    assert found["artifacts_url"] == "https://cdn.example.org/42-linux/index.html"
    assert found["package_find_links_url"] == f"https://cdn.example.org/42-linux/python/{FAMILY}/index.html" and "package_set" not in found
    assert "[Build Logs](" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


def test_promote_into_a_bucket(packages, job, tmp_path):
    store = f"file:{tmp_path / 'store'}"
    good("publish", packages, "--store", store, *PUBLISH)
    policy = tmp_path / "policy.toml"
    policy.write_text((Path(__file__).resolve().parents[1] / "data/policies/demo.toml").read_text())
    words = ["promote", "--from", "run:42", "--to", "stable", "--policy", policy, "--store", store, "--to-store", "s3://no-such-bucket-here", "--prefix", "v2/{family}"]
    good("waive", "--to", "stable", "--reason", "a test", "--approver", "demo", "--suite", "rocm-sdk", "--any-set", "--expires", "12h", "--policy", "demo", "--store", store)
    done = good(*words, "--dry-run", "--json", environment=job)
    assert [note["code"] for note in done.json["distribution"]["notes"]] == ["P072"]
    refused("K011", 4, *words, environment=job)
    assert quarry("channel", "show", "stable", "--store", store).code == 3, "what cannot be copied is found before the channel moves"


def test_promote_from_a_public_bucket(packages, job, tmp_path):
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        good("publish", packages, "--store", f"s3://{server.bucket}", *PUBLISH, environment=environment)
        nobody = {**job, "AWS_ENDPOINT_URL_S3": server.endpoint}
        done = quarry("promote", "--from", "run:42", "--to", "stable", "--policy", "demo", "--store", f"s3://{server.bucket}", "--dry-run", "--json", environment=nobody)
        # A private bucket stays unread, and the first reason is the one that helps.
        assert done.code == 4 and "K011" in done.err, done.err


def test_the_documents_are_json(packages, job):
    done = good("publish", packages, "--store", "s3://no-such-bucket-here", *PUBLISH, "--dry-run", "--json", environment=job)
    assert json.loads(done.out)["schema"] == "quarry.publish/1"
