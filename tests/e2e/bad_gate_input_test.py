"""Bad input of the gate and of promotions: wrong clocks, changed policies, damaged and crowded stores. Each gives a coded refusal or a
warning; none gives a wrong verdict, and none leaves a channel that cannot move any more."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, evidence, s3_server  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402

DAY = timedelta(days=1)
REASON = ("--reason", "a test")


class Line:
    """Packages of one project in a directory store, version N as run N, and a policy."""

    def __init__(self, place: Path) -> None:
        self.place, self.store, self.policy = place, place / "store", place / "own.toml"
        self.policy.write_text(smoke_policy())

    def __call__(self, *words, code: int = 0):
        done = quarry(*words, "--store", f"file:{self.store}", "--json")
        assert done.code == code, done.out + done.err
        return done

    def publish(self, version: str, *more) -> str:
        dist = self.place / version
        dist.mkdir()
        distributions.wheel(dist, "demo", version)
        return self("publish", dist, "--run-id", version.split(".")[0], "--platform", "linux", *more).json["set"]

    def result(self, sealed: str, **more) -> dict:
        files = json.loads((self.store / f"sets/{sealed}.json").read_text())["files"]
        return evidence.result(sealed, files, {"platform": "linux"}, "smoke", **more)

    def tested(self, sealed: str, *, code: int = 0, **more):
        kept = evidence.keep(self.place / "kept.json", self.result(sealed, **more))
        return self("evidence", "record", "--kept", kept, code=code)

    def written(self, record: dict, ago: timedelta) -> None:
        """A record as it lies in the store since then, whoever wrote it."""
        written = evidence.text(record)
        file = self.store / f"evidence/{hashlib.sha256(written.encode()).hexdigest()}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(written)
        since = time.time() - ago.total_seconds()
        os.utime(file, (since, since))

    def promote(self, run: str, *more, code: int = 0):
        return self("promote", "--from", f"run:{run}", "--to", "stable", *more, code=code)

    def gate(self, run: str, code: int) -> str:
        """The reason of the only cell."""
        (cell,) = self("gate", "--from", f"run:{run}", "--to", "stable", "--policy", self.policy, code=code).json["cells"]
        return cell["reasons"][0]

    def shown(self) -> set[str]:
        return {file["filename"].split("-")[1] for file in self("channel", "show", "stable").json["files"]}


@pytest.fixture
def line(tmp_path) -> Line:
    return Line(tmp_path)


# clocks and times


def test_a_machine_whose_clock_is_a_day_ahead(line):
    sealed = line.publish("1.0")
    assert "X032" in line.tested(sealed, ago=-DAY, code=6).err
    assert "no evidence" in line.gate("1", 10)
    line.written(line.result(sealed, ago=-DAY), timedelta())
    assert "ended 24 h after it was stored" in line.gate("1", 10) or "ended 23 h" in line.gate("1", 10)
    line.tested(sealed)
    assert line.gate("1", 0), "a good result opens the gate all the same"


A_DAY_AHEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
typedef int clock_function(clockid_t, struct timespec*);
int clock_gettime(clockid_t clock, struct timespec* at) {
  static clock_function* real;
  if (!real) real = (clock_function*)dlsym(RTLD_NEXT, "clock_gettime");
  int done = real(clock, at);
  if (!done && clock == CLOCK_REALTIME) at->tv_sec += 24 * 60 * 60;
  return done;
}
"""


def test_the_machine_that_tests_is_told_that_its_clock_is_ahead(store, tmp_path):
    """The store has the right time: that of its files."""
    (tmp_path / "clock.c").write_text(A_DAY_AHEAD)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "clock.c", "-o", tmp_path / "clock.so"], check=True)
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "channel:staging", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    tested = ("test", "--venv", tmp_path / "env", "--store", f"file:{store}", "--")
    ahead = clean_environment(LD_PRELOAD=str(tmp_path / "clock.so"))
    passed, failed = quarry(*tested, "true", environment=ahead), quarry(*tested, "false", environment=ahead)
    assert (passed.code, failed.code) == (0, 1), passed.err + failed.err
    for done, counts in ((passed, "so it does not count for any gate"), (failed, "so it counts from the time it was stored")):
        assert "warning[X032]" in done.err and counts in done.err and "timedatectl" in done.err, done.err
    assert "X032" not in good(*tested, "true").err


