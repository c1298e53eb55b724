"""For each rule of docs/rules an input that makes it fire, and one close to it that does not (tests/rule_fixtures_test.py runs them)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Words:
    """A command line, and what it needs: a directory to run in, variables, a server that is up meanwhile."""

    words: tuple[str | Path, ...]
    cwd: Path | None = None
    variables: tuple[tuple[str, str], ...] = ()
    beside: AbstractContextManager = nullcontext()


Make = Callable[[Path], Words]


@dataclass(frozen=True)
class Pair:
    """Two makers: each gets an empty directory and returns a command line. `passes` must end with 0 and without the code."""

    fires: Make
    passes: Make


@dataclass(frozen=True)
class UnitPair:
    """The fixtures are in the unit tests: no input of a command reaches the rule, or only with files that change meanwhile.
    `fires` and `passes` name a test or a row of a table; the code stands in `fires`."""

    file: str
    fires: str
    passes: str


def run(*words: str | Path) -> Words:
    return Words(words)


def all_pairs() -> dict[str, Pair | UnitPair]:
    from . import archives, device, layout, machine, metadata, sets, units

    rows: dict[str, Pair | UnitPair] = {}
    for module in (archives, machine, layout, device, metadata, sets, units):
        again = rows.keys() & module.PAIRS.keys()
        assert not again, f"two pairs of fixtures: {sorted(again)}"
        rows |= module.PAIRS
    return rows
