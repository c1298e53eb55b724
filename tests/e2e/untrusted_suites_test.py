"""The code under test against `quarry test`: what it leaves behind, what it writes, and who records its result."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import static_server  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

# It waits for the record, whoever started it, and makes a pass of it; quarry writes a record at once, under its own name.
FORGER = """
import json, os, pathlib, sys, time
pathlib.Path(sys.argv[2]).write_text(str(os.getpid()))
while True:
    for file in pathlib.Path(sys.argv[1]).glob("quarry-evidence-*.json"):
        record = json.loads(file.read_text())
        record |= {"result": "passed", "passed": 1, "failed": 0, "rows": []}
        file.write_text(json.dumps(record, sort_keys=True, separators=(",", ":")))
        sys.exit(0)
    time.sleep(0.01)
"""


@pytest.fixture
def environment(store, tmp_path) -> Path:
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "channel:staging", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    return tmp_path / "env"


def test_a_process_that_stays_cannot_turn_the_failure_into_a_pass(store, environment, tmp_path):
    forger, kept, pid = tmp_path / "forger.py", tmp_path / "kept", tmp_path / "pid"
    forger.write_text(FORGER)
    suite = f"setsid {sys.executable} {forger} {kept} {pid} > /dev/null 2>&1 & while [ ! -s {pid} ]; do :; done; exit 1"
    done = quarry("test", "--venv", environment, "--keep", kept, "--store", f"file:{store}", "--", "sh", "-c", suite)
    assert done.code == 1, done.err
    assert not Path(f"/proc/{pid.read_text()}").exists()
    (record,) = kept.glob("*.json")
    assert json.loads(record.read_text())["result"] == "failed"
    # Somebody else who can write there is noticed.
    forged = json.loads(record.read_text()) | {"result": "passed", "passed": 1, "failed": 0, "rows": []}
    record.write_text(json.dumps(forged, sort_keys=True, separators=(",", ":")))
    refused("X022", 6, "evidence", "record", "--kept", record, "--from", "run:1", "--store", f"file:{store}")
    # A forger who also gives the file its new name is stopped by what became of the job.
    renamed = record.with_name("kept.json")
    record.with_suffix(".txt").rename(renamed.with_suffix(".txt"))
    record.rename(renamed)
    refused("X023", 6, "evidence", "record", "--kept", renamed, "--job-result", "failure", "--store", f"file:{store}")
    assert good("evidence", "list", "--store", f"file:{store}", "--json").json["evidence"] == []


def test_a_failure_of_a_job_that_failed_is_recorded(store, environment, tmp_path):
    kept = tmp_path / "kept"
    assert quarry("test", "--venv", environment, "--keep", kept, "--store", f"file:{store}", "--", "false").code == 1
    (record,) = kept.glob("*.json")
    refused("C006", 2, "evidence", "record", "--kept", record, "--job-result", "", "--store", f"file:{store}")
    assert quarry("evidence", "record", "--kept", record, "--job-result", "failure", "--store", f"file:{store}").code == 1
    assert len(good("evidence", "list", "--store", f"file:{store}", "--json").json["evidence"]) == 1


def test_what_a_read_only_store_refuses_is_recorded_elsewhere(store, environment, tmp_path):
    with static_server.serve(store) as (url, _):
        done = quarry("test", "--venv", environment, "--store", url, "--", "true", cwd=tmp_path, environment=clean_environment())
    assert "R030" in done.err and url not in done.err.split("hint:")[1]
    assert "--store s3://BUCKET/PREFIX` stores it" in done.err
    (record,) = tmp_path.glob("quarry-evidence-*.json")
    good("evidence", "record", "--kept", record, "--store", f"file:{store}")
