"""A store that commit 50bcdf5 wrote, before records had their present form: every command reads it, and goes on in it.

tests/data/store-50bcdf5.tar.xz holds what that program made of the small artifacts: runs 1 to 3 (7.2.0 to 7.2.2), 1 and 2
tested and promoted to `stable`, a waiver, a rollback of `stable`, and `stable` copied below `v2/all`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, ROOT, quarry  # noqa: E402

from conftest import build, publish  # noqa: E402

IMMUTABLE = ("sets", "views", "shards", "ledger", "evidence", "waivers")


def records(store: Path) -> dict[str, str]:
    """Bytes of everything that is named by its digest."""
    found = {}
    for directory in IMMUTABLE:
        for path in sorted((store / directory).rglob("*")):
            if path.is_file():
                found[str(path.relative_to(store))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture
def first(tmp_path) -> Path:
    store = tmp_path / "store"
    store.mkdir()
    # Files of the archive have one early time; the store got its results when it was unpacked here.
    subprocess.run(["tar", "--touch", "-xJf", ROOT / "tests/data/store-50bcdf5.tar.xz", "-C", store], check=True)
    return store


@pytest.fixture
def policy(tmp_path) -> Path:
    """The results in the archive are of one day in 2026."""
    path = tmp_path / "policy.toml"
    path.write_text(smoke_policy(suite="rocm-sdk", max_age="3650d"))
    return path


@pytest.fixture
def run(first):
    def call(*words, code: int = 0):
        done = quarry(*words, "--store", f"file:{first}", "--json")
        assert done.code == code, f"{words}: {done.code}\n{done.out}{done.err}"
        return done.json

    return call


READS = [
    ("channel", "list"),
    ("channel", "show", "stable"),
    ("channel", "log", "stable"),
    ("channel", "verify", "stable"),
    ("channel", "diff", "staging", "stable"),
    ("set", "list"),
    ("set", "verify", "run:1"),
    ("set", "check", "run:2", "--allow-missing", "*"),
    ("run", "list"),
    ("evidence", "list"),
    ("waiver", "list"),
    ("status",),
    ("support",),
    ("index", "check", "channel:stable"),
    ("gc", "--dry-run"),
    ("wheel", "check", "channel:staging"),
    ("gpu", "list", "run:1"),
    ("gate", "--from", "run:1", "--to", "fresh", "--policy", "POLICY"),
]


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_it_is_read(run, first, policy, words):
    before = records(first)
    run(*[policy if word == "POLICY" else word for word in words])
    assert records(first) == before


def test_moves_go_on(run, first, policy, artifacts, tmp_path):
    before = records(first)
    for one in run("evidence", "list")["evidence"]:
        assert run("evidence", "show", one["evidence"][:12])["record"]["result"] == "passed"
    assert len(run("channel", "log", "stable")["moves"]) == 3
    # What the old rollback took out stays out; its evidence opens the gate of another channel.
    run("gate", "--from", "run:3", "--to", "stable", "--policy", policy, code=10)
    run("promote", "--from", "run:2", "--to", "fresh", "--policy", policy)
    run("rollback", "fresh", "--to", "0")
    run("channel", "protect", "fresh", "--policy", policy, "--reason", "people install from it")
    run("promote", "--from", "run:1", "--to", "fresh")
    publish(build(artifacts, tmp_path / "packages", "7.3.0"), first, "9", "--channel", "staging")
    # The distribution of the first form is generation 1, and moves like a channel from here on.
    run("promote", "--from", "run:1", "--to", "fresh", "--to-store", f"file:{first}", "--prefix", "v2/all")
    for place in ("channel:fresh", "channel:staging", "run:9"):
        run("index", "check", place)
    env = tmp_path / "env"
    run("venv", "install", *BY_UV, env, "--from", "channel:fresh", "--packages", "rocm[libraries]")
    assert run("test", "--venv", env)["result"] == "passed"
    assert {key: records(first)[key] for key in before} == before, "no record of the old program is written again"


def test_its_evidence_is_signed_by_nobody_and_says_which_tests_ran(run, policy):
    signer = f'[[signer]]\nname = "ci"\nkey = "{"A" * 43}="\nsigns = ["evidence"]\n'
    for more, code in (('[[suite]]\nname = "rocm-sdk"\npackaged = true\n', 0), (f'[[suite]]\nname = "rocm-sdk"\ndigest = ["{"0" * 64}"]\n', 10), (signer, 10)):
        policy.write_text(smoke_policy(suite="rocm-sdk", more=more, max_age="3650d"))
        run("gate", "--from", "run:1", "--to", "fresh", "--policy", policy, code=code)
