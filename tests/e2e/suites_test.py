"""A suite is its definition: on a protected channel only results of what `data/suites` defines count."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, quarry, refused  # noqa: E402

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


def test_any_command_frees_only_suites_without_a_definition(team, tmp_path):
    place, env, run = team
    both = tmp_path / "both.toml"
    nobody = '[[require]]\nplatforms = ["*"]\nfamilies = ["*"]\npythons = ["*"]\nsuites = ["nobody"]\n'
    both.write_text(smoke_policy(suite="own", more=nobody))
    run("channel", "protect", "stable", "--policy", both, "--reason", "release channel")
    run("test", "--venv", env, "--suite", "own", "--", "true")
    run("test", "--venv", env, "--suite", "nobody", "--", "true")
    held = run("gate", "--from", "run:1", "--to", "stable", code=10)
    assert "ran another definition of own" in held.out and "definition of nobody" not in held.out
    run("test", "--venv", env, "--suite", "own")
    run("promote", "--from", "run:1", "--to", "stable")


def test_a_suite_outside_a_repository_is_named_by_its_file(team, tmp_path, store):
    """`data/suites` is looked for at the top of a git repository; elsewhere the errors say so, and what helps."""
    place, env, run = team
    plain = tmp_path / "plain"
    shutil.copytree(place / "data", plain / "data")
    at = ("--store", f"file:{store}")
    for said in (refused("X003", 3, "suite", "show", "own", cwd=plain).err, refused("X003", 2, "test", "--venv", env, "--suite", "own", *at, cwd=plain).err):
        assert "at the top of a git repository" in said and "`data/suites/own.toml`" in said and "`git init`" in said
    shown = good("suite", "show", "data/suites/own.toml", "--json", cwd=plain).json
    assert shown["digest"] == good("suite", "show", "own", "--json", cwd=place).json["digest"]
    policy = tmp_path / "plain.toml"
    policy.write_text(smoke_policy(suite="own").replace(', "any_command"', ""))
    said = refused("O045", 10, "channel", "protect", "stable", "--policy", policy, "--reason", "x", *at, cwd=plain).err
    assert "data/suites/own.toml at the top of the git repository" in said and "`quarry suite show FILE`" in said
    policy.write_text(policy.read_text() + f'[[suite]]\nname = "own"\ndigest = ["{shown["digest"]}"]\n')
    good("channel", "protect", "stable", "--policy", policy, "--reason", "x", *at, cwd=plain)


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


LIBRARY = """#include <stdlib.h>
__attribute__((constructor)) static void refuse_a_second(void) {
  if (getenv("ANOTHER_IS_LOADED")) abort();
  setenv("ANOTHER_IS_LOADED", "1", 1);
}
"""


def test_the_shipped_suite_loads_each_library_in_a_process_of_its_own(tmp_path):
    """As libLLVM and libclang-cpp: each can be loaded, and a process that loads both is aborted."""
    site, made = tmp_path / "site", {}
    (tmp_path / "library.c").write_text(LIBRARY)
    for directory, name in (("lib", "libamd_comgr.so.2"), ("lib/llvm/lib", "libLLVM.so.15"), ("lib/llvm/lib", "libclang-cpp.so.15")):
        made[name] = site / "_rocm_sdk_core" / directory / name
        made[name].parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", made[name], tmp_path / "library.c"], check=True)
    info = site / "rocm_sdk_core-7.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 7.2.0\n")
    (info / "RECORD").write_text("".join(f"{path.relative_to(site)},,\n" for path in made.values()))

    def load():
        program = "import sys; sys.path[:0] = sys.argv[1:]; import rocm_smoke; rocm_smoke.test_libraries_load()"
        return subprocess.run([sys.executable, "-c", program, site, ROOT / "data/suites"], capture_output=True, text=True, env=clean_environment())

    assert load().returncode == 0, load().stderr
    for name in ("libLLVM.so.15", "libclang-cpp.so.15"):
        made[name].write_bytes(b"not a library")
    said = load()
    assert said.returncode == 1 and all(f"{name}: exit code 1" in said.stderr for name in ("libLLVM.so.15", "libclang-cpp.so.15")), said.stderr


def test_jobs_that_share_a_suite_count_together(team):
    """Each job runs a shard; the channel moves when all shards of one run have passed, and not before."""
    place, env, run = team
    (place / "data/suites/own.toml").write_text(SUITE.replace('"{junit}"', '"{junit}", "{shard}", "{shards}"') + "shards = 3\nmin_passed = 3\n")
    (place / "data/suites/own.py").write_text(
        """import os, sys
report, shard, shards = sys.argv[1:]
if shards == "3":
    assert os.environ["GTEST_TOTAL_SHARDS"] == "3" and int(os.environ["GTEST_SHARD_INDEX"]) == int(shard) - 1
names = range(3) if shards == "1" else [int(shard)]
open(report, "w").write("<testsuite>" + "".join(f'<testcase name="part {name}"/>' for name in names) + "</testsuite>")
"""
    )
    shown = run("suite", "show", "own").json
    assert shown["shards"] == 3
    run("channel", "protect", "stable", "--policy", "own-policy.toml", "--reason", "release channel")

    def shard(part, *words, code=0):
        return run("test", "--venv", env, "--suite", "own", "--shard", part, *words, code=code)

    for part, words, says in (
        ("1/4", ("--run", "7"), "has 3 shards"),
        ("0/3", ("--run", "7"), "does not name a shard"),
        ("4/3", ("--run", "7"), "does not name a shard"),
        ("2", ("--run", "7"), "does not name a shard"),
        ("2/3", (), "--run NAME"),
    ):
        said = shard(part, *words, code=2)
        assert says in said.err + said.out and "X029" in said.err + said.out, part
    assert "X029" in run("test", "--venv", env, "--suite", "own", "--run", "7", code=2).err
    assert "has no shards" in run("test", "--venv", env, "--suite", "rocm-smoke", "--shard", "1/2", "--run", "7", code=2).err

    first = shard("1/3", "--run", "7").json
    assert first["shard"] == {"index": 1, "total": 3, "run": "7"} and first["counts"]["passed"] == 1
    shard("2/3", "--run", "7")
    shard("3/3", "--run", "8")
    held = run("gate", "--from", "run:1", "--to", "stable", code=10)
    assert "shard 3 of 3 has not passed" in held.out
    third = shard("3/3", "--run", "7").json["evidence"]
    record = run("evidence", "show", third[:12]).json["record"]
    assert record["schema"] == "quarry.evidence/2" and record["shard"] == {"index": 3, "min_passed": 3, "run": "7", "total": 3}
    ready = run("gate", "--from", "run:1", "--to", "stable").json
    assert len(ready["cells"][0]["evidence"]) == 3
    assert "3 passed" in ready["cells"][0]["reasons"][0]
    run("promote", "--from", "run:1", "--to", "stable")
    # Without --shard all of it runs.
    assert run("test", "--venv", env, "--suite", "own").json["counts"]["passed"] == 3
