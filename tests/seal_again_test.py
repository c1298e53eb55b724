"""Sealing a directory of another tool, taking the seal back, and sealing again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

DIRECTORY = "v21/whl"


@pytest.fixture
def place(tmp_path) -> str:
    """Two wheels, as scripts lay them out."""
    directory = tmp_path / "store" / DIRECTORY
    directory.mkdir(parents=True)
    for name in ("demo-app", "demo-base"):
        distributions.wheel(directory, name, "1.0")
    return f"file:{tmp_path}/store/{DIRECTORY}"


def adopt(place: str, *more: str) -> tuple[str, ...]:
    store, _, _ = place.partition(f"/{DIRECTORY}")
    return ("set", "adopt", DIRECTORY, "--store", store, *more)


def page(place: str) -> str:
    return (Path(place.removeprefix("file:")) / "simple/demo-app/index.html").read_text()


@pytest.fixture
def rolled_back(place) -> str:
    good(*adopt(place))
    sealed = good(*adopt(place, "--seal"), "--json").json["sets"][0]["set"]
    assert "#sha256=" in page(place)
    done = good("rollback", place, "--reason", "it breaks")
    assert "1 set out, 0 back, 2 files blocked" in done.out
    assert "2 of the files that leave stay on the pages, as untested history" in done.out, done.out
    assert "demo_app-1.0-py3-none-any.whl" in page(place) and "#sha256=" not in page(place)
    return sealed


def test_after_a_rollback_a_seal_says_what_is_blocked(place, rolled_back):
    for more in ((), ("--dry-run",)):
        told = refused("R022", 10, *adopt(place, "--seal", *more)).err
        assert "demo_app-1.0-py3-none-any.whl" in told and "demo_base-1.0-py3-none-any.whl" in told, told
        assert f"`quarry channel unblock {place} set:{rolled_back[:12]} --reason TEXT`" in told, told
        assert f"`quarry rollback {place} --to 2`" in told, told
    checked = quarry("index", "check", place)
    assert "I011" in checked.err and "set adopt --seal" in checked.err and "unblock" in checked.err, checked.err


@pytest.mark.parametrize("what", ["set", "files"])
def test_what_is_let_in_again_is_shown_by_the_next_seal(place, rolled_back, what):
    names = [f"set:{rolled_back[:12]}"] if what == "set" else ["demo_app-1.0-py3-none-any.whl", "demo_base-1.0-py3-none-any.whl"]
    good("channel", "unblock", place, *names, "--reason", "it was the machine")
    assert f"would show  set:{rolled_back}  again" in good(*adopt(place, "--seal", "--dry-run")).out
    done = good(*adopt(place, "--seal"), "--reason", "good after all")
    assert f"shown       set:{rolled_back}  again: its files were sealed before" in done.out, done.out
    assert "#sha256=" in page(place)
    moves = good("channel", "log", place, "--json").json["moves"]
    assert [move["action"] for move in moves] == ["adopt", "unblock", "rollback", "adopt", "adopt"] and moves[0]["why"] == "good after all"
    assert "sealed      nothing" in good(*adopt(place, "--seal")).out
    good("channel", "verify", place, "--deep")


def test_the_rollback_that_the_refusal_names_shows_the_set_again(place, rolled_back):
    good("rollback", place, "--to", "2")
    assert "#sha256=" in page(place)
    assert "sealed      nothing" in good(*adopt(place, "--seal")).out


def test_what_is_new_is_sealed_while_other_files_are_blocked(place, rolled_back):
    distributions.wheel(Path(place.removeprefix("file:")), "demo-more", "1.0")
    done = good(*adopt(place, "--seal"))
    assert "sealed      set:" in done.out and "[R022]" in done.err and "channel unblock" in done.err, done.out + done.err
