"""Virtual environments without a pip of their own, which takes three seconds to put in; pip works on them from outside.

    make(place)                              the interpreter alone
    pip(place, "install", …)                 the newest pip, with no setting of this machine
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .clients import client


def make(place: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    return place


def pip(place: Path, *words: str | Path, **options) -> subprocess.CompletedProcess:
    return client("pip-newest").run("--python", place / "bin/python", *words, **options)


def pip_install(place: Path, *words: str | Path, **options) -> None:
    """Must end with 0."""
    ended = pip(place, "install", "-q", *words, **options)
    assert ended.returncode == 0, f"pip install {words}\n{ended.stdout}{ended.stderr}"
