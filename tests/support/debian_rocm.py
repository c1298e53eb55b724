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


def library(name: str) -> Path:
    return min(artifacts().rglob(name))
