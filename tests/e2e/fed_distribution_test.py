"""A distribution that a protected channel feeds: what was never judged does not get onto its pages."""

from __future__ import annotations

import json
import re
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
