"""`quarry wheel inspect` and auditwheel on wheels of PyPI: the same tag, and the same tag by symbols alone.

The wheels are in tests/data/pypi-wheels.toml; all of them with QUARRY_LONG=1 (docs/campaigns.md)."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.clients import client  # noqa: E402
from support.pypi_wheels import Recorded, fetched, recorded  # noqa: E402
from support.quarry import ROOT, quarry  # noqa: E402

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


def test_the_bounds_are_those_of_auditwheel():
    """For each policy, machine and family of versions: the newest one that it takes, and "0" where it takes none."""
    policies = json.loads(next(client("auditwheel").bin.parent.glob("lib/python*/site-packages/auditwheel/policy/manylinux-policy.json")).read_text())
    ours = tomllib.loads((ROOT / "data/manylinux.toml").read_text())["policy"]
    number = lambda text: tuple(int(part) for part in text.split("."))  # noqa: E731
    compared = 0
    for policy in policies:
        row = next((one for one in ours if policy["name"] == "manylinux_" + one["glibc"].replace(".", "_")), None)
        for machine in ("x86_64", "aarch64"):
            families = policy["symbol_versions"].get(machine)
            if row is None or families is None or (machine == "aarch64" and "aarch64" not in row):
                continue
            newest = row["newest"] | (row["aarch64"] if machine == "aarch64" else {})
            for family, versions in families.items():
                if family == "GLIBC":  # the name of the policy; some versions of glibc have no symbols of their own
                    continue
                numbers = [one for one in versions if one[0].isdigit()]
                assert newest.get(family) == (max(numbers, key=number) if numbers else "0"), (policy["name"], machine, family)
                compared += 1
    assert compared > 100


def test_the_usual_run_stays_small():
    assert sum(wheel.size for wheel in recorded() if wheel.usual) <= USUAL_BYTES_MAX
