"""The calls of scripts in TheRock's workflows, as tests/support/incumbent_calls.py reads them, beside what this repository says about them: a call that
the recorded facts, the table of calls or the guide of the drop-ins lack is found here."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import incumbent_calls  # noqa: E402
from support.quarry import ROOT  # noqa: E402

CALLS = [call for call in json.loads((ROOT / "tests/data/incumbent-calls.json").read_text())["calls"] if call["own"]]
FACTS = json.loads((ROOT / "tests/data/incumbent-cli.json").read_text())["scripts"]


@cache
def rows_of_guide() -> dict[str, set[str]]:
    """Drop-in -> the flags that its table names."""
    parts = (ROOT / "docs/guides/drop-in.md").read_text().split("\n## ")[1:]
    cells = {part.split("\n")[0]: [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")] for part in parts}
    return {script: {name for cell in rows for name in re.findall(r"`(--[^`]+)`", cell)} for script, rows in cells.items()}


def test_the_recorded_scripts_are_those_that_are_called():
    """Two readings of the workflows agree: how often each script is called in each file and month."""
    counted = Counter((call["era"], call["script"], call["workflow"]) for call in CALLS)
    recorded = {(fact["era"], fact["name"], workflow): count for fact in FACTS for workflow, count in fact["workflows"].items()}
    assert dict(counted) == recorded


def test_every_call_has_a_row():
    page = (ROOT / "docs/guides/script-calls.md").read_text().split("\n## ")[1]
    rows = {cells[1].strip(): [int(cell.strip() or 0) for cell in cells[2:4]] for cells in (line.split("|") for line in page.splitlines() if line.startswith("| ")) if cells[2].strip().isdigit() or cells[3].strip().isdigit()}
    counted = Counter((call["script"], call["era"]) for call in CALLS)
    assert rows == {script: [counted[script, "feb"], counted[script, "aug"]] for script in {call["script"] for call in CALLS}}


@pytest.mark.parametrize("script", sorted({call["script"] for call in CALLS} & set(rows_of_guide())))
def test_every_flag_of_a_call_is_recorded_and_has_a_fate(script: str):
    recorded = {(fact["era"], name) for fact in FACTS if fact["name"] == script for option in fact["options"] for name in spellings(option)}
    used = {(call["era"], flag) for call in CALLS if call["script"] == script for flag in call["flags"]}
    assert used - recorded == set(), "flags that tests/data/incumbent-cli.json lacks"
    assert {flag for _, flag in used} - rows_of_guide()[script] == set(), "flags without a row in docs/guides/drop-in.md"


def spellings(option: dict) -> list[str]:
    names = option.get("names", [])
    return names + ["--no-" + name[2:] for name in names if name.startswith("--") and "BooleanOptionalAction" in option.get("action", "")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python build_tools/a.py --x 1 \\\n  --y=2", [("a", ["--x", "--y"])]),
        ("# python a.py\n./build_tools/a.py && python3 b.py --z", [("a", []), ("b", ["--z"])]),
        ('"${venv}/bin/python" "${ROOT}/build_tools/a.py" push --run-id 1', [("a", ["--run-id"])]),
        ("python -m pytest tests/a.py -k b.py", [("a", [])]),
        ("version=$(python a.py --v)", [("a", ["--v"])]),
        ("python ${{ github.workspace }}/x/a.py --q", [("a", ["--q"])]),
        ("pip install a.py.whl; echo a.python_version; cat x/a.py", []),
        ("python a.py ^\n  --x", [("a", ["--x"])]),
        ("python a.py `\n  --x", [("a", ["--x"])]),
    ],
)
def test_calls_are_read(text: str, expected: list):
    assert [(script, flags) for script, _, flags in incumbent_calls.calls_in(text)] == expected
