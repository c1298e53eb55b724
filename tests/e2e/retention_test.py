"""Old packages that nothing names: taken away, brought back, removed; and what stays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

from conftest import publish  # noqa: E402


@pytest.fixture
def line(store, next_packages, rules):
    """Run 1 is in `staging`; run 2 is in no channel."""
    publish(next_packages, store, "2")

    def run(*words, code: int = 0):
        more = ("--rules", rules) if words[:2] in (("retain", "plan"), ("retain", "apply")) else ()
        done = quarry(*words, *more, "--store", f"file:{store}", "--json")
        assert done.code == code, done.out + done.err
        return done

    return run


def files_of(store: Path, run: str) -> set[str]:
    return {path.name for path in (store / f"{run}-linux/python/{small_artifacts.FAMILY}/dist").iterdir()}


def let_the_grace_pass(store: Path) -> None:
    """Only the store's clock and this time decide."""
    (record,) = store.glob("2-linux/**/retired/*.json")
    said = json.loads(record.read_text())
    record.write_text(json.dumps(said | {"until": "2020-01-01T00:00:00.000000Z"}, sort_keys=True, separators=(",", ":")))


def test_what_nothing_names_leaves_in_two_phases(line, store):
    plan = line("retain", "plan").json
    (leaving,) = plan["tombstone"]
    assert leaving["directory"].startswith("2-linux/") and leaving["rule"] == "everything"
    (kept,) = plan["kept"]
    assert kept["why"] == "channel staging names it"
    before = files_of(store, "2")
    refused("O011", 7, "retain", "apply", "--execute", "0" * 64, "--store", f"file:{store}")
    applied = line("retain", "apply", "--execute", plan["plan"]).json
    assert applied["tombstoned"][0]["set"] == leaving["set"] and applied["bytes_removed"] == 0
    assert files_of(store, "2") == before
    lost = quarry("set", "show", f"set:{leaving['set']}", "--store", f"file:{store}")
    assert lost.code == 3 and "R013" in lost.err and "quarry retain undo" in lost.err
    assert ".whl" not in (store / f"2-linux/python/{small_artifacts.FAMILY}/index.html").read_text()
    assert line("retain", "apply").json["purged"] == [], "the grace is not over"
    let_the_grace_pass(store)
    assert line("retain", "apply").json["purged"][0]["set"] == leaving["set"]
    assert files_of(store, "2") == set()
    assert (store / f"sets/{leaving['set']}.json").exists(), "the record stays"
    line("set", "verify", "channel:staging")
    late = quarry("retain", "undo", f"set:{leaving['set']}", "--store", f"file:{store}")
    assert late.code == 3 and "O202" in late.err


def test_undo_brings_everything_back(line, store, next_packages, tmp_path):
    page = store / f"2-linux/python/{small_artifacts.FAMILY}/index.html"
    before = page.read_text()
    plan = line("retain", "apply").json
    blocked = quarry("publish", next_packages, "--store", f"file:{store}", "--run-id", "2", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    assert blocked.code == 10 and "P116" in blocked.err
    for source in ("run:2", f"run:2-linux@{small_artifacts.FAMILY}", f"set:{plan['tombstoned'][0]['set']}"):
        said = refused("R013", 3, "venv", "install", tmp_path / "env", "--from", source, "--packages", "rocm", "--store", f"file:{store}").err
        assert "retention retired" in said and "quarry retain undo" in said and "quarry publish" not in said, said
    assert line("gc", "--grace", "0s").json["marked"] == []
    (restored,) = line("retain", "undo", plan["plan"], "--reason", "still compared").json["restored"]
    assert restored["set"] == plan["tombstoned"][0]["set"]
    assert page.read_text() == before
    good("set", "verify", f"set:{restored['set']}", "--store", f"file:{store}")
    publish(next_packages, store, "2")


def test_the_shipped_rules_keep_releases(store):
    plan = good("retain", "plan", "--store", f"file:{store}", "--json").json
    assert plan["rules"] == "default" and plan["tombstone"] == [] and plan["not_old_enough"] == 1


def test_rules_with_an_error_are_refused(line, store, rules):
    rules.write_text(rules.read_text().replace('"24h"', '"1h"'))
    done = line("retain", "plan", code=2)
    assert "O200" in done.err and "rules.toml:4" in done.err
