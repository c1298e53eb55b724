"""`quarry support`: the page of what works where, from the families, a recipe and the results in a store."""

from __future__ import annotations

import html.parser
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, refused  # noqa: E402


@pytest.fixture(scope="module")
def tested(packages, tmp_path_factory) -> Path:
    """A store whose channel shows a tested set of one family, and an untested one of another version."""
    root = tmp_path_factory.mktemp("support")
    store = root / "store"
    words = ("--store", f"file:{store}", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--channel", "stable")
    good("publish", packages, "--run-id", "1", *words)
    good("venv", "install", *BY_UV, root / "env", "--from", "run:1", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    good("test", "--venv", root / "env", "--from", "run:1", "--store", f"file:{store}")
    return store


def page(store: Path, *more: str):
    return good("support", "--channel", "stable", "--store", f"file:{store}", "--policy", "demo", *more)


def about(done, family: str) -> list[dict]:
    return [row for row in done.json["rows"] if row["family"].lower() == family.lower()]


def test_what_was_tested_is_a_row_with_its_day(tested):
    done = page(tested, "--json")
    assert done.json["schema"] == "quarry.support/1" and done.json["channel"] == "stable"
    (row,) = about(done, small_artifacts.FAMILY)
    assert (row["project"], row["version"], row["platform"], row["python"], row["state"]) == ("rocm", "7.2.0", "linux", ">=3.10", "tested")
    assert row["note"][:2] == "20" and len(row["note"]) == 10
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert row["tested_on"] == python and f"{row['note']}; Python {python}" in page(tested).out
    assert {(row["state"], row["tested_on"]) for row in about(done, "gfx94X-dcgpu")} == {("not released", None)}
    assert f"| rocm | 7.2.0 | linux | {small_artifacts.FAMILY} | >=3.10 | tested: 20" in page(tested).out.replace("\\<", "<")


def test_a_version_that_nobody_tested(tested, next_packages, tmp_path):
    import shutil

    store = tmp_path / "store"
    shutil.copytree(tested, store)
    good("publish", next_packages, "--run-id", "2", "--store", f"file:{store}", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--channel", "stable")
    newest, before = about(page(store, "--json"), small_artifacts.FAMILY)
    assert (newest["version"], newest["state"]) == ("7.2.1", "not tested") and newest["note"]
    assert (before["version"], before["state"]) == ("7.2.0", "tested")


def test_a_result_without_a_gpu_says_so(tested, tmp_path):
    """The machine that runs these tests has none; a result of one that has does not say it."""
    import json

    told = "no GPU was present (backend cpu)"
    (row,) = about(page(tested, "--json"), small_artifacts.FAMILY)
    assert row["without_gpu"] == told and {row["without_gpu"] for row in about(page(tested, "--json"), "gfx94X-dcgpu")} == {None}
    assert f"tested: {row['note']}; Python {row['tested_on']}; {told} |" in page(tested).out and f"tested: {row['note']}; Python {row['tested_on']}; {told}\n" in page(tested, "--format", "html").out
    evidence = next(path for path in (tested / "evidence").glob("**/*.json") if "log" not in path.parts)
    assert json.loads(evidence.read_text())["machine"]["gpu"] == "none"


class Cells(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def test_the_html_page_says_the_same(tested, tmp_path):
    page(tested, "--format", "html", "--output", tmp_path / "support.html")
    cells = Cells()
    cells.feed((tmp_path / "support.html").read_text())
    rows = page(tested, "--json").json["rows"]
    assert cells.rows[0] == ["project", "version", "OS", "GPU family", "Python", "state"]
    assert [(row[0], row[2], row[3]) for row in cells.rows[1:]] == [(row["project"], row["platform"], row["family"]) for row in rows]
    assert page(tested, "--format", "html").out == (tmp_path / "support.html").read_text()


def test_without_a_channel_it_says_what_is_built():
    done = good("support", "--json", environment=clean_environment())
    families = {row["family"] for row in done.json["rows"]}
    assert {"gfx94X-dcgpu", "gfx1151"} <= families and {row["version"] for row in done.json["rows"]} == {None}
    assert {row["state"] for row in done.json["rows"]} == {"built and tested", "built, not tested"}
    assert [row for row in done.json["rows"] if row["family"] == "gfx94X-dcgpu"] == [{"project": "rocm", "version": None, "platform": "linux", "family": "gfx94X-dcgpu", "python": ">=3.10", "state": "built and tested", "note": "", "tested_on": None, "without_gpu": None}]


def test_what_is_refused(tested):
    refused("Q006", 2, "support", "--channel", "stable", environment=clean_environment())
    refused("R015", 3, "support", "--channel", "nightly", "--store", f"file:{tested}")
    assert (ROOT / "docs/commands/support.md").exists()
