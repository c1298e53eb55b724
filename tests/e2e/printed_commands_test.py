"""Commands that messages print are pasted as they are, and do what the message says."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

from conftest import publish  # noqa: E402

POLICY = """schema = "quarry.policy/1"
name = "two suites"
max_age = "1d"
approvers = ["release owner"]
waiver_max_age = "36h"
[[require]]
platforms = ["*"]
families = ["*"]
pythons = ["*"]
suites = ["smoke"]
"""
RUN = ("--run-id", "9", "--platform", "linux")
UV = " " + " ".join(BY_UV)  # pip, which a printed command takes, has its turn with what the gate prints


def paste(command: str, **options):
    words = shlex.split(command)
    assert words[0] == "quarry", command
    return quarry(*words[1:], **options)


def commands(text: str, verb: str) -> list[str]:
    return [found.removeprefix("next: ") for found in re.findall(rf"^(?:next: |  )(quarry {verb} .*)$", text, re.M)]


@pytest.fixture
def policy(tmp_path) -> Path:
    path = tmp_path / "my policy.toml"
    path.write_text(POLICY)
    return path


def test_a_gate_that_holds_prints_how_to_test_and_how_to_waive(store, tmp_path, policy):
    words = ("--from", "channel:staging", "--to", "stable", "--policy", policy, "--store", f"file:{store}")
    held = quarry("gate", *words, cwd=tmp_path)
    assert held.code == 10, held.err
    assert held.out.index("quarry venv install") < held.out.index("quarry test") < held.out.index("quarry waive")
    digest = good("set", "show", "run:1", "--store", f"file:{store}", "--json").json["sets"][0]["set"]
    assert f"  set:{digest[:12]}  run 1-linux" in held.out and "1 of 1 cells is not ready." in held.out
    assert quarry("promote", *words, cwd=tmp_path).out.count("quarry waive") == 1

    (waive,) = commands(held.out, "waive")
    assert paste(waive, cwd=tmp_path).code == 0
    assert "waived by release owner" in good("gate", *words).out
    for record in (store / "waivers").glob("*.json"):
        record.unlink()

    (install,), (test,) = commands(held.out, "venv install"), commands(held.out, "test")
    assert paste(install, cwd=tmp_path).code == 0
    done = paste(test.replace("COMMAND", "true"), cwd=tmp_path)
    assert done.code == 0, done.err
    ready = good("gate", *words, cwd=tmp_path)
    (promote,) = commands(ready.err, "promote")
    assert "moved       stable@1" in paste(promote, cwd=tmp_path).out


def test_a_failed_test_prints_how_to_read_its_log(store, tmp_path, policy):
    env = tmp_path / "env"
    good("venv", "install", *BY_UV, env, "--from", "run:1", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    failed = quarry("test", "--venv", env, "--store", f"file:{store}", "--suite", "smoke", "--", "sh", "-c", "echo a very bad day; false")
    assert failed.code == 1
    (log,) = commands(failed.err, "evidence log")
    assert paste(log).out == "a very bad day\n"
    held = quarry("gate", "--from", "run:1", "--to", "stable", "--policy", policy, "--store", f"file:{store}")
    assert commands(held.out, "evidence log") == [log]
    document = paste(log + " --json").json
    assert document["schema"] == "quarry.evidence-log/1" and document["size"] == len("a very bad day\n")
    (store / document["log"]).unlink()
    assert "[G023]" in paste(log).err and paste(log).code == 3
    assert "`quarry evidence list`" in refused("R010", 3, "evidence", "log", "0" * 12, "--store", f"file:{store}").err
    assert "`quarry evidence list`" in refused("R020", 2, "evidence", "show", "5d03", "--store", f"file:{store}").err


def test_the_command_after_a_dry_run_is_the_same_command(store, tmp_path, report_only_policy):
    rules = tmp_path / "my rules.toml"
    rules.write_text('schema = "quarry.distributions/1"\nname = "mine"\n[[distribution]]\nchannel = "stable"\nprefix = "mine/{family}"\n')
    words = ["--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}", "--to-store", f"file:{tmp_path}/other"]
    words += ["--distributions", rules, "--public-url", f"file:{store}=https://repo.example.org", "--reason", "it's time", "--cells", "ready"]
    dry = good("promote", *words, "--dry-run")
    (command,) = commands(dry.out, "promote")
    done = paste(command)
    assert done.code == 0, done.err
    assert (tmp_path / "other/mine").is_dir() and "https://repo.example.org/channels/stable/simple/" in done.out
    move = good("channel", "log", "stable", "--store", f"file:{store}", "--json").json["moves"][0]
    assert move["why"] == "it's time" and move["who"]
    assert re.search(r"^   1  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  ", good("channel", "log", "stable", "--store", f"file:{store}").out)


def test_a_copy_of_what_the_channel_has_already_prints_its_plan(store, tmp_path, report_only_policy):
    words = ["--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}"]
    good("promote", *words)
    dry = good("promote", *words, "--to-store", f"file:{tmp_path}/other", "--prefix", "v2/{family}", "--dry-run")
    assert "has all of it and stays" in dry.out and "nothing to do" not in dry.out and re.search("^plan        [0-9a-f]{64}$", dry.out, re.M)
    (command,) = commands(dry.out, "promote")
    done = paste(command)
    assert done.code == 0 and (tmp_path / "other/v2").is_dir(), done.err
    assert re.search(r"written, [\d.]+ k?M?B of files through here", done.out)
    for wrong in ("deadbee", "not a digest", "f" * 65):
        refused("O005", 2, "promote", *words, "--execute", wrong)


def test_a_rollback_after_its_dry_run(store, next_packages, report_only_policy):
    publish(next_packages, store, "2")
    for run in ("1", "2"):
        moved = good("promote", "--from", f"run:{run}", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    assert f"undo: quarry rollback stable --store file:{store}\n" in moved.err
    dry = good("rollback", "stable", "--to", "1", "--reason", "no -- good", "--store", f"file:{store}", "-n")
    (command,) = commands(dry.out, "rollback")
    done = paste(command)
    assert done.code == 0 and "promote --to-store" not in done.err
    assert good("channel", "log", "stable", "--store", f"file:{store}", "--json").json["moves"][0]["why"] == "no -- good"


def test_publish_prints_the_command_that_runs_its_plan(tmp_path):
    packages = tmp_path / "my packages"
    packages.mkdir()
    distributions.wheel(packages, "demo-app", "1.0")
    distributions.wheel(packages, "demo-base", "1.0")
    dry = good("publish", packages, "--store", f"file:{tmp_path}/store", *RUN, "--channel", "staging", "--commit", "abc", "-n")
    (command,) = commands(dry.out, "publish")
    done = paste(command)
    assert done.code == 0, done.err
    assert "sealed" in done.out and "(already sealed)" not in done.out
    (install,) = commands(done.err, "venv install")
    assert paste(install + UV, cwd=tmp_path).code == 0, "two projects are one value of --packages"
    again = paste(command)
    assert "(already sealed)" in again.out and "unchanged: the set is in staging@1" in again.out
    distributions.wheel(packages, "demo-more", "1.0")
    changed = paste(command)
    assert changed.code == 7 and "[O011]" in changed.err
    words = ("publish", packages, "--store", f"file:{tmp_path}/store", *RUN)
    for wrong in ("abc", "not a digest", "f" * 65):
        refused("O005", 2, *words, "--execute", wrong)
    refused("O006", 2, *words, "--execute", "abcdefgh", "--dry-run")


def test_the_store_of_the_environment_is_not_repeated(packages, tmp_path):
    environment = clean_environment(QUARRY_STORE="file:my store")
    done = good("publish", packages, "--run-id", "1", "--platform", "linux", environment=environment, cwd=tmp_path)
    (install,) = commands(done.err, "venv install")
    assert "--store" not in install
    assert f"--index-url file://{tmp_path}/my%20store/1-linux/python/simple/" in done.out
    done = paste(install + UV, environment=environment, cwd=tmp_path)
    assert done.code == 0, done.err


def test_pip_lines_for_files_end_without_a_warning(packages, tmp_path):
    """pip looks for a newer pip in the index that it was given."""
    environment = clean_environment()
    del environment["PIP_DISABLE_PIP_VERSION_CHECK"]
    done = good("publish", packages, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--channel", "staging", environment=environment)
    line = next(line for line in done.out.splitlines() if line.startswith("pip install"))
    assert line.endswith("--disable-pip-version-check")
    built = good("index", "build", packages, "--output-dir", tmp_path / "site", environment=environment, cwd=tmp_path)
    assert "--disable-pip-version-check" in built.err and "PROJECT" not in built.err
    relative = good("index", "build", packages, "--output-dir", "other", environment=environment, cwd=tmp_path)
    assert f"file://{tmp_path}/other/simple/" in relative.err


def test_a_waiver_says_what_it_waives(store, policy):
    base = ("waive", "--to", "stable", "--reason", "no machine", "--expires", "1h", "--store", f"file:{store}")
    mine = (*base, "--approver", "release owner", "--policy", policy)
    assert "every suite on every cell" in refused("G006", 2, *mine).err
    refused("G006", 2, *mine, "--everything", "--family", "gfx1151")
    refused("G006", 2, *mine, "--family", "")
    assert "not an approver of policy default" in refused("G006", 2, *base, "--approver", "me", "--everything").err
    assert not (store / "waivers").exists()
    for scope in (("--everything",), ("--family", "gfx1151"), ("--suite", "smoke"), ("--platform", "linux"), ("--python", "3.12"), ("--framework", "torch")):
        if scope != ("--everything",):
            assert "--any-set" in refused("G006", 2, *mine, *scope).err, "a waiver that names no set covers later runs, too"
            scope = (*scope, "--any-set")
        good(*mine, *scope)
    refused("G006", 2, *mine, "--everything", "--any-set")
    good(*base, "--approver", "release-owner", "--everything")


def test_promote_takes_the_default_policy(store):
    held = quarry("promote", "--from", "channel:staging", "--to", "stable", "--store", f"file:{store}", "--json")
    assert held.code == 10 and held.json["gate"]["policy"]["name"] == "default"


def test_a_framework_is_tested_as_the_gate_says(tmp_path):
    (tmp_path / "dist").mkdir()
    distributions.wheel(tmp_path / "dist", "torch", "2.7.0")
    policy, python = tmp_path / "own.toml", f"{sys.version_info.major}.{sys.version_info.minor}"
    policy.write_text(POLICY.replace('pythons = ["*"]', f'pythons = ["{python}"]\nframeworks = ["torch"]'))
    at = ("--store", f"file:{tmp_path / 'store'}")
    good("publish", tmp_path / "dist", *RUN, *at)
    words = ("--from", "run:9", "--to", "stable", "--policy", policy, *at)
    held = quarry("gate", *words, cwd=tmp_path)
    assert held.code == 10 and f"linux py{python} torch" in held.out and "no evidence of smoke" in held.out, held.out
    (install,), (test,) = commands(held.out, "venv install"), commands(held.out, "test")
    assert paste(install + UV, cwd=tmp_path).code == 0
    # Without the framework it is a result about another cell, and the gate says so.
    assert paste(test.replace(" --framework torch", "").replace("COMMAND", "true"), cwd=tmp_path).code == 0
    said = quarry("gate", *words, cwd=tmp_path)
    assert said.code == 10 and "no evidence of smoke: one result does not say `--framework torch`" in said.out, said.out
    assert paste(test.replace("COMMAND", "true"), cwd=tmp_path).code == 0
    good("gate", *words)
