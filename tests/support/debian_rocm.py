"""Debian's ROCm packages, laid out as the artifacts of a run."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from support.quarry import ROOT


TOOL = ROOT / "tools/demo-artifacts"


def _state_of(made: Path) -> str:
    """Changes with the tool, and whenever somebody makes the directory again."""
    if not made.is_dir():
        return ""
    status = made.stat()
    return f"{hashlib.sha256(TOOL.read_bytes()).hexdigest()} {status.st_ino} {status.st_mtime_ns}"


def artifacts() -> Path:
    """Made once; the first call on a machine downloads 700 MB. Several tests may call it at the same time: what one of them reads is
    not made again."""
    place = ROOT / "build/downloads/demo"
    place.mkdir(parents=True, exist_ok=True)
    made, note = place / "artifacts", place / ".made"
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists() or note.read_text() != _state_of(made):
            subprocess.run([TOOL, place, "gfx103X-dgpu"], check=True, stdout=subprocess.DEVNULL)
            note.write_text(_state_of(made))
    return made


def split_artifacts(into: Path, beside: Path | None = None) -> Path:
    """The same artifacts, but for blas, as of a run that is split by GPU target, with the device code of Debian's librocrand. `beside`: a
    directory with more artifacts of the family, which is filled."""
    made = artifacts()
    if beside:
        for each in made.iterdir():
            if each.is_dir():
                shutil.copytree(each, beside / each.name, symlinks=True, copy_function=os.link)
        made = beside
    subprocess.run([ROOT / "tools/split-artifacts", made, into, "--without", "blas"], check=True, stdout=subprocess.DEVNULL)
    return into


def library(name: str) -> Path:
    return min(artifacts().rglob(name))
