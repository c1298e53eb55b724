"""Exit codes of `quarry compat`, and what it writes, beside what the scripts were seen to do: tests/data/incumbent-exits.json for calls that need no
network, tests/data/incumbent-network.json for calls that ask GitHub or S3. Each difference has a line `#exits` or `#network` in
docs/differences.tsv."""

from __future__ import annotations

import fnmatch
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import dist_facts, incumbent_cases, incumbent_network  # noqa: E402
from support.quarry import PROGRAM, ROOT, clean_environment  # noqa: E402

TOPICS = ("exits", "network")
FACTS = {topic: json.loads((ROOT / f"tests/data/incumbent-{topic}.json").read_text())["rows"] for topic in TOPICS}
LOCAL = {(script, case): (words, variables) for script, _, case, words, variables in incumbent_cases.CASES}
NETWORK = {(case[0], case[2], era): case for case in incumbent_network.CASES for era in case[1]}


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
    script, call = fact["script"], (fact["script"], fact["case"])
    asked = None if call in LOCAL else NETWORK[*call, fact["era"]]
    words = asked[3] if asked else LOCAL[call][0]
    first = words[:1] if script == "artifact_manager" else []  # the action comes before the flags
    command = [PROGRAM, "compat", script, *first, *(["--era", fact["era"]] if has_era(script) else [])]
    rest = words[len(first) :]
    surroundings = clean_environment(AWS_EC2_METADATA_DISABLED="true", NO_PROXY="*")
    with tempfile.TemporaryDirectory() as place:
        if not asked:
            return incumbent_cases.observe(command, Path(place), rest, LOCAL[call][1], surroundings)
        rest = rest + incumbent_network.OURS.get(script, [])
        return incumbent_network.observe(command, Path(place), rest, asked, surroundings)


@pytest.mark.parametrize("topic", TOPICS)
def test_calls_end_and_write_as_recorded_or_as_explained(topic: str):
    allowed = dist_facts.read_allowed(ROOT / "docs/differences.tsv", topic)
    with ThreadPoolExecutor(4) as pool:  # a call that meets a failing store waits before it tries again
        seen = list(pool.map(observed, FACTS[topic]))
    unexplained, used = [], set()
    for fact, ours in zip(FACTS[topic], seen, strict=True):
        for each in differences(fact, ours):
            glob = next((glob for _, glob, _ in allowed if fnmatch.fnmatchcase(each, glob)), None)
            used.add(glob)
            if glob is None:
                unexplained.append(f"{each}\n    {ours['error'].strip()[:200]}")
    assert unexplained == [], "differences without a line in docs/differences.tsv"
    assert [glob for _, glob, _ in allowed if glob not in used] == [], "lines of docs/differences.tsv that explain nothing"


def test_every_recorded_case_is_made():
    assert {(fact["script"], fact["case"]) for fact in FACTS["exits"]} == set(LOCAL)
    assert {(fact["script"], fact["case"], fact["era"]) for fact in FACTS["network"]} == set(NETWORK)


def test_every_drop_in_has_cases():
    pages = {path.stem.removeprefix("compat-") for path in (ROOT / "docs/commands").glob("compat-*.md")}
    assert pages == {script for script, _ in LOCAL}
