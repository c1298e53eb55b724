"""kill -9 at seeded moments of the moves that guard a channel or take files out of it: the same command run again
completes, and nothing dangles in between.

QUARRY_LONG=1 takes 1000 moments of each instead of the few of an ordinary run; the seed is printed with a failure."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry  # noqa: E402

from conftest import publish  # noqa: E402
from kill_test import SEED, dangling, duration, killed, moments  # noqa: E402

REASON = ("--reason", "a test of moves")


@dataclass
class Move:
    """A store before the move, and the move; `done` are the errors of a command that finds its move made."""

    before: Path
    command: list
    channels: tuple[str, ...] = ()
    done: tuple[str, ...] = ()

    def words(self, place: Path) -> list:
        return [str(word).replace("PLACE", str(place)) for word in self.command] + ["--store", f"file:{place / 'store'}"]


def channels_of(store: Path, names: tuple[str, ...]) -> list:
    """What channels show, block and are bound to; not when."""
    shown = [good("channel", "show", name, "--store", f"file:{store}", "--json").json for name in names]
    return [{key: one[key] for key in ("files", "sets", "blocked", "policy", "generation", "view")} for one in shown]


def check(move: Move, tmp_path: Path) -> None:
    reference = tmp_path / "reference"
    shutil.copytree(move.before, reference / "store")
    seconds = duration(move.words(reference))
    expected = channels_of(reference / "store", move.channels)
    for i, moment in enumerate(moments(seconds)):
        here, place = f"seed {SEED} moment {i}", tmp_path / "place"
        shutil.copytree(move.before, place / "store")
        killed(move.words(place), moment)
        assert not dangling(place / "store"), here
        again = quarry(*move.words(place))
        assert again.code == 0 or any(f"error[{code}]" in again.err for code in move.done), f"{here}: {again.out}{again.err}"
        if again.code:
            good("index", "repair", f"channel:{move.channels[0]}", "--store", f"file:{place / 'store'}")
        assert channels_of(place / "store", move.channels) == expected, here
        assert not dangling(place / "store"), here
        for channel in move.channels:
            good("channel", "verify", channel, "--store", f"file:{place / 'store'}")
        shutil.rmtree(place)


@pytest.fixture
def store_of(packages, next_packages, tmp_path):
    """A store with runs 1 and 2 in `staging`, and what is done to it before the move."""

    def made(*commands) -> Path:
        store = tmp_path / "before"
        publish(packages, store, "1", "--channel", "staging")
        publish(next_packages, store, "2", "--channel", "staging")
        for words in commands:
            good(*words, "--store", f"file:{store}")
        return store

    return made


@pytest.fixture
def policy(tmp_path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(smoke_policy())
    return path


def test_protect(store_of, policy, tmp_path):
    check(Move(store_of(), ["channel", "protect", "staging", "--policy", policy, *REASON], ("staging",)), tmp_path)


def test_unprotect(store_of, policy, tmp_path):
    before = store_of(("channel", "protect", "staging", "--policy", policy, *REASON))
    check(Move(before, ["channel", "unprotect", "staging", *REASON], ("staging",)), tmp_path)


def set_of(store: Path, run: str) -> str:
    listed = good("set", "list", "--store", f"file:{store}", "--json").json["sets"]
    return "set:" + next(one["set"] for one in listed if one["run_id"] == run)


def test_unblock(store_of, tmp_path):
    before = store_of(("rollback", "staging", *REASON))
    check(Move(before, ["channel", "unblock", "staging", set_of(before, "2"), *REASON], ("staging",), ("O013",)), tmp_path)


def test_yank(store_of, tmp_path):
    before = store_of()
    check(Move(before, ["yank", set_of(before, "1"), "--channel", "staging", *REASON], ("staging",), ("O024",)), tmp_path)
