"""Why a cell has no result: what jobs announce beside the evidence, and what the gate and `status` make of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, good, quarry, refused  # noqa: E402

CELL = f"linux/{small_artifacts.FAMILY}/3.12"
JOB = "https://ci.example/runs/7"


@pytest.fixture
def ask(store, tmp_path):
    """What the gate says of the one suite of the one cell: its state and its reason."""
    policy = tmp_path / "p.toml"

    def asked(more: str = "") -> tuple[str, str]:
        policy.write_text(smoke_policy(more=more))
        judged = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, "--store", f"file:{store}", "--json")
        assert judged.code == 10, judged.out + judged.err
        (cell,) = judged.json["cells"]
        (suite,) = cell["suites"]
        assert suite["suite"] == "smoke" and suite.get("job", "") in ("", JOB)
        return suite["state"], cell["reasons"][0]

    return asked


def expect(store: Path, *words: str):
    return good("evidence", "expect", "--cell", CELL, "--from", "channel:staging", "--suite", "smoke", "--job", JOB, *words, "--store", f"file:{store}")


def test_a_job_is_followed_from_its_announcement_to_its_end(store, ask):
    assert ask() == ("untested", "no evidence of smoke")
    said = expect(store)
    assert "smoke on linux" in said.out and JOB in said.out
    assert ask() == ("no_runner", f"no evidence of smoke: its job names no machine: {JOB}")
    expect(store, "--runner", "mi325")
    state, reason = ask()
    assert state == "waiting" and reason.endswith(f"for mi325: {JOB}")
    waiting = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", "default", "--store", f"file:{store}")
    assert "Test it:" in waiting.out, "another suite's job is of no help"
    expect(store, "--runner", "mi325", "--state", "started")
    assert ask()[0] == "running"
    for word, state in (("success", "no_result"), ("skipped", "skipped"), ("cancelled", "cancelled"), ("timed_out", "timed_out")):
        expect(store, "--runner", "mi325", "--state", word)
        assert ask()[0] == state


def test_a_result_says_more_than_its_job(store, ask, tmp_path):
    env = tmp_path / "env"
    good("venv", "install", *BY_UV, env, "--from", "channel:staging", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    expect(store, "--runner", "mi325", "--state", "cancelled")
    assert quarry("test", "--venv", env, "--suite", "smoke", "--store", f"file:{store}", "--", "false").code == 1
    assert ask()[0] == "failed"
    host = good("evidence", "list", "--store", f"file:{store}", "--json").json["evidence"][0]["evidence"]
    host = good("evidence", "show", host, "--store", f"file:{store}", "--json").json["record"]["machine"]["host"]
    state, reason = ask(f'[[machine]]\nname = "{host}"\nreason = "its fans fail"\nuntil = "2099-01-01"\n')
    assert "set aside until 2099-01-01 (its fans fail)" in reason
    # On a CPU it counts for no family.
    for record in (store / "evidence").glob("*.json"):
        record.unlink()
    good("test", "--venv", env, "--suite", "smoke", "--backend", "cpu", "--store", f"file:{store}", "--", "true")
    assert ask()[0] == "cancelled"


def test_status_tells_it_of_what_is_to_come(store):
    expect(store, "--runner", "mi325")
    at = ("--store", f"file:{store}")
    candidate = good("status", "staging", "--from", "channel:staging", *at)
    assert "the channel has all of it" in candidate.out
    shown = good("status", "staging", "--policy", "default", *at, "--json").json["channels"][0]
    assert [suite["state"] for cell in shown["cells"] for suite in cell["suites"]] == ["untested"], "default asks for another suite"


def test_what_says_nothing_is_refused(store):
    at = ("--from", "channel:staging", "--store", f"file:{store}")
    refused("X018", 2, "evidence", "expect", "--cell", "linux", "--job", JOB, *at)
    refused("X018", 2, "evidence", "expect", "--cell", "bsd/gfx942/3.12", "--job", JOB, *at)
    refused("X019", 2, "evidence", "expect", "--cell", CELL, *at)
    refused("X019", 2, "evidence", "expect", "--cell", CELL, "--suite", "a b", "--job", JOB, *at)
    assert not (store / "evidence/attempts").exists()
