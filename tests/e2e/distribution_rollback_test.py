"""A distribution goes back: with its channel, by its name, and after a kill in between."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import good, quarry, refused  # noqa: E402

from conftest import publish  # noqa: E402

FAMILY = "v2/gfx103X-dgpu"


class Fed:
    """Channel stable with 7.2.0 and 7.2.1, both copied to v2/gfx94X-dcgpu of another store."""

    def __init__(self, store: Path, dist: Path, policy) -> None:
        self.dist, self.store = dist, store
        self.words = ("--store", f"file:{store}")
        self.along = ("--to-store", f"file:{dist}")
        self.copy = lambda run: quarry("promote", "--from", f"run:{run}", "--to", "stable", "--policy", policy, *self.words, *self.along, "--json")
        for run in ("1", "2"):
            done = self.copy(run)
            assert done.code == 0, done.err

    def rollback(self, *more: str, code: int = 0):
        done = quarry("rollback", "stable", "--reason", "it breaks", *self.words, *self.along, *more, "--json")
        assert done.code == code, done.out + done.err
        return done

    def listed(self) -> set[str]:
        return set(re.findall(r"rocm-(\d+\.\d+\.\d+)\.tar\.gz", (self.dist / FAMILY / "rocm/index.html").read_text()))

    def shown(self) -> set[str]:
        files = good("channel", "show", "stable", *self.words, "--json").json["files"]
        return {re.search(r"-(\d+\.\d+\.\d+)", file["filename"])[1] for file in files}


@pytest.fixture
def fed(store, next_packages, report_only_policy, tmp_path) -> Fed:
    publish(next_packages, store, "2")
    return Fed(store, tmp_path / "dist", report_only_policy)


def test_one_command_takes_a_release_out_of_the_channel_and_of_what_people_install_from(fed):
    assert fed.listed() == {"7.2.0", "7.2.1"}
    plan = fed.rollback("--dry-run").json
    assert fed.listed() == {"7.2.0", "7.2.1"} and plan["distributions"][0]["sets_left"] == 1
    refused("O002", 7, "rollback", "stable", "--execute", plan["plan"], *fed.words)  # without the distribution
    done = fed.rollback("--execute", plan["plan"]).json
    assert done["distributions"][0]["moved"] and done["distributions"][0]["directory"] == FAMILY
    assert fed.shown() == fed.listed() == {"7.2.0"}
    assert list((fed.dist / FAMILY).glob("rocm-7.2.1*")), "no file is removed"
    good("index", "check", str(fed.dist / FAMILY))
    again = fed.copy("2")
    assert again.code == 10 and "R022" in again.err, "it stays out of both"
    assert "O007" in fed.rollback(code=7).err


def test_a_channel_that_moved_alone_is_followed_by_the_same_command(fed):
    (fed.dist / FAMILY / "views").chmod(0o500)
    if os.access(fed.dist / FAMILY / "views", os.W_OK):
        good("rollback", "stable", *fed.words)  # as root nothing is refused: the channel moves alone
    else:
        said = fed.rollback(code=7).err
        assert "O040" in said and FAMILY in said
    (fed.dist / FAMILY / "views").chmod(0o700)
    assert fed.shown() == {"7.2.0"} and fed.listed() == {"7.2.0", "7.2.1"}
    done = fed.rollback().json
    assert not done["moved"] and done["distributions"][0]["moved"]
    assert fed.shown() == fed.listed() == {"7.2.0"}


def test_a_distribution_goes_back_by_its_name(fed):
    place = f"file:{fed.dist}/{FAMILY}"
    dry = good("rollback", place, "--dry-run").out
    command = re.search(r"next: quarry (.*)", dry)[1].split()
    good(*command)
    assert fed.listed() == {"7.2.0"} and fed.shown() == {"7.2.0", "7.2.1"}, "the channel stays"
    moves = good("channel", "log", place, "--json").json["moves"]
    assert [(m["generation"], m["action"], m["sets"]) for m in moves] == [(3, "rollback", 1), (2, "promote", 2), (1, "promote", 1)]
    refused("O007", 7, "rollback", place)
    again = fed.copy("2")
    assert again.code == 10 and "R022" in again.err and f"quarry channel unblock {place}" in again.err
    blocked = json.loads((fed.dist / FAMILY / "distribution.json").read_text())["blocked"]
    good("channel", "unblock", place, *(file["filename"] for file in blocked), "--reason", "the machine was broken")
    assert fed.copy("2").code == 0 and fed.listed() == {"7.2.0", "7.2.1"}
    good("rollback", place, "--to", "1")
    assert fed.listed() == {"7.2.0"}
    named = re.findall(r"set:[0-9a-f]+", fed.copy("2").err)[0]  # as the refusal names it
    let = good("channel", "unblock", place, named, "--reason", "good after all", "--json").json
    assert {file["filename"] for file in let["unblocked"]} == {file["filename"] for file in blocked}
    assert fed.copy("2").code == 0 and fed.listed() == {"7.2.0", "7.2.1"}
    refused("O013", 3, "channel", "unblock", place, named, "--reason", "again")
    good("rollback", place, "--to", "1")
    refused("P120", 3, "rollback", f"file:{fed.dist}/v2/none")
    refused("O001", 3, "rollback", place, "--to", "99")


def test_a_distribution_is_shown_as_a_channel_is(fed):
    place = f"file:{fed.dist}/{FAMILY}"
    pointer = json.loads((fed.dist / FAMILY / "distribution.json").read_text())
    shown = good("channel", "show", place, "--json").json
    assert shown["schema"] == "quarry.channel-show/1" and shown["name"] == FAMILY and shown["generation"] == shown["pages_generation"] == 2
    assert shown["view"] == pointer["view"] and len(shown["sets"]) == 2 and shown["blocked"] == []
    assert {file["filename"] for file in shown["files"]} == {file["filename"] for file in good("channel", "show", "stable", *fed.words, "--json").json["files"]}
    assert [move["generation"] for move in shown["moves"]] == [2, 1] and shown["previous"] and shown["index_url"].endswith(f"{FAMILY}/simple/")
    good("rollback", place, "--reason", "it breaks")
    text = good("channel", "show", place).out
    assert text.startswith(f"{FAMILY}@3   ") and "blocked     " in text and "rollback" in text and ": it breaks" in text and "7.2.1" in text
    assert "7.2.0" in good("channel", "show", FAMILY, "--store", f"file:{fed.dist}").out, "by its key in the store, too"
    refused("P120", 3, "channel", "show", f"file:{fed.dist}/v2/none")
    refused("C004", 2, "channel", "show", "stable")


def test_a_yank_reaches_a_distribution_by_its_name(fed):
    place = f"file:{fed.dist}/{FAMILY}"
    names = [file["filename"] for file in good("channel", "show", "stable", *fed.words, "--json").json["files"] if "7.2.1" in file["filename"]]
    said = good("yank", *names, "--channel", "stable", "--reason", "wrong compiler", *fed.words).err
    assert fed.shown() == {"7.2.0"} and fed.listed() == {"7.2.0", "7.2.1"}
    (command,) = re.findall(r"still listed there; .*: quarry (yank .*)$", said, re.MULTILINE)
    words = [place if word == "s3://BUCKET/DIRECTORY" else word for word in shlex.split(command)]
    assert words != shlex.split(command), "the address is the only thing to fill in"
    assert "would yank" in good(*words, "--dry-run").out and fed.listed() == {"7.2.0", "7.2.1"}
    undo = re.search(r"^undo: quarry (.*)$", good(*words).err, re.MULTILINE)[1]
    assert fed.listed() == {"7.2.0"} and list((fed.dist / FAMILY).glob("rocm-7.2.1*")), "no file is removed"
    good("index", "check", str(fed.dist / FAMILY))
    again = good(*words).out
    assert "nothing to do" in again and "what a rollback took out, `rollback --to` may bring back" in again
    (move, *_) = good("channel", "log", place, "--json").json["moves"]
    assert (move["action"], move["why"]) == ("yank", "wrong compiler")
    good(*shlex.split(undo))
    assert fed.listed() == {"7.2.0", "7.2.1"}
    refused("O024", 3, "yank", "none.whl", "--channel", place, "--reason", "x")
    good("key", "create", "--output", fed.store.parent / "key.pem")
    refused("C006", 2, *words, "--sign", fed.store.parent / "key.pem")
    refused("P120", 3, "yank", names[0], "--channel", f"file:{fed.dist}/v2/none", "--reason", "x")
    refused("C004", 2, "yank", names[0], "--channel", "stable", "--reason", "x")


def test_a_rollback_takes_along_what_a_yank_left_of_a_copy(fed):
    place = f"file:{fed.dist}/{FAMILY}"
    good("yank", "rocm-7.2.1.tar.gz", "--channel", place, "--reason", "wrong compiler")
    assert fed.listed() == {"7.2.0"} and "7.2.1" in (fed.dist / FAMILY / "index.html").read_text()
    fed.rollback()
    assert "7.2.1" not in (fed.dist / FAMILY / "index.html").read_text()


def test_a_pointer_of_the_first_format_is_generation_1(fed, next_packages):
    pointer = fed.dist / FAMILY / "distribution.json"
    now = json.loads(pointer.read_text())
    old = {"directory": FAMILY, "schema": "quarry.distribution/1", "sets": now["sets"]}
    import hashlib

    digest = hashlib.sha256(json.dumps(old, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    pointer.write_text(json.dumps({**old, "digest": digest}, sort_keys=True, separators=(",", ":")))
    for record in (fed.dist / FAMILY / "views").iterdir():
        record.unlink()
    refused("O001", 3, "rollback", f"file:{fed.dist}/{FAMILY}")
    fed.rollback()
    assert fed.listed() == {"7.2.0"}
    good("rollback", f"file:{fed.dist}/{FAMILY}", "--to", "1")
    assert fed.listed() == {"7.2.0", "7.2.1"}, "its state was recorded by the first move"
