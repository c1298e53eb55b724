"""`status --to-store`: a row for each distribution, and what is wrong with it: behind its channel, a copy of something else, lost."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402
from support.small_artifacts import FAMILY  # noqa: E402

from conftest import publish  # noqa: E402

DIRECTORY = f"v2/{FAMILY}"


class Fed:
    """Channel stable with 7.2.0, which was copied to v2/{family} of another store; 7.2.1 is published."""

    def __init__(self, store: Path, place: Path) -> None:
        self.store, self.dist, self.policy = store, place / "dist", place / "own.toml"
        self.policy.write_text(smoke_policy())
        self.words = ("--store", f"file:{store}", "--policy", self.policy)
        self.along = ("--to-store", f"file:{self.dist}")
        good("waive", "--to", "stable", "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", *self.words)

    def status(self, *words, code: int = 0):
        done = quarry("status", *words, *self.words, *self.along, "--json")
        assert done.code == code, done.out + done.err
        return done.json["distributions"]

    def said(self, code: int = 0) -> tuple[str, list[str]]:
        done = quarry("status", *self.words, *self.along)
        assert done.code == code, done.out + done.err
        return done.out, re.findall(r"^next: quarry (.*)$", done.err, re.MULTILINE)


@pytest.fixture
def fed(store, next_packages, tmp_path) -> Fed:
    publish(next_packages, store, "2")
    line = Fed(store, tmp_path)
    good("promote", "--from", "run:1", "--to", "stable", *line.words, *line.along)
    return line


def set_of(fed: Fed, run: str) -> str:
    return good("set", "show", f"run:{run}", "--store", f"file:{fed.store}", "--json").json["sets"][0]["set"]


def test_a_distribution_that_shows_what_its_channel_gives(fed):
    (row,) = fed.status()
    assert row | {"directory": DIRECTORY, "generation": 1, "channels": ["stable"], "sets": 1, "lacks": [], "strays": [], "lost": None, "pages_current": True} == row
    assert fed.status("stable") == [row]
    text, following = fed.said()
    assert f"/{DIRECTORY}@1   1 set, fed by stable\n" in text and not re.search("BEHIND|STRAY|LOST", text)
    assert following == []
    without = quarry("status", *fed.words, "--json")
    assert without.code == 0 and without.json["distributions"] == []


def test_one_that_is_behind_its_channel_is_completed_by_what_status_prints(fed):
    good("promote", "--from", "run:2", "--to", "stable", *fed.words)
    (row,) = fed.status()
    assert row["lacks"] == [set_of(fed, "2")] and row["strays"] == []
    text, (pasted,) = fed.said()
    assert f"  BEHIND    lacks 1 set that its channels show: set:{set_of(fed, '2')[:12]}" in text
    good(*shlex.split(pasted))
    (row,) = fed.status()
    assert row["lacks"] == [] and row["sets"] == 2


def test_a_set_that_the_distribution_blocks_is_not_to_be_promoted(fed):
    good("promote", "--from", "run:2", "--to", "stable", *fed.words, *fed.along)
    good("rollback", fed.dist / DIRECTORY, "--reason", "it breaks")
    (row,) = fed.status()
    assert row["lacks"] == row["blocked"] == [set_of(fed, "2")]
    text, following = fed.said()
    assert f"  BLOCKED   a file of set:{set_of(fed, '2')[:12]} is blocked there, so it is not copied (R022)" in text
    assert not any(line.startswith("promote") for line in following)


def test_a_rollback_of_the_channel_alone_leaves_a_stray(fed):
    good("promote", "--from", "run:2", "--to", "stable", *fed.words, *fed.along)
    good("rollback", "stable", "--store", f"file:{fed.store}")
    (row,) = fed.status()
    assert row["strays"] == [set_of(fed, "2")]
    text, (pasted,) = fed.said()
    assert "  STRAY     shows 1 set that its channels do not show" in text and pasted.startswith("rollback stable ")
    good(*shlex.split(pasted))
    assert fed.status()[0]["strays"] == []


def test_a_channel_that_shows_nothing_any_more_is_still_compared(fed):
    """Nothing that it shows says where its packages lie; what the rollback took out does."""
    good("rollback", "stable", "--to", "0", "--store", f"file:{fed.store}")
    (row,) = fed.status()
    assert row["channels"] == ["stable"] and row["strays"] == [set_of(fed, "1")]


def test_what_came_from_elsewhere_is_a_stray(fed):
    good("waive", "--to", "nightly", "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", *fed.words)
    good("promote", "--from", "run:2", "--to", "nightly", *fed.words, *fed.along, "--prefix", DIRECTORY)
    (row,) = fed.status()
    assert row["strays"] == [set_of(fed, "2")], "no rule says that nightly feeds it"
    text, (pasted,) = fed.said()
    assert pasted.startswith(f"yank set:{set_of(fed, '2')[:12]} --channel ") and DIRECTORY in pasted
    good(*shlex.split(pasted))
    assert fed.status()[0]["strays"] == []
    assert fed.status("stable")[0]["strays"] == [], "one channel alone cannot tell what others have brought"


def test_a_pointer_that_is_gone_is_lost(fed):
    pointer = fed.dist / DIRECTORY / "distribution.json"
    kept = pointer.read_bytes()
    pointer.unlink()
    (row,) = fed.status(code=6)
    assert row["generation"] is None and row["lost"]["code"] == "R010" and row["lacks"] == []
    assert "  LOST      " in fed.said(code=6)[0]
    pointer.write_bytes(kept.replace(b'"generation":1', b'"generation":9', 1))
    assert fed.status(code=6)[0]["lost"]["code"] == "R011"
    pointer.write_bytes(kept)
    assert fed.status()[0]["lost"] is None


def test_what_was_never_copied_is_named(fed):
    other = fed.dist.with_name("other")
    other.mkdir()
    at = (*fed.words, "--to-store", f"file:{other}")
    assert quarry("status", *at, "--json").json["distributions"] == [], "the rules name directories that a team may not use"
    done = quarry("status", "stable", *at, "--json")
    (row,) = done.json["distributions"]
    assert done.code == 0 and row["generation"] is None and row["lost"] is None and row["lacks"] == [set_of(fed, "1")]


def test_pages_that_a_killed_run_left_behind(fed):
    (fed.dist / DIRECTORY / "pages.json").unlink()
    (row,) = fed.status()
    assert not row["pages_current"]
    text, (pasted,) = fed.said()
    assert "BEHIND    its pages show an earlier generation" in text
    good(*shlex.split(pasted))
    assert fed.status()[0]["pages_current"]


def test_a_prefix_is_for_one_channel(fed):
    refused("O022", 2, "status", *fed.words, *fed.along, "--prefix", "v2/all")
    refused("O008", 2, "status", "stable", *fed.words, "--prefix", "v2/all")
    refused("P040", 3, "status", "staging", *fed.words, *fed.along, "--distributions", "therock-v5")
    assert fed.status("stable", "--prefix", DIRECTORY)[0]["lacks"] == []


def test_a_waiver_that_was_revoked_is_named_until_the_pages_say_it(fed, report_only_policy):
    place = f"file:{fed.dist}/{DIRECTORY}"
    show = ("channel", "show", place, "--channels", f"file:{fed.store}", "--json")
    page = fed.dist / DIRECTORY / "simple/rocm/index.html"
    (waived,) = good(*show).json["waived"]
    assert not waived["revoked"] and waived["text"] in page.read_text()
    good("waiver", "revoke", waived["waiver"], "--reason", "the machine is back", *fed.words[:2])
    assert good(*show).json["waived"] == [waived | {"revoked": True}]
    assert not good("channel", "show", place, "--json").json["waived"][0]["revoked"], "the store of the channels knows"
    told = good(*show[:-1])
    assert re.search(f"revoked +Not tested: .*{waived['waiver'][:12]}", told.out) and "do not say yet" in told.err, told.out + told.err
    (row,) = fed.status()
    assert row["revoked"] == [{"waiver": waived["waiver"], "text": waived["text"]}]
    text, (pasted,) = fed.said()
    assert f"  REVOKED   since it was copied, and its pages do not say so: {waived['text']}" in text
    before = page.read_text()
    good(*shlex.split(pasted))
    said = f"(waiver {waived['waiver'][:12]}, revoked since)"
    assert said not in before and said in page.read_text()
    (row,) = fed.status()
    assert row["revoked"] == [] and row["generation"] == 2 and fed.said()[1] == []
    assert "do not say yet" not in good(*show[:-1]).err
    # What is known stays known, whatever is shown.
    good("promote", "--from", "run:2", "--to", "stable", *fed.words[:2], *fed.along, "--policy", report_only_policy)
    good("rollback", place)
    good("yank", "rocm-7.2.0.tar.gz", "--channel", place, "--reason", "x")
    good("rollback", place)
    assert said in page.read_text()


def test_a_move_that_nobody_signed_is_named(store, next_packages, tmp_path):
    fed = Fed(store, tmp_path)
    key = tmp_path / "mover.pem"
    public = good("key", "create", "--output", key, "--json").json["key"]
    fed.policy.write_text(smoke_policy(more=f'[[signer]]\nname = "mover"\nkey = "{public}"\nsigns = ["moves"]\n'))
    good("channel", "protect", "stable", "--reason", "x", "--sign", key, *fed.words)
    good("waive", "--to", "stable", "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", *fed.words)
    good("promote", "--from", "run:1", "--to", "stable", "--sign", key, *fed.words, *fed.along)
    assert fed.status()[0]["unsigned_moves"] == []
    view = json.loads((fed.dist / DIRECTORY / "distribution.json").read_text())["view"]
    shutil.rmtree(fed.dist / "signatures" / view)
    (row,) = fed.status(code=6)
    assert [one["code"] for one in row["unsigned_moves"]] == ["O044"]
    text, (pasted,) = fed.said(6)
    assert f"  UNSIGNED  promote of {DIRECTORY}@1 is not signed by mover" in text
    assert "--channels" in pasted
    refused("O044", 6, *shlex.split(pasted))
