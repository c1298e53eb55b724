"""A suite is its definition: on a protected channel only results of what `data/suites` defines count."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

SUITE = """schema = "quarry.suite/1"
name = "own"
about = "what this team looks at"
command = ["python", "{suite}/own.py", "{junit}"]
files = ["own.py"]
"""
PROGRAM = """import importlib.metadata, sys
assert importlib.metadata.version("rocm")
open(sys.argv[1], "w").write('<testsuite><testcase name="installed"/></testsuite>')
"""


@pytest.fixture
def team(store, tmp_path):
    """A repository that defines a suite, and an environment with run 1."""
    place = tmp_path / "repository"
    (place / "data/suites").mkdir(parents=True)
    (place / ".git").mkdir()
    (place / "data/suites/own.toml").write_text(SUITE)
    (place / "data/suites/own.py").write_text(PROGRAM)
    (place / "own-policy.toml").write_text(smoke_policy(suite="own").replace(', "any_command"', ""))
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:1", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")

    def run(*words, code: int = 0):
        done = quarry("--json", *words, environment=clean_environment(QUARRY_STORE=f"file:{store}"), cwd=place)
        assert done.code == code, done.out + done.err
        return done

    return place, tmp_path / "env", run


def test_only_the_definition_opens_a_protected_channel(team, store):
    place, env, run = team
    digest = quarry("suite", "show", "own", "--json", cwd=place).json["digest"]
    run("channel", "protect", "stable", "--policy", "own-policy.toml", "--reason", "release channel")

    assert run("test", "--venv", env, "--suite", "own", "--", "true").json["result"] == "passed"
    held = run("gate", "--from", "run:1", "--to", "stable", code=10)
    assert "ran another definition of own" in held.out

    passed = run("test", "--venv", env, "--suite", "own").json
    assert passed["result"] == "passed" and passed["suite"] == "own"
    assert run("evidence", "show", passed["evidence"][:12]).json["record"]["suite_digest"] == digest
    run("promote", "--from", "run:1", "--to", "stable")

    # Another file is another suite: the channel keeps the definition that it was protected with.
    (place / "data/suites/own.py").write_text(PROGRAM + "# changed\n")
    changed = quarry("suite", "show", "own", "--json", cwd=place).json["digest"]
    assert changed != digest
    assert run("evidence", "show", run("test", "--venv", env, "--suite", "own").json["evidence"][:12]).json["record"]["suite_digest"] == changed


def test_a_name_alone_protects_nothing(team, tmp_path, store):
    place, env, run = team
    unbound = tmp_path / "unbound.toml"
    unbound.write_text(smoke_policy(suite="nobody").replace(', "any_command"', ""))
    said = refused("O045", 10, "channel", "protect", "stable", "--policy", unbound, "--reason", "x", "--store", f"file:{store}", cwd=place).err
    assert "no definition of nobody" in said and "any_command" in said
    refused("X003", 2, "test", "--venv", env, "--suite", "nobody", "--store", f"file:{store}", cwd=place)


def test_the_shipped_suite_runs_and_wrong_definitions_are_refused(team, store, tmp_path):
    place, env, run = team
    listed = quarry("suite", "list", "--json", cwd=place).json["suites"]
    assert {"own", "rocm-smoke"} <= {suite["name"] for suite in listed}
    smoke = run("test", "--venv", env, "--suite", "rocm-smoke")
    assert smoke.json["result"] == "passed" and smoke.json["counts"]["passed"] == 4

    file = tmp_path / "team.toml"
    file.write_text(SUITE.replace("files", "flies"))
    refused("X027", 2, "test", "--venv", env, "--suite", file, "--store", f"file:{store}")
    file.write_text("name = ")
    refused("X026", 2, "suite", "show", file)
    refused("X003", 3, "suite", "show", "absent")
    (place / "data/suites/own.py").unlink()
    refused("X027", 3, "suite", "show", "own", cwd=place)
