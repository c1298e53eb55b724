"""What commands say at the places where a first use goes astray: checks before anything is sent, honest plans, refusals with the
next command."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, github_double, small_artifacts, static_server  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
RUN = ("--run-id", "42", "--platform", "linux", "--artifact-group", FAMILY)


@pytest.fixture
def build(archives, tmp_path) -> Path:
    root = tmp_path / "build"
    shutil.copytree(archives, root / "artifacts")
    small_artifacts.write(root / "logs/blas.log", "built blas\n")
    return root


def unsound_wheel(directory: Path) -> Path:
    """Its container and RECORD are right; its METADATA is of another version."""
    directory.mkdir(parents=True, exist_ok=True)
    made = distributions.wheel(directory, "demo", "1.0")
    with zipfile.ZipFile(made) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["demo-1.0.dist-info/METADATA"] = files["demo-1.0.dist-info/METADATA"].replace(b"1.0", b"2.0")
    rows = "".join(f"{name},sha256={distributions._digest(data.decode())},{len(data)}\n" for name, data in files.items() if not name.endswith("RECORD"))
    files["demo-1.0.dist-info/RECORD"] = (rows + "demo-1.0.dist-info/RECORD,,\n").encode()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made


def test_packages_are_checked_before_a_run_is_uploaded(build, tmp_path):
    unsound_wheel(tmp_path / "packages")
    words = ("run", "upload", build, *RUN, "--store", f"file:{tmp_path}/store", "--packages", tmp_path / "packages")
    refused("W010", 1, *words)
    assert not (tmp_path / "store").exists()


def test_a_wheel_with_findings_ends_publish_with_1_as_its_help_says(tmp_path):
    unsound_wheel(tmp_path / "packages")
    refused("W010", 1, "publish", tmp_path / "packages", "--store", f"file:{tmp_path}/store", *RUN)
    (tmp_path / "packages/demo-1.0-py3-none-any.whl").write_bytes(b"no zip")
    refused("W010", 6, "publish", tmp_path / "packages", "--store", f"file:{tmp_path}/store", *RUN)
    for command in (["publish"], ["set", "adopt"], ["index", "build"]):
        said = good(*command, "--help").out
        assert "has findings" in said and "broken or ambiguous" in said


def test_a_plan_of_trees_describes_trees(artifacts, tmp_path):
    words = ("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--no-build-packages")
    planned = good(*words, "--dry-run")
    assert "rocm-sdk-core" in planned.out and ".whl" not in planned.out and "trees in" in planned.out
    done = good(*words)
    assert "0 B" not in done.err and "rocm-sdk-core" in done.err
    files = {p["file"] for p in json.loads(good(*words[:5], tmp_path / "other", *words[6:], "--dry-run", "--json").out)["packages"]}
    assert files == {path.name for path in (tmp_path / "out").iterdir()}


def test_an_altered_file_is_to_be_restored_not_published_again(store, report_only_policy):
    (wheel,) = (store / "1-linux").rglob("rocm_sdk_core*.whl")
    data = bytearray(wheel.read_bytes())
    data[len(data) // 2] ^= 1
    wheel.chmod(0o644)
    wheel.write_bytes(bytes(data))
    done = refused("O003", 6, "promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    assert "restore the file from a copy" in done.err and "publish the run again" not in done.err
    verified = quarry("set", "verify", "run:1", "--store", f"file:{store}", "--json").json
    assert "publish the run again" not in json.dumps(verified["findings"])


def test_a_fetch_that_would_keep_says_kept(archives, tmp_path):
    words = ("artifact", "fetch", "--from", archives, "--output-dir", tmp_path / "out")
    good(*words, "blas")
    plan = good(*words, "--dry-run", "--json").json["artifacts"]
    states = {entry["source"]: entry["state"] for entry in plan}
    assert {state for source, state in states.items() if "blas" in source} == {"kept"}
    assert {state for source, state in states.items() if "blas" not in source} == {"planned"}


def test_a_policy_that_only_reports_says_so(store, report_only_policy):
    words = ("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    done = good(*words)
    assert "HELD" in done.out and "only reports: nothing is held" in done.out


def test_a_failed_build_over_a_complete_run_is_told(build, tmp_path):
    words = ("run", "upload", build, *RUN, "--store", f"file:{tmp_path}/store", "--json")
    good(*words)
    again = good(*words, "--build-failed").json["findings"]
    assert [f["code"] for f in again if f["code"] == "A045"] == ["A045"]
    assert not [f for f in good(*words, "--build-failed").json["findings"] if f["code"] == "A045"], "told once: it is not complete any more"


def test_doctor_makes_no_store(tmp_path):
    done = good("doctor", "--store", f"file:{tmp_path}/missing")
    assert "the first publish makes it" in " ".join(done.out.split()) and not (tmp_path / "missing").exists()


def test_the_digest_that_is_printed_names_the_set(store):
    digest = good("set", "show", "run:1", "--store", f"file:{store}", "--json").json["sets"][0]["set"]
    assert good("set", "show", f"set:{digest[:12]}", "--store", f"file:{store}", "--json").json["sets"][0]["set"] == digest
    refused("L003", 2, "set", "show", f"set:{digest[:7]}", "--store", f"file:{store}")


def test_a_rollback_to_where_the_channel_is_says_so(store, report_only_policy):
    words = ("--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    good("promote", "--from", "run:1", *words)
    assert "shows that view already" in good("rollback", "stable", "--to", "1", "--store", f"file:{store}").out


def test_reasons_are_one_line_and_prefixes_are_not_empty(store, report_only_policy, tmp_path):
    promote = ("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    refused("O009", 2, *promote, "--reason", "fine\nstable@9  rollback by root")
    waive = ("waive", "--to", "stable", "--approver", "lead", "--expires", "1d", "--everything", "--store", f"file:{store}")
    refused("O009", 2, *waive, "--reason", "a\x1b[2Jb")
    for empty in ("", "/"):
        refused("O010", 2, *promote, "--to-store", f"file:{tmp_path}/other", "--prefix", empty)
    assert not (store / "channels/stable.json").exists()


def test_index_check_of_an_unknown_channel_names_those_that_are_there(store):
    done = refused("R015", 3, "index", "check", "channel:stabel", "--store", f"file:{store}")
    assert "it holds: staging" in done.err


def test_a_commit_that_is_no_number_is_refused_before_anybody_is_asked():
    with github_double.serve() as (github, url):
        refused("L005", 2, "artifact", "find", "--commit", "zz", environment=clean_environment(GITHUB_API_URL=url))
        assert github.requests == []


def test_run_locate_names_the_release_type(tmp_path):
    words = ("run", "locate", "--run-id", "42", "--platform", "linux", "--json")
    assert good(*words).json["release_type"] == "ci"
    assert good(*words, "--release-type", "nightly").json["release_type"] == "nightly"


def test_one_archive_by_its_address(archives, tmp_path):
    name = f"blas_lib_{FAMILY}"
    with static_server.serve(archives) as (url, _):
        refused("A048", 3, "artifact", "fetch", "--from", f"{url}/42-linux/{name}.tar.zst", "--output-dir", tmp_path / "out")
        refused("A046", 2, "artifact", "fetch", "--from", f"{url}/notes.tar.zst", "--output-dir", tmp_path / "out")
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
        good("artifact", "fetch", "--from", f"{url}/{name}.tar.zst", "--output-dir", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")] == [name]


def test_wheels_that_may_be_leftovers_are_told(tmp_path):
    packages = tmp_path / "dist"
    packages.mkdir()
    for family in ("gfx94x-dcgpu", "gfx103x-dgpu"):
        distributions.wheel_of(packages, f"rocm_sdk_libraries_{family.replace('-', '_')}", "1.0", files={f"{family}/lib.so": "x"})
    words = ("publish", packages, "--store", f"file:{tmp_path}/store", *RUN, "--dry-run", "--json")
    assert [(n["code"], n["place"]) for n in good(*words).json["notes"]] == [("P046", "rocm-sdk-libraries-*")]
    (packages / "rocm_sdk_libraries_gfx94x_dcgpu-1.0-py3-none-any.whl").unlink()
    assert good(*words).json["notes"] == []


def test_what_a_killed_unpack_left_is_removed_by_the_next(tmp_path):
    wheel = distributions.wheel(tmp_path, "demo", "1.0")
    left, foreign = tmp_path / "out/.demo-1.0.0123456789ab.partial", tmp_path / "out/.other-1.0.0123456789ab.partial"
    for directory in (left, foreign):
        (directory / "demo").mkdir(parents=True)
    good("wheel", "unpack", wheel, "--output-dir", tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == [foreign.name, "demo-1.0"]


def test_numbers_agree_with_their_nouns(tmp_path):
    packages = tmp_path / "dist"
    packages.mkdir()
    distributions.wheel(packages, "demo", "1.0")
    said = good("publish", packages, "--store", f"file:{tmp_path}/store", *RUN).out
    assert "1 file " in said and "1 files" not in said
    assert "rocm[" not in said
