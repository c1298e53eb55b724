"""What a test is, and how many of them run at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase

PASSED, FAILED, SKIPPED, ERROR = "passed", "failed", "skipped", "error"


class Failed(Exception):
    """What was tested is not as it must be."""


class Skipped(Exception):
    """What was to be tested cannot be on this machine; the text is the reason."""


@dataclass(frozen=True)
class Case:
    name: str  # group.subject[.detail]
    check: Callable[[], None]  # returns, or raises Failed or Skipped; anything else is an error


@dataclass(frozen=True)
class Row:
    name: str
    outcome: str
    message: str
    seconds: float


def select(cases: Iterable[Case], patterns: Iterable[str]) -> list[Case]:
    """The cases that a pattern names: exactly, as a group ("core", "core.load"), or as a glob. All without patterns."""
    wanted = list(patterns)
    return [case for case in cases if not wanted or any(_matches(case.name, pattern) for pattern in wanted)]


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or name.startswith(pattern + ".") or fnmatchcase(name, pattern)


def run_all(cases: Iterable[Case], jobs: int) -> Iterator[Row]:
    """The rows in the order of the cases, each as soon as it and those before it are done."""
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        yield from pool.map(run_one, cases)


def run_one(case: Case) -> Row:
    start = time.monotonic()
    outcome, message = PASSED, ""
    try:
        case.check()
    except Skipped as reason:
        outcome, message = SKIPPED, str(reason)
    except (Failed, AssertionError) as failure:
        outcome, message = FAILED, str(failure) or "failed"
    except Exception as error:  # noqa: BLE001 - a test that breaks must not end the others
        outcome, message = ERROR, f"{type(error).__name__}: {error}"
    return Row(case.name, outcome, message, round(time.monotonic() - start, 3))
