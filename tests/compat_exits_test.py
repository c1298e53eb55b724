"""Exit codes of `quarry compat`, and what it writes, beside what the scripts were seen to do (tests/data/incumbent-exits.json). Each
difference has a line `#exits` in docs/differences.tsv."""

from __future__ import annotations

import fnmatch
import json
import sys
import tempfile
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from support import dist_facts, incumbent_cases  # noqa: E402
from support.quarry import PROGRAM, ROOT, clean_environment  # noqa: E402

FACTS = json.loads((ROOT / "tests/data/incumbent-exits.json").read_text())["rows"]
CALLS = {(script, case): (words, variables) for script, _, case, words, variables in incumbent_cases.CASES}
ALLOWED = dist_facts.read_allowed(ROOT / "docs/differences.tsv", "exits")


@cache
def has_era(script: str) -> bool:
    return "`--era " in (ROOT / f"docs/commands/compat-{script}.md").read_text()


def differences(fact: dict, ours: dict) -> list[str]:
    found = [] if fact["exit"] == ours["exit"] else [f"exit {fact['exit']} -> {ours['exit']}"]
    for verb, one, other in (("lacks", fact, ours), ("adds", ours, fact)):
        found += [f"{verb} {name}" for name in one["files"] if name not in other["files"]]
        for variable, names in one["told"].items():
            there = other["told"].get(variable)
            found += [f"{verb} {variable} {name}" for name in (names or [""]) if there is None or name not in (there or [""])]
    return [f"{fact['era']} {fact['script']}: {fact['case']}: {each.strip()}" for each in found]


def observed(fact: dict) -> dict:
    words, variables = CALLS[fact["script"], fact["case"]]
    first = words[:1] if fact["script"] == "artifact_manager" else []  # the action comes before the flags
    era = ["--era", fact["era"]] if has_era(fact["script"]) else []
    surroundings = clean_environment(AWS_EC2_METADATA_DISABLED="true", NO_PROXY="*")
    with tempfile.TemporaryDirectory() as place:
        return incumbent_cases.observe([PROGRAM, "compat", fact["script"], *first, *era], Path(place), words[len(first) :], variables, surroundings)


def test_calls_end_and_write_as_recorded_or_as_explained():
    unexplained, used = [], set()
    for fact in FACTS:
        ours = observed(fact)
        for each in differences(fact, ours):
            glob = next((glob for _, glob, _ in ALLOWED if fnmatch.fnmatchcase(each, glob)), None)
            used.add(glob)
            if glob is None:
                unexplained.append(f"{each}\n    {ours['error'].strip()[:200]}")
    assert unexplained == [], "differences without a line in docs/differences.tsv"
    assert [glob for _, glob, _ in ALLOWED if glob not in used] == [], "lines of docs/differences.tsv that explain nothing"


def test_every_recorded_case_is_made():
    assert {(fact["script"], fact["case"]) for fact in FACTS} == set(CALLS)


def test_every_drop_in_has_cases():
    pages = {path.stem.removeprefix("compat-") for path in (ROOT / "docs/commands").glob("compat-*.md")}
    assert pages == {script for script, _ in CALLS}