def test_an_older_pass_of_a_wrong_clock_does_not_come_back(line):
    """Its time was five minutes ahead when the store got it, and has come since. The failure is the newer one."""
    sealed = line.publish("1.0")
    minute = timedelta(minutes=1)
    line.written(line.result(sealed, ago=minute), ago=8 * minute)
    assert "ended 6 min after it was stored" in line.gate("1", 10)
    failure = {"result": "failed", "passed": 0, "failed": 1, "rows": [{"name": "t", "outcome": "failed", "message": "", "seconds": 0}]}
    line.written(line.result(sealed, ago=6 * minute) | failure, ago=6 * minute)
    assert "failed 1 of 1" in line.gate("1", 10)
    assert line.promote("1", "--policy", line.policy, code=10).json["held"]
    line.tested(sealed, ago=2 * minute)
    assert line.gate("1", 0), "a newer pass counts"


def test_a_machine_whose_clock_is_a_day_behind(line):
    sealed = line.publish("1.0")
    line.policy.write_text(smoke_policy().replace("14d", "20h"))
    line.tested(sealed, ago=DAY)
    assert "old" in line.gate("1", 10)


def waiver(line: Line, created: timedelta, expires: timedelta) -> None:
    """As a machine with another clock would write it."""
    record = {"schema": "quarry.waiver/1", "channel": "stable", "reason": "r", "approver": "lead", "created": evidence.stamp(created), "expires": evidence.stamp(expires)}
    written = evidence.text(record)
    (line.store / "waivers").mkdir(exist_ok=True)
    (line.store / f"waivers/{hashlib.sha256(written.encode()).hexdigest()}.json").write_text(written)


@pytest.mark.parametrize(("created", "expires", "why"), [(-DAY, -2 * DAY, "from the future"), (2 * DAY, DAY, "expired"), (timedelta(), -60 * DAY, "")], ids=["not yet valid", "expired", "too long"])
def test_a_waiver_outside_its_time(line, created, expires, why):
    line.publish("1.0")
    waiver(line, created, expires)
    assert why in line.gate("1", 10)


# policies


def test_a_policy_that_changed_between_plan_and_execution(line):
    line.tested(line.publish("1.0"))
    plan = line.promote("1", "--policy", line.policy, "--dry-run").json["plan"]
    line.policy.write_text(smoke_policy().replace("14d", "13d"))
    assert "O002" in line.promote("1", "--policy", line.policy, "--execute", plan, code=7).err
    assert line("channel", "list").json["channels"] == []
    line.policy.write_text(smoke_policy() + "# a comment does not make another policy\n")
    assert line.promote("1", "--policy", line.policy, "--execute", plan).json["moved"]


def test_a_bound_policy_that_changed_between_plan_and_execution(line):
    line.tested(line.publish("1.0"))
    line("channel", "protect", "stable", "--policy", line.policy, *REASON)
    plan = line.promote("1", "--dry-run").json["plan"]
    line.policy.write_text(smoke_policy(suite="other"))
    line("channel", "protect", "stable", "--policy", line.policy, *REASON)
    held = line.promote("1", "--execute", plan, code=7)
    assert "O002" in held.err and line.shown() == set()


def test_two_policies(line, tmp_path):
    line.tested(line.publish("1.0"))
    strict = tmp_path / "strict.toml"
    strict.write_text(smoke_policy(suite="other"))
    assert "C00" in line.promote("1", "--policy", line.policy, "--policy", strict, code=2).err
    line("channel", "protect", "stable", "--policy", strict, *REASON)
    assert "O012" in line.promote("1", "--policy", line.policy, code=10).err, "of two policies the channel's own counts"
    assert line.shown() == set()


# text of the code under test


INJECTED = "t\n::error::injected\n    linux any python  READY   smoke passed"


