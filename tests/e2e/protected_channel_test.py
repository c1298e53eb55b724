"""A channel that a policy protects, and files that a rollback keeps out: what gets around neither."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

from conftest import publish  # noqa: E402

POLICY = smoke_policy()


class Line:
    """A store with runs 1 (7.2.0) and 2 (7.2.1) in channel staging."""

    def __init__(self, store: Path, place: Path) -> None:
        self.store, self.policy = store, place / "own.toml"
        self.policy.write_text(POLICY)

    def __call__(self, *words, code: int = 0):
        done = quarry(*words, "--store", f"file:{self.store}", "--json")
        assert done.code == code, done.out + done.err
        return done

    def protect(self, policy: Path | None = None):
        return self("channel", "protect", "stable", "--policy", policy or self.policy, "--reason", "release channel").json

    def waive(self) -> None:
        self("waive", "--to", "stable", "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", "--policy", self.policy)

    def promote(self, source: str, *more, code: int = 0):
        return self("promote", "--from", source, "--to", "stable", *more, code=code)

    def channel(self) -> dict:
        return self("channel", "show", "stable").json

    def versions(self) -> set[str]:
        return {re.search(r"-(\d+\.\d+\.\d+)", file["filename"])[1] for file in self.channel()["files"]}

    def bytes(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.store)): p.read_bytes() for p in self.store.rglob("*") if p.is_file() and ".quarry" not in p.parts}


@pytest.fixture
def line(store, next_packages, tmp_path) -> Line:
    publish(next_packages, store, "2", "--channel", "staging")
    return Line(store, tmp_path)


def test_nothing_is_published_into_a_protected_channel(line, packages, tmp_path):
    done = line.protect()
    assert done["moved"] and done["generation"] == 1
    before = line.bytes()
    words = ("publish", packages, "--store", f"file:{line.store}", "--run-id", "9", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu", "--channel", "stable")
    for more in ((), ("--dry-run",)):
        said = refused("P083", 10, *words, *more).err
        assert "quarry promote --from channel:staging --to stable" in said
    assert line.bytes() == before, "not even a package was stored"
    assert line.channel()["files"] == []


def test_the_channel_brings_its_own_policy(line, report_only_policy):
    line.protect()
    before = line.bytes()
    for other in (report_only_policy, "demo"):
        said = line.promote("run:1", "--policy", other, code=10).err
        assert "O012" in said and "protected by another policy" in said
        assert "O012" in line("gate", "--from", "run:1", "--to", "stable", "--policy", other, code=10).err
        waive = ("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h", "--policy", other)
        assert "O012" in line(*waive, code=10).err
    assert line.bytes() == before
    held = line.promote("run:1", code=10).json
    assert held["held"] and held["gate"]["policy"]["name"] == "own"
    assert line("gate", "--from", "run:1", "--to", "stable", code=10).json["policy"]["name"] == "own"
    line.waive()
    assert line.promote("run:1").json["moved"] and line.versions() == {"7.2.0"}
    last = line("channel", "log", "stable").json["moves"]
    assert [move["action"] for move in last] == ["promote", "protect"]


def test_comments_and_file_names_do_not_make_another_policy(line, tmp_path):
    first = line.protect()
    same = tmp_path / "the-same.toml"
    same.write_text("# why\n" + POLICY.replace('max_age = "14d"', 'max_age = "336h"  # two weeks'))
    again = line.protect(same)
    assert not again["moved"] and again["policy"] == first["policy"]
    stored = json.loads((line.store / f"policies/{first['policy']}.json").read_text())
    assert stored["name"] == "own" and stored["require"][0]["suites"] == ["smoke"]
    stricter = tmp_path / "stricter.toml"
    stricter.write_text(POLICY.replace('"14d"', '"1d"'))
    other = line.protect(stricter)
    assert other["moved"] and other["policy"] != first["policy"] and other["generation"] == 2


def test_a_policy_that_only_reports_protects_nothing(line, report_only_policy):
    refused("O014", 2, "channel", "protect", "stable", "--policy", report_only_policy, "--reason", "x", "--store", f"file:{line.store}")
    assert not (line.store / "channels/stable.json").exists()
    refused("O015", 2, "channel", "protect", "stable", "--policy", "demo", "--reason", " ", "--store", f"file:{line.store}")


def test_what_a_policy_leaves_open_it_says(line, tmp_path):
    silent = tmp_path / "silent.toml"
    silent.write_text("".join(row for row in POLICY.splitlines(keepends=True) if not row.startswith("openly")))
    said = refused("O045", 10, "channel", "protect", "stable", "--policy", silent, "--reason", "x", "--store", f"file:{line.store}").err
    assert "no [expect]" in said and "no definition of smoke" in said and "no [[signer]]" in said and 'openly = ["nothing_expected", "unsigned", "any_command"]' in said
    assert not (line.store / "channels/stable.json").exists()
    line.protect()
    shown = quarry("status", "--store", f"file:{line.store}")
    assert "protected by own (openly nothing_expected, unsigned, any_command)" in shown.out, shown.out + shown.err
    gate = line("gate", "--from", "run:1", "--to", "stable", code=10)
    assert gate.json["policy"]["openly"] == ["nothing_expected", "unsigned", "any_command"] and "policy own (openly" in gate.err
    for name in ("default", "demo"):
        assert good("channel", "protect", "other", "--policy", name, "--reason", "x", "--store", f"file:{line.store}").code == 0


def test_unprotect_is_in_the_ledger(line, packages):
    line.protect()
    done = line("channel", "unprotect", "stable", "--reason", "rehearsal is over").json
    assert done["moved"] and done["policy"] is None
    publish(packages, line.store, "1", "--channel", "stable")
    moves = line("channel", "log", "stable").json["moves"]
    assert [move["action"] for move in moves] == ["publish", "unprotect", "protect"] and moves[1]["why"] == "rehearsal is over"


def test_older_programs_refuse_a_guarded_channel(line):
    """They know version 1 of the record; a move by them would drop the guard."""
    line.promote("run:1", "--policy", line.policy, code=10)
    line.protect()
    assert json.loads((line.store / "channels/stable.json").read_text())["schema"] == "quarry.channel/2"
    line("channel", "unprotect", "stable", "--reason", "over")
    assert json.loads((line.store / "channels/stable.json").read_text())["schema"] == "quarry.channel/1"


def test_what_a_rollback_took_out_stays_out(line, next_packages):
    line.protect()
    line.waive()
    line.promote("run:1")
    line.promote("run:2")
    assert line.versions() == {"7.2.0", "7.2.1"}
    back = line("rollback", "stable", "--reason", "breaks import torch").json
    assert back["blocked"] == 4 and line.versions() == {"7.2.0"}
    # The next scheduled promotion of the same set, by its run and by the channel it came from.
    for source in ("run:2", "channel:staging"):
        assert "R022" in line("gate", "--from", source, "--to", "stable", code=10).err, "it is not ready to move"
        said = line.promote(source, code=10).err
        assert "R022" in said and "breaks import torch" in said and "quarry channel unblock stable" in said
    assert line.versions() == {"7.2.0"}
    # The same bytes in another set.
    publish(next_packages, line.store, "77")
    assert "R022" in line.promote("run:77", code=10).err
    shown = line.channel()
    assert {file["reason"] for file in shown["blocked"]} == {"breaks import torch"} and shown["policy"]
    refused("O013", 3, "channel", "unblock", "stable", "no-such.whl", "--reason", "x", "--store", f"file:{line.store}")
    digest = line("set", "list").json["sets"]
    run_2 = next(s["set"] for s in digest if s["run_id"] == "2")
    freed = line("channel", "unblock", "stable", f"set:{run_2[:12]}", "--reason", "the machine was broken").json
    assert len(freed["unblocked"]) == 4 and freed["blocked"] == []
    assert line.versions() == {"7.2.0"}, "unblocking brings nothing back itself"
    assert line.promote("run:2").json["moved"] and line.versions() == {"7.2.0", "7.2.1"}


def test_a_rerun_of_the_publish_job_does_not_undo_a_rollback(line, next_packages):
    line("rollback", "staging", "--reason", "crashes")
    words = ("publish", next_packages, "--store", f"file:{line.store}", "--run-id", "2", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu", "--channel", "staging")
    assert "crashes" in refused("R022", 10, *words).err


def test_protecting_does_not_confuse_a_rollback(line):
    line("promote", "--from", "run:1", "--to", "stable", "--policy", line.policy, code=10)
    line.waive()
    for source in ("run:1", "run:2"):
        line.promote(source, "--policy", line.policy)
    line.protect()
    line("rollback", "stable", "--reason", "bad")
    assert line.versions() == {"7.2.0"}
    line.protect(line.policy)
    line("channel", "unblock", "stable", "--reason", "x", line.channel()["blocked"][0]["filename"])
    said = quarry("rollback", "stable", "--store", f"file:{line.store}").err
    assert "O007" in said, "the last change of what is shown was a rollback"
    (rolled_back,) = [move["generation"] for move in line("channel", "log", "stable").json["moves"] if move["action"] == "rollback"]
    assert f"to stable@{rolled_back}\n" in said, said
    # A view that is named on purpose may come back.
    shown = line("rollback", "stable", "--to", "2", "--reason", "it was not that").json
    assert shown["unblocked"] == 3 and line.versions() == {"7.2.0", "7.2.1"} and line.channel()["blocked"] == []


def test_an_executed_plan_answers_only_its_own_request(line, tmp_path):
    line.waive()
    reviewed = tmp_path / "reviewed"
    plan = line.promote("run:1", "--policy", line.policy, "--to-store", f"file:{reviewed}", "--prefix", "reviewed", "--dry-run").json["plan"]
    done = line.promote("run:1", "--policy", line.policy, "--to-store", f"file:{reviewed}", "--prefix", "reviewed", "--execute", plan)
    assert done.json["moved"]
    again = line.promote("run:1", "--policy", line.policy, "--to-store", f"file:{reviewed}", "--prefix", "reviewed", "--execute", plan)
    assert not again.json["moved"]
    for other in (("--to-store", f"file:{tmp_path / 'other'}", "--prefix", "elsewhere"), ()):
        assert "O002" in line.promote("run:1", "--policy", line.policy, *other, "--execute", plan, code=7).err
    assert not (tmp_path / "other").exists() or not list((tmp_path / "other").rglob("*.whl"))
    # The digest of a publish is in the ledger, too.
    published = line("channel", "log", "staging").json["moves"][0]["plan"]
    assert "O002" in line("promote", "--from", "run:2", "--to", "staging", "--policy", line.policy, "--execute", published, code=7).err
    good("index", "check", f"file:{line.store}/channels/stable")


def test_a_distribution_is_judged_by_what_it_lacks(line, packages, next_packages, tmp_path):
    """Untested sets in the channel do not reach the store that people install from."""
    publish(packages, line.store, "1", "--channel", "stable")
    dist = tmp_path / "dist"
    words = ("--policy", line.policy, "--to-store", f"file:{dist}", "--prefix", "v2/{family}")
    for more in (("--dry-run",), ()):
        said = line.promote("channel:stable", *words, *more, code=10).err
        assert "O017" in said and "no evidence of smoke" in said
    assert not list(dist.rglob("*.whl"))
    line.waive()
    done = line.promote("channel:stable", *words).json
    assert not done["moved"] and len(done["distribution"]["sets"]) == 1
    assert len(list(dist.rglob("*.whl"))) == 3
    assert len(list((line.store / "verdicts").glob("*.json"))) == 1, "what let the copy in can be read later"
    # What is there already is not judged again: the copy can be completed when evidence is old.
    for record in (line.store / "waivers").glob("*.json"):
        record.unlink()
    assert line.promote("channel:stable", *words).json["distribution"]["writes"] == 0


def test_a_rollback_does_not_bring_back_what_was_never_judged(line, packages, next_packages):
    publish(packages, line.store, "1", "--channel", "stable")
    publish(next_packages, line.store, "2", "--channel", "stable")
    line("rollback", "stable", "--reason", "untested")
    words = ("channel", "protect", "stable", "--policy", line.policy, "--reason", "release channel")
    said = line(*words, code=10).err
    assert "O061" in said and "--trust-shown" in said and "rocm-7.2.0.tar.gz  sha256" in said and line.channel()["policy"] is None
    names = [file["filename"] for file in line.channel()["files"]]
    assert "O061" in line(*words, "--trust", names[0], code=10).err
    assert "O024" in line(*words, "--trust", "set:" + line.channel()["sets"][0], "--trust", "typo.whl", code=3).err
    line(*words, "--trust", "set:" + line.channel()["sets"][0])
    assert "O018" in line("rollback", "stable", "--to", "2", "--reason", "hurry", code=10).err
    assert line.versions() == {"7.2.0"}
    line("channel", "unblock", "stable", "--reason", "to be tested", *(file["filename"] for file in line.channel()["blocked"]))
    line.waive()
    line.promote("run:2")
    line("rollback", "stable", "--reason", "still bad")
    # Let in by a verdict once, it may come back in a hurry; so may what the channel showed when it was protected.
    done = line("rollback", "stable", "--to", "6", "--reason", "it was not that").json
    assert done["unblocked"] == 4 and line.versions() == {"7.2.0", "7.2.1"}
    line("rollback", "stable", "--to", "4", "--reason", "back")
    assert line.versions() == {"7.2.0"}


def test_a_family_that_nobody_built_is_missed(line, tmp_path):
    expecting = tmp_path / "expecting.toml"
    expecting.write_text(POLICY.replace('"nothing_expected", ', "").replace("[[require]]", '[expect]\nplatforms = ["linux"]\nfamilies = ["gfx103X-dgpu", "gfx1151"]\n[[require]]', 1))
    line.protect(expecting)
    run_1 = next(s["set"] for s in line("set", "list").json["sets"] if s["run_id"] == "1")
    line("waive", "--to", "stable", "--set", f"set:{run_1}", "--reason", "x", "--approver", "lead", "--expires", "1h")
    held = line.promote("run:1", code=10)
    missing = [cell for cell in held.json["gate"]["cells"] if not cell["set"]]
    assert [cell["cell"]["family"] for cell in missing] == ["gfx1151"] and "which no set brings" in missing[0]["reasons"][0]
    said = quarry("gate", "--from", "run:1", "--to", "stable", "--store", f"file:{line.store}").out
    assert "expected, and not there" in said and "--family gfx1151" in said
    line("waive", "--to", "stable", "--family", "gfx1151", "--platform", "linux", "--any-set", "--reason", "no builder", "--approver", "lead", "--expires", "1h")
    assert line.promote("run:1").json["moved"]


def test_a_set_in_the_middle_is_taken_out(line, next_packages, packages):
    """What came after it stays, and it does not come back by itself."""
    sets = {one["run_id"]: one["set"] for one in line("set", "list").json["sets"]}
    before = line.bytes()
    words = ("yank", f"set:{sets['1']}", "--channel", "staging", "--reason", "wrong compiler")
    planned = line(*words, "--dry-run").json
    assert line.bytes() == before and len(planned["blocked"]) == 4
    assert {file["reason"] for file in planned["blocked"]} == {"wrong compiler"}
    done = line(*words).json
    assert done["generation"] == planned["generation"] == 3 and done["view"] == planned["view"]
    shown = line("channel", "show", "staging").json
    assert {re.search(r"-(\d+\.\d+\.\d+)", file["filename"])[1] for file in shown["files"]} == {"7.2.1"}
    assert shown["sets"] == [sets["2"]] and {file["reason"] for file in shown["blocked"]} == {"wrong compiler"}
    simple = (line.store / "channels/staging/simple/rocm/index.html").read_text()
    assert "7.2.1" in simple and "7.2.0" not in simple
    words_again = ("publish", packages, "--store", f"file:{line.store}", "--run-id", "9", "--platform", "linux", "--artifact-group", "gfx103X-dgpu", "--channel", "staging")
    assert "wrong compiler" in refused("R022", 10, *words_again).err
    again = line(*words).json
    assert (again["moved"], again["generation"], again["blocked"]) == (False, 3, []), "it is out already"
    assert line("channel", "log", "staging").json["moves"][0]["action"] == "yank"
    assert line("index", "repair", "channel:staging").json["writes"] == 0


def test_one_file_is_taken_out_of_every_set(line):
    name = next(file["filename"] for file in line("channel", "show", "staging").json["files"] if "sdk_devel-7.2.1" in file["filename"])
    line("yank", name, "--channel", "staging", "--reason", "broken links")
    shown = line("channel", "show", "staging").json
    assert len(shown["files"]) == 7 and name not in {file["filename"] for file in shown["files"]}
    # The view follows from its sets: what stays of the set is a set of its own.
    assert line("index", "rebuild", "channel:staging").json["records_written"] == 0
    part = next(one for one in (line("set", "show", f"set:{digest}").json for digest in shown["sets"]) if any("7.2.1" in file["filename"] for file in one["files"]))
    assert name not in {file["filename"] for file in part["files"]}
    line.protect()
    line.waive()
    said = line.promote("run:2")
    assert line.versions() == {"7.2.1"}, "another channel blocks nothing"
    assert said.json["moved"]
    line("rollback", "staging", "--reason", "they were fine")
    assert len(line("channel", "show", "staging").json["files"]) == 8
    refused("O015", 2, "yank", name, "--channel", "staging", "--reason", " ", "--store", f"file:{line.store}")
    refused("O024", 3, "yank", "nothing.whl", "--channel", "staging", "--reason", "x", "--store", f"file:{line.store}")


def test_what_changed_in_a_channel(line):
    diff = line("channel", "diff", "staging@1", "staging").json
    assert diff["from"]["generation"] == 1 and diff["to"]["generation"] == 2
    assert len(diff["added"]) == 4 and all("7.2.1" in file["filename"] for file in diff["added"])
    assert diff["removed"] == [] and diff["changed"] == []
    back = good("channel", "diff", "staging", "staging@1", "--store", f"file:{line.store}").out
    assert back.count("\n- ") + back.startswith("- ") == 4 and "staging@2 -> staging@1   0 more, 4 less, 0 with other bytes" in back
    for place in ("staging@7", "staging@x", "staging@"):
        refused("O001", 3, "channel", "diff", place, "staging", "--store", f"file:{line.store}")
    refused("R015", 3, "channel", "diff", "stable", "staging", "--store", f"file:{line.store}")


def test_an_organisation_demands_more_of_a_policy(line, tmp_path):
    words = ("channel", "protect", "stable", "--policy", line.policy, "--reason", "x", "--store", f"file:{line.store}")
    for demand in ("expect", "evidence-signers", "waiver-signers"):
        said = refused("O030", 10, *words, "--demand", demand).err
        assert "nothing was changed" in said
    assert line("channel", "list").json["channels"][0]["name"] == "staging", "stable was not made"
    key = good("key", "create", "--output", tmp_path / "ci.key", "--json").json["key"]
    signer = '[[signer]]\nname = "ci"\nkey = "{}"\nsigns = ["evidence", "waivers"]\n'.format(key)
    expect = '[expect]\nplatforms = ["linux"]\nprojects = ["rocm"]\n'
    line.policy.write_text(smoke_policy(more=expect + signer))
    assert "families in [expect]" in refused("O030", 10, *words, "--demand", "expect").err
    expect += 'families = ["gfx1151"]\n'
    line.policy.write_text(smoke_policy(more=expect + signer + 'revoked = "leaked"\n'))
    refused("O030", 10, *words, "--demand", "expect", "--demand", "evidence-signers")
    line.policy.write_text(smoke_policy(more=expect + signer))
    good(*words, "--demand", "expect", "--demand", "evidence-signers", "--demand", "waiver-signers")


def test_evidence_that_a_verdict_was_made_with_must_not_disappear(line):
    line("waive", "--to", "stable", "--everything", "--reason", "first", "--approver", "lead", "--expires", "1h", "--policy", line.policy)
    line.promote("run:1", "--policy", line.policy)
    assert line("status", "stable", "--policy", line.policy).json["channels"][0]["disappeared"] == []
    line("rollback", "stable", code=3)
    (waiver,) = (line.store / "waivers").glob("*.json")
    line.waive()  # another one, so that the sets would be ready without the first
    kept = waiver.read_bytes()
    waiver.unlink()
    (gone,) = line("status", "stable", "--policy", line.policy).json["channels"][0]["disappeared"]
    assert gone["key"] == f"waivers/{waiver.name}"
    assert f"GONE      waivers/{waiver.name}" in good("status", "stable", "--policy", line.policy, "--store", f"file:{line.store}").out
    # The same sets for another channel; another set is judged as ever.
    good("channel", "protect", "lts", "--policy", line.policy, "--reason", "x", "--store", f"file:{line.store}")
    junk = line.store / "evidence" / ("0" * 64 + ".json")
    junk.parent.mkdir(exist_ok=True)
    junk.write_text("junk")
    marks = line.store / "evidence/attempts" / next(s["set"] for s in line("set", "list").json["sets"] if s["run_id"] == "2")
    marks.mkdir(parents=True)
    (marks / ("0" * 64)).write_text("")
    assert [note["code"] for note in line("status", "lts", "--from", "run:2").json["notes"]] == ["R021"], "told once"
    junk.unlink()
    said = refused("O029", 10, "status", "lts", "--from", "run:1", "--store", f"file:{line.store}").err
    assert waiver.name in said
    copy = ("promote", "--from", "run:1", "--to", "stable", "--to-store", f"file:{line.store.parent / 'copy'}", "--prefix", "v2/{family}", "--policy", line.policy)
    assert waiver.name in refused("O029", 10, *copy, "--store", f"file:{line.store}").err, "nothing is new to the channel, and the copy lacks all"
    before = line.bytes()
    for words in (("gate", "--from", "run:1", "--to", "lts"), ("promote", "--from", "run:1", "--to", "lts"), ("promote", "--from", "run:1", "--to", "lts", "--cells", "ready")):
        said = refused("O029", 10, *words, "--policy", line.policy, "--store", f"file:{line.store}").err
        assert waiver.name in said
    assert line.bytes() == before
    # Bytes that are no record count for nothing, so to overwrite a record is to remove it.
    waiver.write_bytes(b"{}")
    for words in (("gate", "--from", "run:1", "--to", "lts"), ("promote", "--from", "run:1", "--to", "lts")):
        said = refused("O029", 10, *words, "--policy", line.policy, "--store", f"file:{line.store}").err
        assert waiver.name in said
    (gone,) = line("status", "stable", "--policy", line.policy).json["channels"][0]["disappeared"]
    assert gone["key"] == f"waivers/{waiver.name}"
    line.promote("run:2", "--policy", line.policy)
    waiver.write_bytes(kept)
    assert line("status", "stable", "--policy", line.policy).json["channels"][0]["disappeared"] == []
    line("gate", "--from", "run:1", "--to", "lts", "--policy", line.policy, code=10)


def test_a_channel_is_verified_with_its_pages(line):
    line.waive()
    line.promote("run:1", "--policy", line.policy)
    whole = line("channel", "verify", "stable").json
    assert whole["findings"] == [] and whole["files"] == len(line.channel()["files"]) and whole["pages"] > whole["files"]
    assert line("channel", "verify", "stable", "--deep").json["findings"] == []
    refused("R015", 3, "channel", "verify", "nowhere", "--store", f"file:{line.store}")
    (wheel, *_) = [file for file in line.channel()["files"] if file["filename"].endswith(".whl")]
    path = next(line.store.rglob(wheel["filename"]))
    good_bytes, page = path.read_bytes(), line.store / f"channels/stable/simple/{wheel['project']}/index.html"

    def found(*more) -> list[tuple[str, str]]:
        return [(one["code"], one["place"].rsplit("/", 1)[1]) for one in line("channel", "verify", "stable", *more, code=6).json["findings"]]

    path.chmod(0o644)
    path.write_bytes(good_bytes[:-1] + bytes([good_bytes[-1] ^ 1]))
    assert line("channel", "verify", "stable").json["findings"] == [], "the size is right"
    assert found("--deep") == [("P021", path.name)]
    path.write_bytes(good_bytes[:-1])
    assert found() == [("P021", path.name)]
    path.unlink()
    assert found() == [("P020", path.name)] and found("--deep") == [("P020", path.name)]
    path.write_bytes(good_bytes)
    sidecar = path.with_name(path.name + ".metadata")
    text = sidecar.read_bytes()
    sidecar.unlink()
    assert found() == [("P022", sidecar.name)]
    sidecar.write_bytes(text)
    shown = page.read_text()
    page.chmod(0o644)
    page.write_text(shown.replace(wheel["sha256"], "0" * 64))
    assert found() == [("P094", "index.html")]
    page.unlink()
    assert found() == [("P094", "index.html")]
    line("index", "repair", "channel:stable")
    assert line("channel", "verify", "stable", "--deep").json["findings"] == []
    (line.store / "channels/stable/pages.json").unlink()
    assert found() == [("P094", "pages.json")]
    line("index", "repair", "channel:stable")
    ledger = line.store / f"ledger/{json.loads((line.store / 'channels/stable.json').read_text())['ledger']}.json"
    ledger.unlink()
    assert found() == [("R010", "stable.json")], "with all else, not alone"


@pytest.mark.parametrize("damage", ["lost", "altered"])
def test_protecting_does_not_let_in_what_no_move_shows(line, damage):
    line.protect()
    line.waive()
    line.promote("run:1")
    record = json.loads((line.store / "channels/stable.json").read_text())
    move = line.store / f"ledger/{record['ledger']}.json"
    if damage == "lost":
        move.unlink()
    else:
        move.write_text("{}")
    before = line.bytes()
    said = line("channel", "protect", "stable", "--policy", line.policy, "--reason", "x", code=6).err
    assert "O056" in said and "--trust-shown" in said and "rocm-7.2.0.tar.gz  sha256" in said, said
    assert {key: body for key, body in line.bytes().items() if not key.startswith("policies/")} == {key: body for key, body in before.items() if not key.startswith("policies/")}
    told = line.promote("run:2", code=6).err
    assert "O044" in told and "--trust-shown --sign KEY`" in told, told
    bound = line("channel", "protect", "stable", "--policy", line.policy, "--reason", "they belong there", "--trust-shown").json
    assert bound["moved"] and line.versions() == {"7.2.0"}
    assert "nothing to go back to" in line("rollback", "stable", "--reason", "x", code=3).err
    assert line.promote("run:2").json["moved"]
    # The ledger begins anew: what reads all of it works, and says that the moves before are lost.
    assert [move["action"] for move in line("channel", "log", "stable").json["moves"]] == ["promote", "protect"]
    verified = line("channel", "verify", "stable")
    assert verified.json["findings"] == [] and [note["code"] for note in verified.json["acknowledged"]] == ["O056"]
    line("gc")
    line("channel", "prune", "stable", "--keep", "2", "--reason", "x")
    line("rollback", "stable", "--to", str(bound["generation"]), "--reason", "x")
    assert line.versions() == {"7.2.0"}
