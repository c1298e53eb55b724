"""What an ordinary run takes of tests that ask one question in many forms. QUARRY_LONG=1, which `./check --full` sets, takes all."""

from __future__ import annotations

import itertools
import os

import pytest

LONG = bool(os.environ.get("QUARRY_LONG"))
long = pytest.mark.skipif(not LONG, reason="a long form: with QUARRY_LONG=1")


def each_once(*lists, shift: int = 0) -> list[tuple]:
    """Every value of every list at least once, in place of every combination. `shift` moves the last list, for other pairs."""
    if LONG:
        return list(itertools.product(*lists))
    *first, last = lists
    turned = [last[(i + shift) % len(last)] for i in range(len(last))]
    return [tuple(values[i % len(values)] for values in (*first, turned)) for i in range(max(map(len, lists)))]
