"""`quarry wheel inspect` and auditwheel on wheels of PyPI: the same tag, and the same tag by symbols alone.

The wheels are in tests/data/pypi-wheels.toml; all of them with QUARRY_LONG=1 (docs/campaigns.md)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.clients import client  # noqa: E402
from support.pypi_wheels import Recorded, fetched, recorded  # noqa: E402
from support.quarry import quarry  # noqa: E402

WHEELS = [wheel for wheel in recorded() if wheel.is_for_linux and (wheel.usual or os.environ.get("QUARRY_LONG"))]
USUAL_BYTES_MAX = 60_000_000


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.file)
def test_the_same_verdict(wheel: Recorded):
    path = fetched(wheel)
    # No directory of this machine: a library that happens to be installed here must not count.
    shown = client("auditwheel").run("show", "--json", "--ldpaths", "", path)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    expected = json.loads(shown.stdout)
    inspected = quarry("wheel", "inspect", "--json", path)
    policy = inspected.json["policy"]
    assert (policy["tag"], policy["symbols_tag"]) == (expected["overall_tag"], expected["sym_tag"]), wheel.why


def test_the_usual_run_stays_small():
    assert sum(wheel.size for wheel in recorded() if wheel.usual) <= USUAL_BYTES_MAX
