"""Each rule of docs/rules has a fixture that makes it fire, and one close to it that does not. The table of rules is the program's own: a
new rule fails here until it has both."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.quarry import ROOT, clean_environment, good, quarry  # noqa: E402
from support.rule_fixtures import Make, Pair, UnitPair, all_pairs  # noqa: E402

PAIRS = all_pairs()
COMMAND_PAIRS = sorted(code for code, pair in PAIRS.items() if isinstance(pair, Pair))
UNIT_PAIRS = sorted(code for code, pair in PAIRS.items() if isinstance(pair, UnitPair))


def test_each_rule_has_both(tmp_path):
    good("docs", tmp_path, "--man-dir", tmp_path / "man")
    rules = set(re.findall(r"^\| \[([A-Z]\d{3})\]", (tmp_path / "rules/README.md").read_text(), re.MULTILINE))
    assert len(rules) > 100, "the table of rules was not read"
    missing, unknown = sorted(rules - PAIRS.keys()), sorted(PAIRS.keys() - rules)
    assert not missing, f"add a pair of fixtures to tests/support/rule_fixtures: {missing}"
    assert not unknown, f"not in docs/rules: {unknown}"


def ended(make: Make, place: Path):
    place.mkdir()
    made = make(place)
    with made.beside:
        return quarry(*made.words, cwd=made.cwd, environment=clean_environment(**dict(made.variables)))


@pytest.mark.parametrize("code", COMMAND_PAIRS)
def test_it_fires(code, tmp_path):
    done = ended(PAIRS[code].fires, tmp_path / "fires")
    assert f"[{code}]" in done.err, f"{code} is missing\n{done.out}\n{done.err}"


@pytest.mark.parametrize("code", COMMAND_PAIRS)
def test_it_does_not_fire(code, tmp_path):
    done = ended(PAIRS[code].passes, tmp_path / "passes")
    assert done.code == 0 and f"[{code}]" not in done.err, f"ended with {done.code}\n{done.out}\n{done.err}"


@functools.cache
def chunks(file: str) -> dict[str, str]:
    """Name of a test, or of a row that begins with its name in quotes -> its text."""
    text = (ROOT / file).read_text()
    starts = [*re.finditer(r'^TEST(?:_[FP])?\((\w+), (\w+)\)|\b[A-Z]\w*\{\s*"(\w+)",', text, re.MULTILINE)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    return {(f"{one[1]}.{one[2]}" if one[1] else one[3]): text[one.start() : end] for one, end in zip(starts, ends)}


@pytest.mark.parametrize("code", UNIT_PAIRS)
def test_unit_tests_have_both(code):
    pair = PAIRS[code]
    known = chunks(pair.file)
    assert pair.fires in known and pair.passes in known, f"{pair.file}: {sorted(known)}"
    assert re.search(rf"\b{code}\b", known[pair.fires]), f"{pair.file}: {pair.fires} does not name {code}"
