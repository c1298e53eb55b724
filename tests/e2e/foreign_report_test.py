"""Evidence from machines where quarry does not run: the report of `rocm-sdk test` is bound to the published files, or refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts, small_windows_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

from conftest import build, publish  # noqa: E402


def record(store: Path, report: Path, source: str = "run:1", *more: str):
    return quarry("evidence", "record", "--from-report", report, "--from", source, "--store", f"file:{store}", "--json", *more)


def record_refused(code: str, exit_code: int, store: Path, report: dict | str, tmp_path: Path, source: str = "run:1"):
    path = tmp_path / "refused.json"
    path.write_text(report if isinstance(report, str) else json.dumps(report))
    done = refused(code, exit_code, "evidence", "record", "--from-report", path, "--from", source, "--store", f"file:{store}")
    assert not list((store / "evidence").glob("**/*")) if (store / "evidence").exists() else True, "nothing is recorded"
    return done


@pytest.fixture(scope="module")
def job(packages, tmp_path_factory) -> Path:
    """What a job leaves that needs only Python: an environment made by pip alone, and the report of its tests."""
    directory = tmp_path_factory.mktemp("job")
    subprocess.run([sys.executable, "-m", "venv", directory / "env"], check=True)
    run(directory / "env/bin/pip", "install", "-q", "--no-index", "--find-links", packages / "dist", "rocm[libraries,devel]")
    run(directory / "env/bin/rocm-sdk", "test", "--quiet", "--json", directory / "report.json")
    return directory


def run(*command) -> None:
    done = subprocess.run([str(each) for each in command], env=clean_environment(RUNNER_NAME="job-7"), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def report(job) -> dict:
    return json.loads((job / "report.json").read_text())


def distribution(report: dict, project: str) -> dict:
    return next(d for d in report["distributions"] if d["project"] == project)


def test_a_report_says_what_was_installed_where(report):
    assert [d["project"] for d in report["distributions"]] == ["rocm", "rocm-sdk-core", "rocm-sdk-libraries-gfx103x-dgpu", "rocm-sdk-devel"]
    assert report["platform"] == "linux" and report["family"] == small_artifacts.FAMILY and report["only"] == []
    assert report["machine"]["host"] == "job-7" and {"project", "version"} == set(report["others"][0])
    assert "expanded_sha256" in distribution(report, "rocm-sdk-devel")


def test_a_report_becomes_evidence_that_opens_the_gate(store, job):
    held = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", "demo", "--store", f"file:{store}", "--json")
    assert held.code == 10
    done = record(store, job / "report.json")
    assert done.code == 0, done.err
    assert done.json["result"] == "passed" and len(done.json["subjects"]) == 4
    assert done.json["reported"] == "rocm-sdk.test/1 of job-7"
    ready = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", "demo", "--store", f"file:{store}", "--json")
    assert ready.code == 0, ready.out
    shown = good("evidence", "show", done.json["evidence"], "--store", f"file:{store}")
    assert "quarry did not run there" in shown.out and "job-7" in shown.out
    listed = good("evidence", "list", "--store", f"file:{store}")
    assert listed.out.rstrip().endswith("reported")
    assert (store / done.json["log"]).read_bytes() == (job / "report.json").read_bytes(), "the report is kept as it came"
    assert record(store, job / "report.json").json["evidence"] == done.json["evidence"], "again: the same record"


def test_a_failure_is_recorded(store, report, tmp_path):
    report["rows"][0]["outcome"] = "failed"
    report["counts"]["passed"] -= 1
    report["counts"]["failed"] += 1
    (tmp_path / "r.json").write_text(json.dumps(report))
    done = record(store, tmp_path / "r.json")
    assert done.code == 1 and done.json["result"] == "failed"


def test_the_framework_is_one_of_the_installed_packages(store, job):
    assert "framework torch is not among" in record(store, job / "report.json", "run:1", "--framework", "torch").err
    done = record(store, job / "report.json", "run:1", "--framework", "rocm")
    assert done.code == 0 and json.loads((store / f"evidence/{done.json['evidence']}.json").read_text())["cell"]["framework"] == "rocm", done


ALTERED = {
    "a digest of core": lambda r: distribution(r, "rocm-sdk-core").update(content_sha256="0" * 64),
    "a digest of what devel unpacked": lambda r: distribution(r, "rocm-sdk-devel").update(expanded_sha256="0" * 64),
    "nothing about the payload": lambda r: distribution(r, "rocm-sdk-devel").pop("expanded_sha256"),
    "a version": lambda r: distribution(r, "rocm-sdk-core").update(version="7.2.1"),
    "a project": lambda r: distribution(r, "rocm-sdk-core").update(project="rocm-sdk-other"),
    "a file of rocm": lambda r: distribution(r, "rocm")["files"].append(["rocm_sdk/evil.py", "0" * 64, 3]),
    "no file of rocm": lambda r: distribution(r, "rocm").pop("files"),
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED.keys())
def test_files_that_are_not_in_the_set(change, store, report, tmp_path):
    change(report)
    record_refused("V035", 6, store, report, tmp_path)


def test_another_release_with_the_same_names(store, next_packages, report, tmp_path):
    publish(next_packages, store, "2")
    done = record_refused("V035", 6, store, report, tmp_path, "run:2")
    assert "it does not have this version" in done.err


BROKEN = {
    "no json": ("X012", lambda r: "{"),
    "counts that disagree": ("X012", lambda r: {**r, "counts": {**r["counts"], "passed": 1}}),
    "no distributions": ("X013", lambda r: {k: v for k, v in r.items() if k != "distributions"}),
    "empty distributions": ("X013", lambda r: {**r, "distributions": []}),
    "one twice": ("X013", lambda r: {**r, "distributions": r["distributions"] * 2}),
    "no sha256": ("X013", lambda r: {**r, "distributions": [{"project": "rocm", "version": "1", "content_sha256": "zz"}]}),
    "platform": ("X013", lambda r: {**r, "platform": "beos"}),
    "no machine": ("X013", lambda r: {**r, "machine": {}}),
    "times": ("X013", lambda r: {**r, "started": r["ended"], "ended": r["started"]}),
    "another platform than its wheels": ("X013", lambda r: {**r, "platform": "windows"}),
    "another version than its wheels": ("X013", lambda r: {**r, "version": "7.1.0"}),
    "negative seconds": ("X012", lambda r: {**r, "rows": [{**r["rows"][0], "seconds": -3}, *r["rows"][1:]]}),
    "two lines": ("X013", lambda r: {**r, "python": "3.12\nx"}),
    "some tests only": ("X014", lambda r: {**r, "only": ["base"]}),
}


@pytest.mark.parametrize(("code", "change"), BROKEN.values(), ids=BROKEN.keys())
def test_reports_that_cannot_be_believed(code, change, store, report, tmp_path):
    record_refused(code, 6, store, change(report), tmp_path)


def test_an_unsealed_directory_is_nothing_to_bind_to(store, packages, report, tmp_path):
    record_refused("X015", 2, store, report, tmp_path, str(packages / "dist"))


def test_an_altered_file_is_a_failure_of_the_tests(job, tmp_path):
    """The packaged tests notice what pip does not: a file with other bytes of the same size."""
    copy = tmp_path / "env"
    subprocess.run(["cp", "-a", job / "env", copy], check=True)
    header = next(copy.glob("lib/python3*/site-packages/_rocm_sdk_core/include/hip/hip_runtime.h"))
    header.write_bytes(header.read_bytes().swapcase())
    done = subprocess.run([copy / "bin/python", "-m", "rocm_sdk", "test", "--only", "uninstall"], capture_output=True, text=True)
    assert done.returncode == 1 and "not what was installed" in done.stdout


WRITE_REPORT = """
import sys
from pathlib import Path
from rocm_sdk.tests import _machine, _report
from rocm_sdk.tests._case import Row
_machine.PLATFORM = "windows"
_report.write_json(Path(sys.argv[1]), [Row("base.version", "passed", "", 0.1)], _report.now(), [])
"""


@pytest.mark.skipif(not small_windows_artifacts.available(), reason="needs gcc-mingw-w64-x86-64 (tools/setup --test)")
def test_windows_packages(tmp_path, monkeypatch):
    """The packages for Windows, unpacked as pip does it there, give a report that is bound to them; not to those for Linux."""
    store = tmp_path / "store"
    both = ("--linux-amdgpu-families", small_artifacts.FAMILY, "--windows-amdgpu-families", small_artifacts.FAMILY)
    windows = build(small_windows_artifacts.make(tmp_path), tmp_path / "windows", "7.2.0", "--platform", "windows", *both)
    linux = build(small_artifacts.make(tmp_path), tmp_path / "linux", "7.2.0", *both)
    for platform, packages in (("windows", windows), ("linux", linux)):
        good("publish", packages, "--store", f"file:{store}", "--run-id", "1", "--platform", platform)
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", site]
    wheels = sorted((windows / "dist").glob("*.whl"))
    run(*pip, "--platform", "win_amd64", "--only-binary", ":all:", *wheels)
    run(*pip, "--no-build-isolation", next((windows / "dist").glob("*.tar.gz")))
    report = tmp_path / "report.json"
    subprocess.run([sys.executable, "-c", WRITE_REPORT, report], env=clean_environment(PYTHONPATH=str(site)), check=True)
    assert "payload_sha256" in distribution(json.loads(report.read_text()), "rocm-sdk-devel"), "nothing has unpacked it"
    refused("V035", 6, "evidence", "record", "--from-report", report, "--from", "run:1-linux", "--store", f"file:{store}")
    done = record(store, report, "run:1-windows")
    assert done.code == 0, done.err
    assert done.json["cell"]["platform"] == "windows" and done.json["cell"]["family"] == small_artifacts.FAMILY
    assert sorted(s["filename"] for s in done.json["subjects"]) == sorted(f.name for f in (windows / "dist").glob("[!.]*"))
