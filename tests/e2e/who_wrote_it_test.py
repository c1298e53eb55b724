"""Which job wrote a record: what GitHub tells it, what is shown of it, and when that is more than its word."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402

JOB = {
    "GITHUB_ACTOR": "octocat",
    "GITHUB_REPOSITORY": "acme/rocm",
    "GITHUB_WORKFLOW_REF": "acme/rocm/.github/workflows/test.yml@refs/heads/main",
    "GITHUB_SHA": "c0ffee" * 6 + "abcd",
    "GITHUB_RUN_ID": "42",
}
IDENTITY = {
    "actor": "octocat",
    "repository": "acme/rocm",
    "workflow": JOB["GITHUB_WORKFLOW_REF"],
    "commit": JOB["GITHUB_SHA"],
    "run": "https://github.com/acme/rocm/actions/runs/42",
}


@pytest.fixture
def environment(store, tmp_path) -> Path:
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "channel:staging", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    return tmp_path / "env"


@pytest.fixture
def key(tmp_path) -> dict:
    path = tmp_path / "tester.pem"
    return good("key", "create", "--output", path, "--json").json | {"path": path}


def test_evidence_names_its_job(store, environment, key, tmp_path):
    at = ("--store", f"file:{store}")
    job = clean_environment(**JOB)
    digest = good("test", "--venv", environment, *at, "--json", environment=job).json["evidence"]
    assert json.loads((store / "evidence" / f"{digest}.json").read_text())["identity"] == IDENTITY
    said = good("evidence", "show", digest, *at)
    assert "writer    octocat of acme/rocm  (unverified)" in said.out
    shown = good("evidence", "show", digest, *at, "--json").json
    assert shown["record"]["identity"] == IDENTITY and shown["identity"] == IDENTITY | {"unverified": True, "signed_by": None}

    # Kept, recorded by another job and signed: a signer of the channel's policy answers for it.
    policy = tmp_path / "p.toml"
    policy.write_text(smoke_policy("signed", "rocm-sdk", f'[[signer]]\nname = "tester"\nkey = "{key["key"]}"\nsigns = ["evidence"]\n'))
    good("channel", "protect", "stable", "--policy", policy, "--reason", "release channel", *at)
    good("test", "--venv", environment, "--keep", tmp_path / "kept", *at, environment=job)
    (kept,) = (tmp_path / "kept").glob("*.json")
    signed = good("evidence", "record", "--kept", kept, "--sign", key["path"], *at, "--json", environment=clean_environment(**JOB | {"GITHUB_ACTOR": "another"})).json["evidence"]
    shown = good("evidence", "show", signed, *at, "--json").json["identity"]
    assert shown == IDENTITY | {"unverified": False, "signed_by": "tester"}
    assert "writer    octocat of acme/rocm  (signed by tester)" in good("evidence", "show", signed, *at).out
    assert good("evidence", "show", digest, *at, "--json").json["identity"]["unverified"], "the other record has no signature"


def test_a_desk_has_no_job(store, environment):
    at = ("--store", f"file:{store}")
    digest = good("test", "--venv", environment, *at, "--json").json["evidence"]
    shown = good("evidence", "show", digest, *at, "--json").json
    assert shown["identity"] is None and "identity" not in shown["record"]
    assert "writer" not in good("evidence", "show", digest, *at).out


def test_moves_name_their_job(store, environment, tmp_path):
    at = ("--store", f"file:{store}")
    job = clean_environment(**JOB)
    good("test", "--venv", environment, *at)
    good("promote", "--from", "channel:staging", "--to", "stable", "--policy", "demo", "--reason", "tested", *at, environment=job)
    policy = tmp_path / "p.toml"
    policy.write_text(smoke_policy("law", "rocm-sdk", ""))
    good("channel", "protect", "stable", "--policy", policy, "--trust-shown", "--reason", "release channel", *at, environment=job)
    moves = good("channel", "log", "stable", *at, "--json").json["moves"]
    assert [move["action"] for move in moves] == ["protect", "promote"]
    assert [move["identity"] for move in moves] == 2 * [IDENTITY | {"unverified": True, "signed_by": None}]
    (published,) = good("channel", "log", "staging", *at, "--json").json["moves"]
    assert published["identity"] is None


def test_what_an_approver_has_looked_at_is_in_the_waiver(store, tmp_path):
    risks = tmp_path / "risks.txt"
    risks.write_text("none that we know of\n")
    at = ("--store", f"file:{store}", "--json")
    words = ("waive", "--to", "stable", "--reason", "no machine", "--approver", "demo", "--expires", "1h", "--any-set", "--suite", "rocm-sdk", "--policy", "demo")
    attachment = {"name": "risks.txt", "sha256": hashlib.sha256(risks.read_bytes()).hexdigest()}
    assert good(*words, "--attachment", risks, *at).json["attachment"] == attachment
    (waiver,) = good("waiver", "list", *at).json["waivers"]
    assert waiver["attachment"] == attachment
    shown = f"[risks.txt {attachment['sha256'][:12]}]"
    assert shown in good("waiver", "list", "--store", f"file:{store}").out
    cell = good("gate", "--to", "stable", "--from", "channel:staging", "--policy", "demo", *at).json["cells"][0]
    assert cell["waived"] and shown in cell["reasons"][0]


def test_testing_until_it_passes_is_told(store, environment, tmp_path):
    at = ("--store", f"file:{store}")
    marks = tmp_path / "marks"
    suite = f"echo x >> {marks}; test $(wc -l < {marks}) = 3"
    policy = tmp_path / "p.toml"
    policy.write_text(smoke_policy("law", "smoke", ""))
    assert [quarry("test", "--venv", environment, "--suite", "smoke", *at, "--", "sh", "-c", suite).code for _ in range(3)] == [1, 1, 0]
    cell = good("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, *at, "--json").json["cells"][0]
    assert "; 1 of 3 results within its age)" in cell["reasons"][0]
    assert cell["suites"][0]["results"] == {"passed": 1, "all": 3}
