"""Debian's ROCm packages, laid out as the artifacts of a run."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

from support.quarry import ROOT


def artifacts() -> Path:
    """Made once; the first call on a machine downloads 700 MB. Several tests may call it at the same time."""
    place = ROOT / "build/downloads/demo"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([ROOT / "tools/demo-artifacts", place, "gfx103X-dgpu"], check=True, stdout=subprocess.DEVNULL)
    return place / "artifacts"


def split_artifacts(into: Path) -> Path:
    """The same artifacts, but for blas, as of a run that is split by GPU target, with the device code of Debian's librocrand."""
    made = artifacts()
    subprocess.run([ROOT / "tools/split-artifacts", made, into, "--without", "blas"], check=True, stdout=subprocess.DEVNULL)
    return into


def library(name: str) -> Path:
    return min(artifacts().rglob(name))
