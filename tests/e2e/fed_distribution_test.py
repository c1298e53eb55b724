"""A distribution that a protected channel feeds: what was never judged does not get onto its pages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

from conftest import publish  # noqa: E402

PLACE = "v2/all"


class Fed:
    """Channel stable, protected, with 7.2.0, which was copied to v2/all of another store; 7.2.1 is in staging."""

    def __init__(self, store: Path, place: Path) -> None:
        self.store, self.dist, self.policy = store, place / "dist", place / "own.toml"
        self.policy.write_text(smoke_policy())
        self.words = ("--store", f"file:{store}")
        self.along = ("--to-store", f"file:{self.dist}", "--prefix", PLACE)

    def protect(self, channel: str, policy: Path | None = None, *more: str):
        return good("channel", "protect", channel, "--policy", policy or self.policy, "--reason", "x", *more, *self.words)

    def waive(self, channel: str, policy: Path | None = None):
        good("waive", "--to", channel, "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", "--policy", policy or self.policy, *self.words)

    def copy(self, run: str, channel: str, *more):
        return quarry("promote", "--from", f"run:{run}", "--to", channel, *self.words, *self.along, *more)

    def demand_signatures(self) -> tuple:
        """The flags of whom the policy lets sign moves."""
        file = self.store.parent / "mover.pem"
        public = good("key", "create", "--output", file, "--json").json["key"]
        self.policy.write_text(smoke_policy(more=f'[[signer]]\nname = "mover"\nkey = "{public}"\nsigns = ["moves"]\n'))
        return "--sign", file

    def listed(self) -> set[str]:
        return set(re.findall(r"rocm-(\d+\.\d+\.\d+)\.tar\.gz", (self.dist / PLACE / "rocm/index.html").read_text()))

    def pointer(self) -> dict:
        return json.loads((self.dist / PLACE / "distribution.json").read_text())


@pytest.fixture
def fed(store, next_packages, tmp_path) -> Fed:
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    line.protect("stable")
    line.waive("stable")
    done = line.copy("1", "stable")
    assert done.code == 0, done.err
    return line


def test_an_unprotected_channel_cannot_use_the_directory(fed, report_only_policy):
    before = fed.pointer()
    for more in (("--dry-run",), ()):
        said = fed.copy("2", "nightly", "--policy", report_only_policy, *more)
        assert said.code == 10 and "O055" in said.err, said.out + said.err
        assert "channel stable" in said.err and "quarry channel protect nightly" in said.err and "--prefix" in said.err
    assert fed.pointer() == before and fed.listed() == {"7.2.0"}
    refused("R015", 3, "channel", "show", "nightly", *fed.words)
    pattern = quarry("promote", "--from", "run:2", "--to", "nightly-{family}", "--policy", report_only_policy, *fed.words, *fed.along)
    assert pattern.code == 10 and "O055" in pattern.err and fed.listed() == {"7.2.0"}


def test_another_channel_with_the_same_policy_may_and_one_with_another_may_not(fed, tmp_path):
    weak = tmp_path / "weak.toml"
    weak.write_text(smoke_policy("weak", "other"))
    fed.protect("mine", weak)
    fed.waive("mine", weak)
    said = fed.copy("2", "mine")
    assert said.code == 10 and "O055" in said.err, said.out + said.err
    assert fed.listed() == {"7.2.0"}
    fed.protect("twin")
    fed.waive("twin")
    done = fed.copy("2", "twin")
    assert done.code == 0, done.err
    assert fed.listed() == {"7.2.0", "7.2.1"}
    assert [one["channel"] for one in fed.pointer()["fed_by"]] == ["stable", "twin"]


def test_the_channel_itself_may_get_another_policy_or_be_unprotected(fed, report_only_policy, tmp_path):
    stricter = tmp_path / "stricter.toml"
    stricter.write_text(smoke_policy().replace('"14d"', '"1d"'))
    fed.protect("stable", stricter)
    fed.waive("stable", stricter)
    assert fed.copy("2", "stable").code == 0 and fed.listed() == {"7.2.0", "7.2.1"}
    good("rollback", f"file:{fed.dist}/{PLACE}", "--to", "1")
    assert fed.pointer()["fed_by"], "a rollback does not let others in"
    said = fed.copy("2", "nightly", "--policy", report_only_policy)
    assert said.code == 10 and "O055" in said.err, said.err
    good("rollback", f"file:{fed.dist}/{PLACE}", "--to", "2")
    good("channel", "unprotect", "stable", "--reason", "x", *fed.words)
    done = fed.copy("2", "stable", "--policy", report_only_policy)
    assert done.code == 0 and "fed_by" not in fed.pointer(), done.out + done.err
    assert fed.copy("1", "nightly", "--policy", report_only_policy).code == 0


@pytest.mark.parametrize("signed", [False, True])
def test_what_came_before_the_directory_was_fed_does_not_come_back(store, next_packages, report_only_policy, tmp_path, signed):
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    sign = line.demand_signatures() if signed else ()
    assert line.copy("2", "nightly", "--policy", report_only_policy).code == 0  # nobody has tested it
    good("rollback", place, "--to", "0")
    line.protect("stable", None, *sign)
    line.waive("stable")
    done = line.copy("1", "stable", *sign)
    assert done.code == 0, done.err
    before = line.pointer()
    for more in ((), ("--dry-run",)):
        said = refused("O018", 10, "rollback", place, "--to", "1", "--reason", "oops", *sign, *more).err
        assert "channel stable" in said and "7.2.1" in said, said
    assert line.pointer() == before and line.listed() == {"7.2.0"}
    good("rollback", place, *sign)
    assert not (line.dist / PLACE / "rocm/index.html").exists(), "what leaves needs no verdict"
    good("rollback", place, "--to", "3", *sign)
    assert line.listed() == {"7.2.0"}, "what the channel has brought comes back"


def test_a_directory_takes_only_moves_that_its_channel_would_take(store, next_packages, tmp_path):
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    sign = line.demand_signatures()
    line.protect("stable", None, *sign)
    line.waive("stable")
    for run in ("1", "2"):
        done = line.copy(run, "stable", *sign)
        assert done.code == 0, done.err
    good("rollback", "stable", "--reason", "bad", *line.words, *line.along, *sign)
    assert line.listed() == {"7.2.0"}
    before = line.pointer()
    blocked = before["blocked"][0]["filename"]
    other = good("key", "create", "--output", tmp_path / "other.pem") and ("--sign", tmp_path / "other.pem")
    for words in (("rollback", place, "--to", "2"), ("yank", "rocm-7.2.0.tar.gz", "--channel", place, "--reason", "x"), ("channel", "unblock", place, blocked, "--reason", "x")):
        for key in ((), other):
            assert "--sign KEY" in refused("O041", 10, *words, *key).err
    assert line.pointer() == before and line.listed() == {"7.2.0"}
    assert line.copy("1", "stable", *sign).code == 0, "what is there already needs nothing"
    next_command = re.search(r"next: quarry (.*)", good("rollback", place, "--to", "2", "--dry-run").out)[1]
    assert next_command.endswith("--sign KEY"), next_command
    undo = re.search(r"undo: quarry (.*)$", good("yank", "rocm-7.2.0.tar.gz", "--channel", place, "--reason", "x", *sign).err, re.MULTILINE)[1]
    good(*shlex.split(undo.replace("KEY", str(sign[1]))))
    good("channel", "unblock", place, blocked, "--reason", "good after all", *sign)
    good("rollback", place, "--to", "2", *sign)
    assert line.listed() == {"7.2.0", "7.2.1"}
    view = line.pointer()["view"]
    (envelope,) = (line.dist / "signatures" / view).glob("*.json")
    statement = json.loads(base64.b64decode(json.loads(envelope.read_text())["payload"]))
    assert statement["subject"] == [{"name": f"move/{view}.json", "digest": {"sha256": view}}]


def signer(place: Path, name: str) -> tuple[str, tuple]:
    """The entry of a policy, and the flags of whom it names."""
    file = place / f"{name}.pem"
    public = good("key", "create", "--output", file, "--json").json["key"]
    return f'[[signer]]\nname = "{name}"\nkey = "{public}"\nsigns = ["moves"]\n', ("--sign", file)


def test_moves_of_a_directory_are_verified_as_those_of_its_channel(store, next_packages, tmp_path):
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    first, sign = signer(tmp_path, "first")
    line.policy.write_text(smoke_policy(more=first))
    line.protect("stable", None, *sign)
    line.waive("stable")
    for run in ("1", "2"):
        assert line.copy(run, "stable", *sign).code == 0
    good("rollback", place, *sign)
    verify = ("channel", "verify", place)
    said = good(*verify, "--deep")
    assert re.search(r"signed +3 of 3 moves, the last \(rollback\) by first", said.out), said.out
    refused("C006", 2, "channel", "verify", "stable", *line.words, "--channels", f"file:{store}")
    # Another key: the directory cannot know that it is the channel's, and the channel's store does.
    second, other = signer(tmp_path, "second")
    line.policy.write_text(smoke_policy(more=second))
    line.protect("stable", None, *sign)
    assert "O041" in line.copy("1", "stable").err, "the directory learns a policy by a signed move alone"
    dry = line.copy("1", "stable", "--dry-run")
    assert dry.code == 0 and "warning[O041]" in dry.err, dry.err
    assert "O041" not in line.copy("1", "stable", "--dry-run", *other).err
    assert line.copy("1", "stable", *other).code == 0
    assert "--channels STORE" in refused("O044", 6, *verify).err
    good(*verify, "--channels", f"file:{store}")
    # Somebody who can write to the bucket and has no key.
    shutil.rmtree(line.dist / "signatures" / line.pointer()["view"])
    words = (*verify, "--channels", f"file:{store}")
    assert "promote of v2/all@4 is not signed by" in refused("O044", 6, *words).err
    answer = ("channel", "acknowledge", place, "4", "--reason", "looked at")
    refused("O041", 10, *answer)
    good(*answer, *sign)
    assert "acknowledged at" in good(*words).err


def test_a_directory_learns_of_a_revoked_key_by_the_next_promotion(store, next_packages, tmp_path):
    """Until then the key signs the directory's own moves (docs/formats/distributions.md says who can do what with it); the channel refuses it
    at once, so a promotion does not let anything in with it."""
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    leaked, thief = signer(tmp_path, "leaked")
    kept, sign = signer(tmp_path, "kept")
    line.policy.write_text(smoke_policy(more=leaked + kept))
    line.protect("stable", None, *sign)
    line.waive("stable")
    assert line.copy("1", "stable", *sign).code == 0
    status = ("status", "stable", *line.words, *line.along)
    verify = ("channel", "verify", place, "--channels", f"file:{store}")
    assert "older policy" not in good(*status).out + good(*verify).err
    good("key", "revoke", "leaked", "--channel", "stable", "--reason", "leaked in a log", *line.words, *sign)
    good("yank", "rocm-7.2.0.tar.gz", "--channel", place, "--reason", "x", *thief)
    assert "BEHIND    goes by an older policy of stable" in good(*status).out
    assert good(*status, "--json").json["distributions"][0]["other_policy"] == ["stable"]
    assert "warning[O064]" in good(*verify).err
    assert "O041" in line.copy("2", "stable", *thief).err
    # The revocation bound another policy, by which run 2 is judged.
    good("waive", "--to", "stable", "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", *line.words)
    done = line.copy("2", "stable", *sign)
    assert done.code == 0, done.err
    assert "older policy" not in good(*status).out + good(*verify).err
    assert "O041" in refused("O041", 10, "rollback", place, *thief).err
    assert "O041" in refused("O041", 10, "yank", "rocm-7.2.1.tar.gz", "--channel", place, "--reason", "x", *thief).err
    good("rollback", place, *sign)


def test_status_prints_the_promotion_that_brings_the_newer_policy(fed, tmp_path):
    status = ("status", "stable", *fed.words, *fed.along)
    stricter = tmp_path / "stricter.toml"
    stricter.write_text(smoke_policy().replace('"14d"', '"1d"'))
    fed.protect("stable", stricter)
    fed.waive("stable", stricter)
    said = good(*status)
    assert "older policy of stable" in said.out
    good(*shlex.split(re.search(r"quarry (promote .*)", said.out + said.err)[1]))
    assert "older policy" not in good(*status).out
    # What is found without the channel's record is told, whatever the matter with the record is.
    (fed.store / "channels/stable.json").write_text("{")
    found = refused("O044", 6, "channel", "verify", f"file:{fed.dist}/{PLACE}", "--channels", f"file:{fed.store}").err
    assert "promote of v2/all@2" in found and "R012" not in found


def test_a_pointer_that_was_put_back_and_a_set_that_is_gone_are_found(fed):
    place = f"file:{fed.dist}/{PLACE}"
    pointer = fed.dist / PLACE / "distribution.json"
    older = pointer.read_bytes()
    assert fed.copy("2", "stable").code == 0
    newer = pointer.read_bytes()
    pointer.write_bytes(older)
    assert "older than its pages, which show generation 2" in refused("O044", 6, "channel", "verify", place).err
    pointer.write_bytes(newer)
    good("channel", "verify", place, "--deep")
    (fed.dist / PLACE / "seals" / f"{fed.pointer()['sets'][1]['set']}.json").unlink()
    assert fed.pointer()["sets"][1]["set"] in refused("R010", 6, "channel", "verify", place, "--deep").err


def test_a_yank_names_an_undo_only_if_it_works(store, next_packages, report_only_policy, tmp_path):
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    assert line.copy("2", "nightly", "--policy", report_only_policy).code == 0
    line.protect("stable")
    line.waive("stable")
    assert line.copy("1", "stable").code == 0
    yank = ("yank", "rocm-7.2.1.tar.gz", "--channel", place, "--reason", "x")
    said = good(*yank).err
    assert "undo: quarry" not in said and "cannot be undone by a rollback" in said and "channel stable fed it" in said, said
    undo = re.search(r"undo: quarry (.*)$", good("yank", "rocm-7.2.0.tar.gz", "--channel", place, "--reason", "x").err, re.MULTILINE)[1]
    good(*shlex.split(undo))
    assert line.listed() == {"7.2.0"}


def test_a_rollback_does_not_undo_an_earlier_yank(fed):
    place = f"file:{fed.dist}/{PLACE}"
    assert fed.copy("2", "stable").code == 0
    name = "rocm-7.2.1.tar.gz"
    good("yank", name, "--channel", place, "--reason", "bad")
    good("rollback", "stable", *fed.words, *fed.along)
    assert fed.listed() == {"7.2.0"}
    good("rollback", "stable", "--to", "3", *fed.words, *fed.along)
    assert fed.listed() == {"7.2.0"}, "it left the directory alone"
    assert name in good("channel", "show", "stable", *fed.words).out
    refused("O063", 10, "rollback", place, "--to", "2")
    good("yank", name, "--channel", "stable", "--reason", "bad", *fed.words)
    good("yank", "rocm-7.2.0.tar.gz", "--channel", "stable", "--reason", "bad", *fed.words)
    for more in ((), fed.along):
        assert "took out: bad" in refused("O063", 10, "rollback", "stable", "--to", "3", *fed.words, *more).err
    good("channel", "unblock", "stable", name, "rocm-7.2.0.tar.gz", "--reason", "good after all", *fed.words)
    good("rollback", "stable", "--to", "3", *fed.words)
    assert name in good("channel", "show", "stable", *fed.words).out


def test_a_second_run_of_the_same_promotion_writes_nothing(fed):
    before = {path: path.read_bytes() for path in fed.dist.rglob("*") if path.is_file()}
    assert fed.copy("1", "stable").code == 0
    assert {path: path.read_bytes() for path in fed.dist.rglob("*") if path.is_file()} == before


def test_a_directory_that_was_fed_before_its_channel_was_protected_is_guarded_by_the_next_promotion(store, next_packages, report_only_policy, tmp_path):
    line = Fed(store, tmp_path)
    for channel in ("stable", "nightly"):
        assert line.copy("1", channel, "--policy", report_only_policy).code == 0
    assert "fed_by" not in line.pointer()
    line.protect("stable", None, "--trust-shown")
    assert line.copy("1", "stable").code == 0
    publish(next_packages, store, "2")
    said = line.copy("2", "nightly", "--policy", report_only_policy)
    assert said.code == 10 and "O055" in said.err, said.out + said.err


def test_a_rollback_does_not_bring_back_what_the_directory_does_not_take(store, next_packages, report_only_policy, tmp_path):
    line = Fed(store, tmp_path)
    publish(next_packages, store, "2")
    for run in ("1", "2"):
        assert line.copy(run, "nightly", "--policy", report_only_policy).code == 0
    good("rollback", "nightly", *line.words, *line.along)
    assert line.listed() == {"7.2.0"}
    line.protect("stable")
    line.waive("stable")
    assert line.copy("1", "stable").code == 0
    said = refused("O055", 10, "rollback", "nightly", "--to", "2", *line.words, *line.along).err
    assert "channel stable" in said and line.listed() == {"7.2.0"}
    refused("O055", 10, "rollback", "nightly", "--to", "0", *line.words, *line.along)
    assert line.listed() == {"7.2.0"}, "nor is anything taken out that stable has put there"


def test_a_directory_of_the_distribution_is_not_a_store(fed):
    for root, prefix in ((f"{fed.dist}/{PLACE}", "rocm"), (f"{fed.dist}/{PLACE}/simple", "rocm")):
        said = refused("P041", 2, "promote", "--from", "run:2", "--to", "nightly", "--policy", fed.policy, *fed.words, "--to-store", f"file:{root}", "--prefix", prefix).err
        assert "--prefix" in said
    assert fed.listed() == {"7.2.0"}


def test_a_channel_of_that_name_in_another_store_is_another_one(fed, next_packages, report_only_policy, tmp_path):
    own = tmp_path / "own-store"
    publish(next_packages, own, "2")
    said = quarry("promote", "--from", "run:2", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{own}", *fed.along)
    assert said.code == 10 and "O055" in said.err, said.out + said.err


def test_no_index_is_built_over_the_pages_of_a_store(fed, next_packages, tmp_path):
    before = {path: path.read_bytes() for root in (fed.store, fed.dist) for path in root.rglob("*") if path.is_file()}
    directory = next(fed.store.glob("1-linux/**/seals")).parent
    link = tmp_path / "link"
    link.symlink_to(fed.store / "channels")
    for place in (fed.store / "channels/stable", link / "stable/simple", fed.store / "channels/staging/new/below", fed.dist / PLACE, directory):
        for more in ((), ("--dry-run",)):
            said = refused("I026", 7, "index", "build", next_packages, "--output-dir", place, *more).err
            assert "quarry index repair" in said and "--output-dir" in said
    refused("I026", 7, "index", "build", directory)
    refused("I026", 7, "compat", "indexer", fed.store / "channels/stable/simple")
    refused("I026", 7, "compat", "manage", PLACE, "--store", f"file:{fed.dist}")
    assert {path: path.read_bytes() for root in (fed.store, fed.dist) for path in root.rglob("*") if path.is_file()} == before
    good("index", "build", next_packages, "--output-dir", fed.store.parent / "site")


def foreign(place: Path, version: str) -> None:
    """A package of another tool, with the page that links to it."""
    (place / "numpy").mkdir(parents=True, exist_ok=True)
    wheel = distributions.wheel(place, "numpy", "2.0", requires=(f"other>={version}",))
    (place / "numpy/index.html").write_text(f'<html><body><a href="../{wheel.name}">{wheel.name}</a></body></html>')


@pytest.mark.parametrize("more", [(), ("--seal",)], ids=["history", "sealed"])
def test_whoever_may_write_to_the_bucket_may_not_take_packages_over(store, tmp_path, more):
    line = Fed(store, tmp_path)
    place = f"file:{line.dist}/{PLACE}"
    adopt = ("set", "adopt", place, "--store", f"file:{line.dist}")
    foreign(line.dist / PLACE, "1")
    key = good("key", "create", "--output", tmp_path / "early.pem") and ("--sign", tmp_path / "early.pem")
    refused("C006", 2, *adopt, *more, *key)
    shutil.rmtree(line.dist)
    sign = line.demand_signatures()
    line.protect("stable", None, *sign)
    line.waive("stable")
    assert line.copy("1", "stable", *sign).code == 0
    foreign(line.dist / PLACE, "1")
    for words in (more, (*more, "--dry-run"), (*more, *key)):
        assert "--sign KEY" in refused("O041", 10, *adopt, *words).err
    assert "numpy" not in (line.dist / PLACE / "simple/index.html").read_text()
    good(*adopt, *more, "--reason", "we need it", *sign)
    assert "numpy" in (line.dist / PLACE / "simple/index.html").read_text()
    assert list((line.dist / "signatures" / line.pointer()["view"]).glob("*.json")), "the move is signed"


def put_record(directory: Path) -> str:
    """Somebody without a key lists a package; returns the digest of the record."""
    file = {"filename": "evil-1.tar.gz", "project": "evil", "version": "1", "size": 1, "key": f"{PLACE}/evil-1.tar.gz"}
    record = {"schema": "quarry.history/1", "directory": PLACE, "files": [file], "time": "2026-01-01T00:00:00Z", "who": "lead"}
    text = json.dumps(record, separators=(",", ":"))
    name = hashlib.sha256(text.encode()).hexdigest()
    (directory / PLACE / "history").mkdir(parents=True, exist_ok=True)
    (directory / PLACE / f"history/{name}.json").write_text(text)
    return name


def test_a_record_that_somebody_put_there_is_not_signed_unseen(store, tmp_path):
    line = Fed(store, tmp_path)
    sign = line.demand_signatures()
    line.protect("stable", None, *sign)
    line.waive("stable")
    assert line.copy("1", "stable", *sign).code == 0
    adopt = ("set", "adopt", f"file:{line.dist}/{PLACE}", "--store", f"file:{line.dist}")
    foreign(line.dist / PLACE, "1")
    record, before = put_record(line.dist), line.pointer()
    for more in ((), ("--dry-run",), ("--seal",)):
        said = refused("P127", 10, *adopt, *more, *sign)
        assert record in said.err and "evil-1.tar.gz" in said.out and "by lead" in said.out
    refused("P127", 3, *adopt, "--complete", "0" * 64, *sign)
    assert line.pointer() == before
    good(*adopt, "--complete", record, *sign)
    assert line.pointer()["generation"] == before["generation"] + 2
    good(*adopt, *sign)


@pytest.mark.parametrize("channel", ["stable", "stable-{family}"])
def test_a_plan_names_what_it_takes_over_of_other_tools(store, report_only_policy, tmp_path, channel):
    line = Fed(store, tmp_path)
    foreign(line.dist / PLACE, "1")
    words = ("--policy", report_only_policy)
    plan = line.copy("1", channel, *words, "--dry-run", "--json").json["plan"]
    assert line.copy("1", channel, *words, "--dry-run", "--json").json["plan"] == plan
    foreign(line.dist / PLACE, "2")
    said = line.copy("1", channel, *words, "--execute", plan)
    assert said.code == 7 and "O002" in said.err, said.out + said.err
    assert not (line.dist / PLACE / "distribution.json").exists() and good("channel", "list", *line.words, "--json").json["channels"][0]["name"] == "staging"
    anew = line.copy("1", channel, *words, "--dry-run", "--json").json["plan"]
    assert anew != plan
    for _ in range(2):
        done = line.copy("1", channel, *words, "--execute", anew)
        assert done.code == 0, done.out + done.err
    assert "numpy" in (line.dist / PLACE / "simple/index.html").read_text()


def test_what_another_tool_puts_beside_judged_packages_is_left_out(fed):
    foreign(fed.dist / PLACE, "1")
    fed.protect("twin")
    fed.waive("twin")
    said = fed.copy("2", "twin")
    assert said.code == 0 and "warning[P124]" in said.err and "numpy-2.0" in said.err, said.out + said.err
    command = re.search(r"`quarry (set adopt [^`]*)`", said.err)[1]
    assert fed.listed() == {"7.2.0", "7.2.1"} and "numpy" not in (fed.dist / PLACE / "simple/index.html").read_text()
    good(*shlex.split(command))
    assert "numpy" in (fed.dist / PLACE / "simple/index.html").read_text(), "somebody answers for it"
    shown = good("channel", "show", f"file:{fed.dist}/{PLACE}").out
    assert "0000000" not in shown and re.search(r" -  +numpy-2.0", shown), shown
    assert [one["sha256"] for one in good("channel", "show", f"file:{fed.dist}/{PLACE}", "--json").json["files"] if one["project"] == "numpy"] == [None]
    assert "P124" not in fed.copy("2", "twin").err


def test_a_lost_pointer_is_found_before_the_channel_moves(fed):
    (fed.dist / PLACE / "distribution.json").rename(fed.dist / "kept.json")
    fed.waive("stable-gfx103x-dgpu")
    for channel in ("stable", "stable-{family}"):
        for more in (("--dry-run",), ()):
            said = fed.copy("2", channel, "--policy", fed.policy, *more)
            assert said.code == 6 and "R010" in said.err and "distribution.json" in said.err, said.out + said.err
    assert good("channel", "show", "stable", *fed.words, "--json").json["generation"] == 2, "protected, then promoted to"
    assert {one["name"] for one in good("channel", "list", *fed.words, "--json").json["channels"]} == {"staging", "stable"}
    (fed.dist / "kept.json").rename(fed.dist / PLACE / "distribution.json")
    assert fed.copy("2", "stable").code == 0 and fed.listed() == {"7.2.0", "7.2.1"}


def test_pages_that_people_install_from_say_what_was_waived(fed):
    channel = (fed.store / "channels/stable/simple/rocm/index.html").read_text()
    (waived,) = re.findall(r"<p>(Not tested: lead waived [^<]*)</p>", channel)
    (unsigned,) = re.findall(r"<p>(Unsigned: [^<]*)</p>", channel)

    def said(page: str) -> list[str]:
        return [sentence for sentence in (waived, unsigned) if (fed.dist / PLACE / page).read_text().count(f"<p>{sentence}</p>") == 1]

    pages = ("index.html", "rocm/index.html", "simple/rocm/index.html", "rocm-sdk-core/index.html")
    assert all(said(page) == [waived, unsigned] for page in pages), [said(page) for page in pages]
    assert fed.copy("2", "stable").code == 0
    good("rollback", "stable", *fed.words, "--to-store", f"file:{fed.dist}", "--prefix", PLACE, "--to", "0")
    assert not (fed.dist / PLACE / "rocm/index.html").exists() and said("index.html") == []
    good("rollback", "stable", *fed.words, "--to-store", f"file:{fed.dist}", "--prefix", PLACE, "--to", "2")
    assert [said(page) for page in pages] == [[waived, unsigned]] * len(pages), "what comes back is as untested as before"
    good("index", "repair", f"file:{fed.dist}/{PLACE}")
    assert said("index.html") == [waived, unsigned]