def test_a_name_of_a_test_writes_no_line_of_ours(line, tmp_path):
    sealed = line.publish("1.0")
    files = json.loads((line.store / f"sets/{sealed}.json").read_text())["files"]
    record = evidence.result(sealed, files, {"platform": "linux"}, "smoke", passed=0)
    row = {"name": INJECTED, "outcome": "failed", "message": "\x1b[2Jgone ##[error]x\x9b2J", "seconds": 0.0}
    record |= {"result": "failed", "failed": 1, "rows": [row], "machine": {"host": "h\n::warning::x\x1b[31m"}}
    kept = evidence.keep(tmp_path / "bad.json", record)
    words = ("--store", f"file:{line.store}")
    recorded = quarry("evidence", "record", "--kept", kept, *words)
    assert recorded.code == 1, recorded.err
    digest = next((line.store / "evidence").glob("*.json")).stem
    shown = quarry("evidence", "show", digest, *words)
    judged = quarry("gate", "--from", "run:1", "--to", "stable", "--policy", line.policy, *words)
    for done in (recorded, shown, judged):
        text = done.out + done.err
        assert "\x1b" not in text and "\x9b" not in text and "##[" not in text, text
        assert not any(each.lstrip().startswith("::") for each in text.splitlines()), text
        assert not any("READY" in each and "injected" not in each for each in text.splitlines()), text
    assert r"t\n::error::injected\n" in recorded.out and r"\x1b[2Jgone # #[error]x\u009b2J" in recorded.out
    assert r"h\n::warning::x\x1b[31m" in shown.out
    stored = line("evidence", "show", digest).json["record"]
    assert stored["rows"][0]["name"] == INJECTED, "--json keeps the value"


def test_an_expected_cell_that_nothing_has_is_warned_of(line):
    line.publish("1.0")
    words = ("evidence", "expect", "--from", "run:1", "--job", "https://ci.example/1", "--cell")
    assert line(*words, "linux/gfx94X-dcgpu/3.12").json["notes"] == []
    assert [note["code"] for note in line(*words, "linux/gfx9999/3.12").json["notes"]] == ["G008"]
    (note,) = line(*words, "windows/gfx94X-dcgpu/3.12").json["notes"]
    assert note["message"] == "no set of these is for windows"


def test_a_protected_empty_channel_shows_nothing_that_stays(line):
    line.publish("1.0")
    for suite in ("smoke", "other"):
        line.policy.write_text(smoke_policy(suite=suite))
        done = quarry("channel", "protect", "new", "--policy", line.policy, *REASON, "--store", f"file:{line.store}")
        assert done.code == 0 and "what it showed already" not in done.err, done.err


# stores that lost something


@pytest.fixture
def moved(line) -> Line:
    """`stable` shows 1.0, then 1.0 and 2.0."""
    for version in ("1.0", "2.0"):
        line.tested(line.publish(version))
        line.promote(version[0], "--policy", line.policy)
    return line


@pytest.mark.parametrize("record", ["ledger", "view"])
def test_status_of_a_channel_that_lost_a_record(moved, record):
    digest = json.loads((moved.store / "channels/stable.json").read_text())[record]
    (moved.store / {"ledger": "ledger", "view": "views"}[record] / f"{digest}.json").unlink()
    moved("status", "stable", code=6)
    moved("status", "nosuch", code=3)


def test_a_view_that_lost_a_file_does_not_stop_the_channel(moved):
    (lost,) = moved.store.glob("1-linux/**/demo-1.0-*.whl")
    lost.unlink()
    told = moved("channel", "verify", "stable", code=6)
    assert lost.name in told.out + told.err
    (found,) = moved("status", "--policy", moved.policy, code=6).json["channels"][0]["lost"]
    assert (found["code"], found["place"]) == ("P020", str(lost.relative_to(moved.store)))
    moved.tested(moved.publish("3.0"))
    assert moved.promote("3", "--policy", moved.policy).json["moved"], "what is new does not depend on it"
    moved("rollback", "stable")
    assert moved.shown() == {"1.0", "2.0"}, "a view that does not change is not looked at"


def test_status_names_files_that_installers_would_not_find(moved):
    status = ("status", "stable", "--policy", moved.policy, "--store", f"file:{moved.store}")
    assert "LOST" not in good(*status).out
    (cut,), (sidecar,) = moved.store.glob("1-linux/**/demo-1.0-*.whl"), moved.store.glob("2-linux/**/demo-2.0-*.whl.metadata")
    whole = cut.read_bytes()
    cut.write_bytes(whole[:-1])
    sidecar.unlink()
    said = quarry(*status)
    assert said.code == 6, said.out + said.err
    assert re.search(rf"LOST      \S*/{cut.name} has {len(whole) - 1} bytes, sealed were {len(whole)} \[P021\]", said.out), said.out
    assert f"/{sidecar.name} is missing [P022]" in said.out
    assert "next: quarry channel verify stable" in said.err
    moved.tested(moved.publish("3.0"))
    moved.promote("3", "--policy", moved.policy)
    assert len(moved("status", "stable", "--policy", moved.policy, code=6).json["channels"][0]["lost"]) == 2, "an older set"


