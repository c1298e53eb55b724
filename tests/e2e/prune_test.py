"""`channel prune`: the views before the last N are given up; `gc` removes their records in two runs, and what is needed stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import quarry  # noqa: E402

REASON = ("--reason", "a test")
RULES = 'schema = "quarry.retention/1"\nname = "at-once"\ngrace = "24h"\n[[rule]]\nname = "everything"\nkeep = "0s"\n'


class Line:
    def __init__(self, place: Path) -> None:
        self.place, self.store = place, place / "store"
        (place / "rules.toml").write_text(RULES)

    def __call__(self, *words, code: int = 0):
        done = quarry(*words, "--store", f"file:{self.store}", "--json")
        assert done.code == code, done.out + done.err
        return done

    def publish(self, version: int, *more) -> str:
        dist = self.place / str(version)
        dist.mkdir()
        distributions.wheel(dist, "demo", f"{version}.0")
        return self("publish", dist, "--run-id", str(version), "--platform", "linux", "--channel", "nightly", *more).json["set"]

    def prune(self, keep: str, *more, code: int = 0):
        return self("channel", "prune", "nightly", "--keep", keep, *REASON, *more, code=code)

    def shown(self) -> set[str]:
        return {file["filename"].split("-")[1] for file in self("channel", "show", "nightly").json["files"]}

    def views(self) -> set[str]:
        return {path.stem for path in (self.store / "views").glob("*.json")}

    def sweep(self) -> None:
        """Marks, then removes: without a grace time the second run follows at once."""
        self("gc", "--grace", "0s")
        self("gc", "--grace", "0s")

    def leaving(self) -> set[str]:
        """The runs whose packages retention would take away."""
        return {one["directory"].split("-")[0] for one in self("retain", "plan", "--rules", self.place / "rules.toml").json["tombstone"]}


@pytest.fixture
def line(tmp_path) -> Line:
    """Five versions, of which the last two were taken out: they are in no later view."""
    line = Line(tmp_path)
    for version in (1, 2, 3, 4, 5):
        line.publish(version)
    line("rollback", "nightly", "--to", "3", *REASON)
    line.publish(6)
    return line


def test_what_is_given_up_goes_in_two_phases(line):
    assert line.leaving() == set(), "each view that a rollback could go to keeps its packages"
    before = line.views()
    told = line.prune("2", "--dry-run").json
    assert told["views"] == 4 and told["keeps_from"] == 6 and line("channel", "log", "nightly").json["moves"][0]["action"] == "publish"
    assert line.prune("2").json["views"] == 4
    assert line.views() == before, "nothing is removed yet"
    assert line("gc", "--grace", "0s").json["marked"] and line.views() == before, "the first run marks"
    line("gc", "--grace", "0s")
    assert len(line.views()) == 2
    assert line.shown() == {"1.0", "2.0", "3.0", "6.0"}
    line("channel", "verify", "nightly")
    moves = line("channel", "log", "nightly").json["moves"]
    assert [move["action"] for move in moves] == ["prune", "publish", "rollback", *["publish"] * 5], "the moves stay"
    assert line.leaving() == {"4", "5"}, "no view that is kept shows them"
    assert line.prune("2").json["moved"] is False, "once is enough"


def test_a_rollback_goes_to_what_is_kept_alone(line):
    line.prune("2")
    line.sweep()
    behind = line("rollback", "nightly", "--to", "2", code=3).err
    assert "O047" in behind and "pruned at" in behind and "generation 6" in behind
    assert "O047" in line("channel", "diff", "nightly@1", "nightly", code=3).err
    line("rollback", "nightly", *REASON)
    assert line.shown() == {"1.0", "2.0", "3.0"}
    line("rollback", "nightly", "--to", "7", *REASON)
    assert line.shown() == {"1.0", "2.0", "3.0", "6.0"}
    line.publish(7)
    line("channel", "verify", "nightly")


def test_what_protects_the_channel_and_what_a_lock_names_stays(line, tmp_path):
    policy = tmp_path / "own.toml"
    policy.write_text(smoke_policy())
    line("lock", "--from", "run:5", "--python", "3.12", "--keep", "2099-01-01", "--output", tmp_path / "pylock.toml", "--reason", "a customer")
    line("channel", "protect", "nightly", "--policy", policy, *REASON, "--trust-shown")
    protected = line("channel", "show", "nightly").json["view"]
    line("channel", "unprotect", "nightly", *REASON)
    for version in (7, 8, 9):
        line.publish(version)
    line.prune("2")
    line.sweep()
    assert protected in line.views() and len(line.views()) == 3
    assert line.leaving() == {"4"}, "5 is locked"


def test_how_much_to_keep(line):
    for keep in ("1", "0", "-1", "many", "60", "3.5d"):
        if keep != "60":
            assert "O048" in line.prune(keep, code=2).err, keep
    assert line.prune("60").json["moved"] is False and line.prune("60d").json["moved"] is False
    assert "R015" in line("channel", "prune", "none", "--keep", "2", *REASON, code=3).err