def test_a_rollback_does_not_bring_back_a_file_that_is_gone(moved):
    (lost,) = moved.store.glob("2-linux/**/demo-2.0-*.whl")
    moved("rollback", "stable")
    lost.unlink()
    assert "O003" in moved("rollback", "stable", "--to", "2", code=6).err
    assert moved.shown() == {"1.0"}
    moved.tested(moved.publish("3.0"))
    moved.promote("3", "--policy", moved.policy)
    assert moved.shown() == {"1.0", "3.0"}


@pytest.mark.parametrize("kind", ["view", "shard"])
def test_a_lost_record_of_the_view_is_named_and_left_behind(moved, kind):
    channel = json.loads((moved.store / "channels/stable.json").read_text())
    view = moved.store / f"views/{channel['view']}.json"
    shard = moved.store / f"views/shards/{json.loads(view.read_text())['shards']['demo']}.json"
    {"view": view, "shard": shard}[kind].unlink()
    moved.tested(moved.publish("3.0"))
    assert "R010" in moved.promote("3", "--policy", moved.policy, code=3).err, "a channel is not extended from what is not known"
    moved("rollback", "stable")
    assert moved.shown() == {"1.0"}, "and it is not stuck"
    assert moved.promote("3", "--policy", moved.policy).json["moved"]


# other stores


def test_a_store_without_compare_and_swap(line, tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.wheel(dist, "demo", "1.0")
    with s3_server.serve("--without", "conditions") as server:
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        store = ("--store", f"s3://{server.bucket}")
        run = lambda *words: quarry(*words, *store, environment=environment)  # noqa: E731
        assert run("publish", dist, "--run-id", "1", "--platform", "linux").code == 0
        line.policy.write_text(smoke_policy().replace("max_age", 'mode = "report_only"\nmax_age', 1))
        assert run("gate", "--from", "run:1", "--to", "stable", "--policy", line.policy).code == 0
        for words in (["promote", "--from", "run:1", "--to", "stable", "--policy", line.policy], ["channel", "protect", "stable", "--policy", "default", *REASON]):
            refused = run(*words)
            assert "error[R031]" in refused.err, refused.out + refused.err
        assert not [key for key in s3_server.Client(server.endpoint, server.access, server.secret).list(server.bucket) if key.startswith("channels/")]


# junk

JUNK = 20_000


def junk(directory: Path, suffix: str = ".json") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(JUNK):
        (directory / (hashlib.sha256(str(number).encode()).hexdigest() + suffix)).write_bytes(b"junk")


def test_junk_beside_marked_evidence_is_not_read(line):
    sealed = line.publish("1.0")
    line.tested(sealed)
    junk(line.store / "evidence")
    judged = line("gate", "--from", "run:1", "--to", "stable", "--policy", line.policy).json
    assert judged["notes"] == [], "what is not about the set costs nothing"


@pytest.mark.parametrize("where", ["evidence", "attempts", "marks", "waivers"])
def test_junk_that_is_looked_at_is_a_warning(line, where):
    """Somebody who may write evidence writes as much of it as he likes: the verdict is the same, and the warning can be read."""
    sealed = line.publish("1.0")
    line.tested(sealed)
    about = line.store / "evidence/attempts"
    if where == "evidence":
        (about / "marked.json").unlink()  # as in a store of an earlier version: all evidence is read
    junk({"evidence": line.store / "evidence", "attempts": about / sealed, "marks": about / sealed, "waivers": line.store / "waivers"}[where], "" if where == "marks" else ".json")
    judged = quarry("gate", "--from", "run:1", "--to", "stable", "--policy", line.policy, "--store", f"file:{line.store}")
    assert judged.code == 0, judged.out + judged.err
    assert len(judged.err.splitlines()) < 100, f"{len(judged.err.splitlines())} lines"
    if where != "marks":
        assert "R021" in judged.err and "20,000" in judged.err
    assert line.promote("1", "--policy", line.policy).json["moved"]
